"""The passes of a reader: a project's sessions that nobody has read yet, the oldest first, and what each pass shows.

The sceptic: claims that code let stand are read once more, with the messages themselves, and kept or dropped.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.lessons.claims import (
    MOST_LETTERS,
    ClaimOperation,
    SessionRead,
    StandingClaim,
    fold_claims,
)
from whet.lessons.condensed import CondensedSession, EventKind
from whet.lessons.condensing import shown
from whet.lessons.project_index import index_text, project_index
from whet.lessons.rungs import CallCounts
from whet.reading.answers import SCEPTICS, ClaimsRead, Shown, read_answer, short_ids
from whet.reading.checking import DoubtedClaim, checked_claims, dossiers
from whet.reading.project_files import ProjectFiles, project_claims, project_files, refused_rules
from whet.reading.readers import ReaderQuestion
from whet.shipped.guidance import READING
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
AT_ONCE = 10  # claims that a sceptic sees
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
        return beside + estimate(READING.text("reader", self.own, limit=str(MOST_LETTERS)))


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
    own = guidance_texts(home, READING.name)
    READING.expect_sound(own)
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
    order = READING.text("pass", reading.own, body=marked, mark=mark, number=str(number), passes=str(passes))
    known = frozenset(each.claim.id for each in reading.claims)
    seen = Shown(reading.project, ids, known, people={each.session.id: each.people for each in sessions})
    return PassQuestion(ReaderQuestion(READING.text("reader", reading.own, limit=str(MOST_LETTERS)), order), seen)


def _claims_text(claims: Sequence[StandingClaim]) -> str:
    """The claims so far, those of most sessions first, as many as there is room for."""
    ranked = sorted(claims, key=lambda each: -each.sessions)
    lines: list[str] = []
    left = CLAIMS_TOKENS
    for each in ranked:
        claim = each.claim
        line = f"{claim.id} ({each.sessions} sessions): {claim.rule}"
        if claim.situation:
            line += f" [{cut(claim.situation, SITUATION_LETTERS)}]"
        left -= estimate(line)
        if left < 0:
            break
        lines.append(visible(" ".join(line.split())))
    return "\n".join(lines)


def doubtful(home: Home, database: Database, project: str, sessions: Sequence[Session]) -> tuple[DoubtedClaim, ...]:
    """The first claims that held and that no sceptic has looked at since their words became what they are."""
    given = project_claims(database, project, sessions, refused=refused_rules(home, database))
    open_ = [each for each in checked_claims(database, given).reports if not each.standing.is_doubted][:AT_ONCE]
    return dossiers(database, open_, sessions)


def question_of_doubts(home: Home, project: str, doubted: Sequence[DoubtedClaim]) -> PassQuestion:
    """What a sceptic is asked about these claims."""
    own = guidance_texts(home, READING.name)
    READING.expect_sound(own)
    parts = [visible(_text(each)) for each in doubted]
    mark = mark_for(parts)
    body = "\n\n".join(
        quoted(f"claim {each.report.standing.claim.id}", text, mark=mark)
        for each, text in zip(doubted, parts, strict=True)
    )
    order = READING.text("doubts", own, body=body, mark=mark, claims=str(len(parts)))
    known = frozenset(each.report.standing.claim.id for each in doubted)
    return PassQuestion(
        ReaderQuestion(READING.text("sceptic", own, limit=str(MOST_LETTERS)), order),
        Shown(project, {}, known, SCEPTICS),
    )


def doubts_of(text: str, shown: Shown) -> ClaimsRead:
    """What a sceptic answered: what stands, in the same or better words, and what does not.

    Of two answers about one claim the first counts.
    """
    answer = read_answer(text, shown)
    first = {claim.id: claim for claim in reversed(answer.claims)}
    return ClaimsRead(tuple(first.values()), answer.dropped)


def refused_in(doubts: ClaimsRead) -> int:
    """How many claims a sceptic does not let stand."""
    return sum(each.operation is ClaimOperation.RETIRE for each in doubts.claims)


def _text(doubted: DoubtedClaim) -> str:
    """A claim with what was found out about it, a fact a line, then the messages."""
    report = doubted.report
    claim, found = report.standing.claim, report.measures
    counts = found.counts or CallCounts()
    lines = [
        f"id: {claim.id}",
        f"rule: {claim.rule}",
        f"situation: {claim.situation}",
        f"source: {claim.source}, carrier: {claim.carrier}, scope: {claim.scope}",
        f"seen in {len(report.sessions)} sessions; the least trusted words that it rests on are of trust"
        f" {report.trust.label}",
    ]
    if claim.check is not None:
        pattern = msgspec.json.encode(claim.check).decode()
        lines.append(f"pattern: {pattern}")
        counted = f"what it calls wrong failed {counts.failed} of {counts.seen} times"
        lines.append(f"{counted}; what it recommends worked {counts.worked} of {counts.tried} times")
    if found.goes_back:
        lines.append(f"to put right: {found.goes_back}")
    if found.missing:
        lines.append(f"nowhere in the repository: {', '.join(found.missing)}")
    if report.told:
        lines.append(f"a file says already: {report.told.path}: {report.told.line}")
    lines += [f"hit: {msgspec.json.encode(hit).decode()}" for hit in report.hits]
    return "\n".join((*lines, *doubted.messages))
