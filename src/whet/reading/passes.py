"""The passes of a reader: a project's sessions that nobody has read yet, the oldest first, and what each pass shows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.claims import SessionRead, StandingClaim, fold_claims
from whet.lessons.condensed import CondensedSession, EventKind
from whet.lessons.condensing import shown
from whet.lessons.project_index import index_text, project_index
from whet.reading.answers import Shown, short_ids
from whet.reading.project_files import ProjectFiles, project_files
from whet.reading.readers import ReaderQuestion
from whet.shipped.guidance import reading as words
from whet.store.claims import claims_of, sessions_read
from whet.store.database import Database
from whet.store.files import guidance_texts
from whet.store.home import Home
from whet.store.rows import Session
from whet.store.teachings import keep_teachings, kept_teachings
from whet.text.quoting import mark_for, quoted, shortened, visible
from whet.text.words import cut, estimate
from whet.trouble.values import JudgedMessages

PASS_TOKENS = 25_000
LEAST_TOKENS = 5_000  # for sessions, however much else there is to show
FILES_TOKENS, INDEX_TOKENS, CLAIMS_TOKENS = 6_000, 2_500, 4_000
SITUATION_LETTERS = 100
ANSWER_TOKENS = 2_000  # of one pass, as measured


class UnreadSession(NamedTuple):
    """A session, or what it grew since it was read: its head, how many messages it has now, and its condensed form."""

    session: Session
    text: str
    people: tuple[int, ...] = ()  # the messages of people in that form

    def read(self, judged: JudgedMessages | None = None) -> SessionRead:
        """What is remembered once it was read."""
        return SessionRead(self.session.id, self.session.head, self.session.message_count, judged)


class ProjectReading(NamedTuple):
    """What a reader is shown of a project beside sessions, and which of those nobody has read."""

    project: str
    files: ProjectFiles  # where the project is, as far as its sessions tell
    unread: tuple[UnreadSession, ...]
    is_first: bool  # nobody has read any of it yet
    recurring: str = ""  # the index of what recurs
    told: str = ""
    claims: tuple[StandingClaim, ...] = ()
    own: Mapping[str, str] = {}

    @property
    def overhead(self) -> int:
        """About how many tokens a pass has beside its sessions."""
        beside = estimate(self.recurring) + estimate(self.told) + min(CLAIMS_TOKENS, 60 * len(self.claims))
        return beside + estimate(words.reader(self.own))


def gather(home: Home, database: Database, project: str, sessions: Sequence[Session]) -> ProjectReading:
    """What there is to read of a project, from these sessions of it."""
    keep_teachings(database, processors=1)
    done = sessions_read(database, project)
    condensed: list[CondensedSession] = []
    unread: list[UnreadSession] = []
    for session, teaching in kept_teachings(database, list(sessions)):
        made = teaching.condensed
        if made is not None and made.events:
            condensed.append(made)
        since = done[session.id].messages if session.id in done else 0
        if since < session.message_count:
            unread.append(_unread(session, made, since))
    files = project_files(next((each.folder for each in reversed(sessions) if each.folder), ""))
    own = guidance_texts(home, words.TEXTS.name)
    words.TEXTS.expect_sound(own)
    return ProjectReading(
        project,
        files,
        tuple(unread),
        not done,
        shortened(index_text(project_index(condensed)), INDEX_TOKENS).text,
        _told(files),
        fold_claims(claims_of(database, project)).claims,
        own,
    )


def _unread(session: Session, made: CondensedSession | None, since: int) -> UnreadSession:
    """What a reader sees of a session from a message on; nothing where nothing happened."""
    events = tuple(event for event in made.events if event.message >= since) if made is not None else ()
    if made is None or not events:
        return UnreadSession(session, "")
    people = dict.fromkeys(event.message for event in events if event.kind in (EventKind.PERSON, EventKind.UNSURE))
    return UnreadSession(session, shown(replace(made, events=events)), tuple(people))


def _told(files: ProjectFiles) -> str:
    """What the project's files and skills tell agents, each with its name, as much as there is room for."""
    told = [(path, visible(text)) for path, text in files.told if text.strip()]
    sizes = sorted(estimate(text) for _, text in told)
    room, left = FILES_TOKENS, FILES_TOKENS
    for place, size in enumerate(sizes):  # what short files leave is there for the long ones
        room = left // (len(sizes) - place)
        left -= min(size, room)
    return "\n\n".join(f"# {path}\n{shortened(text, room).text}" for path, text in told)


def cut_passes(
    reading: ProjectReading, sessions: Iterable[UnreadSession], *, tokens: int = PASS_TOKENS
) -> tuple[tuple[UnreadSession, ...], ...]:
    """The sessions in passes of so many tokens, each of which has room for what it shows beside them."""
    room = max(tokens - reading.overhead, LEAST_TOKENS)
    passes: list[list[UnreadSession]] = []
    left = 0
    for each in sessions:
        tokens = estimate(each.text)
        if not passes or tokens > left:
            passes.append([])
            left = room
        passes[-1].append(each)
        left -= tokens
    return tuple(tuple(each) for each in passes)


class PassQuestion(NamedTuple):
    """What a reader is asked in one pass, and what it may speak of."""

    question: ReaderQuestion
    shown: Shown


def question_of(
    reading: ProjectReading, sessions: Sequence[UnreadSession], *, number: int, passes: int
) -> PassQuestion:
    """The question for one pass; everything in it that others wrote stands between marks."""
    ids = short_ids([each.session.id for each in sessions])
    by_id = {id: short for short, id in ids.items()}
    body = "\n\n".join(each.text.replace(each.session.id, by_id[each.session.id], 1) for each in sessions if each.text)
    claims = _claims_text(reading.claims)
    parts = {
        "what the project tells its agents": reading.told
        or "(no such file was found here: nothing is known of what they are told)",
        "what recurs in all sessions of the project": reading.recurring or "(nothing)",
        "the claims so far": claims or "(none)",
        "the sessions": visible(body),
    }
    mark = mark_for(parts.values())
    marked = "\n\n".join(quoted(name, text, mark=mark) for name, text in parts.items())
    order = words.pass_order(marked, reading.own, mark=mark, number=number, passes=passes)
    known = frozenset(each.claim.id for each in reading.claims)
    seen = Shown(reading.project, ids, known, people={each.session.id: each.people for each in sessions})
    return PassQuestion(ReaderQuestion(words.reader(reading.own), order), seen)


def _claims_text(claims: Sequence[StandingClaim]) -> str:
    """The claims so far, those of most sessions first, as many as there is room for."""
    ranked = sorted(claims, key=lambda each: -_sessions(each))
    lines: list[str] = []
    left = CLAIMS_TOKENS
    for each in ranked:
        claim = each.claim
        line = f"{claim.id} ({_sessions(each)} sessions): {claim.rule}"
        if claim.situation:
            line += f" [{cut(claim.situation, SITUATION_LETTERS)}]"
        left -= estimate(line)
        if left < 0:
            break
        lines.append(visible(" ".join(line.split())))
    return "\n".join(lines)


def _sessions(standing: StandingClaim) -> int:
    return len({quote.session for quote in standing.claim.quotes})
