"""What was found in each session, kept so that only new and changed sessions are analysed.

The calls of each session in short, so that patterns are counted in all of them in seconds; what it says of rules; what
it teaches. In a team a row names its maker. What another member wrote in it is a stranger's word, and of one's own
sessions only what one made oneself is read.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from whet.ledger.patches import digest
from whet.lessons.claim_evidence import SessionCalls, calls_of
from whet.lessons.condensed import distrusted as doubted
from whet.lessons.finding import SessionTeaching, teaching_of
from whet.lessons.following import RuleFinding
from whet.lessons.record import distrusted
from whet.sessions.copies import own_part
from whet.sessions.transcripts import Usage
from whet.sessions.trust import Trust
from whet.shipped.kinds import known_troubles
from whet.store import derived
from whet.store.database import CannotWrite, Database
from whet.store.derived import FINDING, KEPT, TEACHING, Derived, code_version, own_name, whose
from whet.store.rows import Session, ask_for_all, blob, decoded_or_none
from whet.store.sessions import is_own
from whet.store.side_by_side import Progress, StoredTranscript, go_through
from whet.store.troubles import (
    FoundTrouble,
    ProjectChecks,
    keep_trouble,
    project_checks,
    trouble_found,
    trouble_of_session,
    with_other_checks,
)
from whet.trouble.course import Break
from whet.trouble.finding import gather_own
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.view import Analysis, ModelUse, analysis_of_view, gather
from whet.trouble.values import TroubleKind
from whet.values import Value

FOUND = (Derived.ANALYSIS, Derived.SHORT, Derived.TROUBLE)
COUNTED = (Outcome.FAILED, Outcome.OK, Outcome.REJECTED)  # in the order of a ToolFact


class ToolFact(Value, frozen=True, array_like=True, gc=False):
    """How often a session called one tool, and how the calls ended."""

    tool: str
    calls: int
    failed: int
    ok: int = 0
    rejected: int = 0


class AnalysisInShort(Value, frozen=True, array_like=True, gc=False):
    """What was found in a session, without the places where it was found."""

    copied: bool  # nothing in it is its own
    tools: tuple[ToolFact, ...]
    cache_written: int = 0
    cache_written_hour: int = 0
    copied_messages: int = 0
    copied_usage: Usage = Usage()
    others: tuple[ModelUse, ...] = ()


def in_short(analysis: Analysis) -> AnalysisInShort:
    """What counts need of an analysis."""
    ended: dict[str, list[Outcome]] = {}
    for exchange in analysis.exchanges:
        ended.setdefault(exchange.tool, []).append(exchange.outcome)
    return AnalysisInShort(
        copied=analysis.copied.whole,
        tools=tuple(ToolFact(tool, len(each), *map(each.count, COUNTED)) for tool, each in ended.items()),
        cache_written=analysis.cache_written,
        cache_written_hour=analysis.cache_written_hour,
        copied_messages=analysis.copied.messages,
        copied_usage=analysis.copied.usage,
        others=analysis.others,
    )


def refresh(database: Database, *, progress: Progress, processors: int | None = None) -> int:
    """Analyse every session that is new, has grown or was analysed by an older version; how many there were."""
    waiting = derived.waiting(database, FOUND, analyses_version())
    if not waiting:
        return 0

    def keep(session: Session, found: FoundInSession | None) -> None:
        if found is not None:
            _keep(database, session, found)

    checks = project_checks(database)
    go_through(database, waiting, partial(_analyse, checks), keep, progress=progress, processors=processors)
    _find_again(database, checks, progress)
    return len(waiting)


def _find_again(database: Database, before: ProjectChecks, progress: Progress) -> None:
    """Go once more through sessions in which a command failed that is known for a check only now."""
    checks = project_checks(database)
    if checks == before:
        return

    def keep(session: Session, found: FoundTrouble | None) -> None:
        if found is not None:
            keep_trouble(database, session, found, version=analyses_version())

    again = [session for session in with_other_checks(database, checks) if is_own(database, session)]
    go_through(database, again, partial(_find_trouble, checks, {}), keep, progress=progress)


def note_breaks(database: Database, sessions: Iterable[Session], breaks: Mapping[str, Sequence[Break]]) -> None:
    """Find the trouble of sessions once more that broke rules they were told, where it does not tell of that yet."""

    def keep(session: Session, found: FoundTrouble | None) -> None:
        if found is not None:
            keep_trouble(database, session, found, version=analyses_version())

    waiting = [each for each in sessions if not _tells_of(database, each, breaks[each.id])]
    if waiting:
        work = partial(_find_trouble, project_checks(database), breaks)
        with contextlib.suppress(CannotWrite):
            go_through(database, waiting, work, keep, progress=lambda _: None, processors=1)


def _tells_of(database: Database, session: Session, breaks: Sequence[Break]) -> bool:
    """Whether so many broken rules are told of already; what is not analysed yet is not gone through either."""
    kept = trouble_of_session(database, session)
    if kept is None:
        return True
    told = {trouble.cause for trouble in kept.troubles if trouble.kind == TroubleKind.TOLD}
    return len(told) >= len({each.rule for each in breaks})


class FoundInSession(NamedTuple):
    """All that is kept of a session."""

    analysis: Analysis
    trouble: FoundTrouble


def analyses_version() -> str:
    """The version of what is kept of a session: another one where other packages add kinds."""
    added = [f"{row.name} {row.version}" for row in known_troubles()]
    return digest("\n".join((code_version(*FINDING), *sorted(added))))


def _analyse(checks: ProjectChecks, stored: StoredTranscript) -> FoundInSession:
    transcript = stored.decoded()
    own = gather_own(transcript, stored.copied)
    analysis = analysis_of_view(own.view, transcript, copied=stored.copied)
    return FoundInSession(analysis, trouble_found(own, checks, stored.judged))


def _find_trouble(
    checks: ProjectChecks, breaks: Mapping[str, Sequence[Break]], stored: StoredTranscript
) -> FoundTrouble:
    transcript = stored.decoded()
    return trouble_found(gather_own(transcript, stored.copied), checks, stored.judged, breaks.get(transcript.id, ()))


def is_behind(database: Database) -> bool:
    """Whether a session is not analysed as it is now."""
    return derived.is_any_waiting(database, FOUND, analyses_version())


def analysis_of(database: Database, session: Session) -> Analysis | None:
    return derived.value(database, Derived.ANALYSIS, session, Analysis)


def _keep(database: Database, session: Session, found: FoundInSession) -> None:
    analysis, version = found.analysis, analyses_version()
    if session.facts.run_key:  # a session of our own never counted what it took over
        analysis = replace(analysis, copied=replace(analysis.copied, usage=Usage()))
    derived.keep(database, Derived.ANALYSIS, session, analysis, version=version)
    derived.keep(database, Derived.SHORT, session, in_short(analysis), version=version)
    keep_trouble(database, session, found.trouble, version=version)


def session_calls(
    database: Database,
    sessions: Sequence[Session],
    *,
    progress: Progress = lambda _: None,
    processors: int | None = None,
) -> dict[str, SessionCalls]:
    """The calls of these sessions by their ids, in their order; of those that are new or have grown found and kept."""
    version = code_version(*TEACHING)
    known = derived.current(database, Derived.CALLS, sessions, SessionCalls, version=version)

    def keep(session: Session, found: SessionCalls | None) -> None:
        known[session.no] = found or SessionCalls()
        derived.keep(database, Derived.CALLS, session, known[session.no], version=version)

    if waiting := [session for session in sessions if session.no not in known]:
        with contextlib.suppress(CannotWrite):
            go_through(database, waiting, _found_calls, keep, progress=progress, processors=processors)
    return {session.id: known[session.no] for session in sessions if session.no in known}


def _found_calls(stored: StoredTranscript) -> SessionCalls:
    return calls_of(gather(own_part(stored.decoded(), stored.copied)))


def kept_findings(database: Database, sessions: Sequence[Session]) -> dict[int, dict[str, RuleFinding]]:
    """What is kept of these sessions, by a key of all that it depends on; nothing of one that was written to since."""
    return derived.current(database, Derived.FINDINGS, sessions, dict[str, RuleFinding], version="")


def keep_findings(database: Database, found: Iterable[tuple[Session, dict[str, RuleFinding]]]) -> None:
    """Keep all that is known of these sessions."""
    fresh = list(found)
    if fresh:
        with derived.keeping(database):
            for session, findings in fresh:
                derived.keep(database, Derived.FINDINGS, session, findings, version="")


Taught = TypeVar("Taught")
TAUGHT_AT_ONCE = 50
MARK = "\x1f"  # which no path and no name of a repository has


def row_of_source(project: str, source: str) -> str:
    """Under which name what a source other than the sessions' own teachings finds in a project is kept."""
    return f"{project}{MARK}{source}"


def kept_lessons(database: Database, project: str, key: str, kind: type[Taught]) -> Taught | None:
    """What is kept of a project, if it was made from just this."""
    rows = database.query(
        "SELECT record FROM derived WHERE kind = ? AND session = 0 AND name = ? AND maker = ? AND version = ?",
        (Derived.LESSONS.value, _row_of(database, project), own_name(database), key),
    )
    return decoded_or_none(rows[0][0], kind) if rows else None


def all_kept_lessons(database: Database, kind: type[Taught]) -> tuple[Taught, ...]:
    """What is kept of every project, as it was when it was last looked at."""
    found = (decoded_or_none(record, kind) for _, record in _all_lessons(database))
    return tuple(each for each in found if each is not None)


def keep_lessons(database: Database, project: str, key: str, sessions: Iterable[int], lessons: object) -> None:
    """Keep what these sessions teach; nothing where one of them was forgotten meanwhile."""
    numbers = tuple(sessions)
    named = f" {' '.join(map(str, numbers))} "
    with derived.keeping(database):
        if len(list(ask_for_all(database, "SELECT no FROM sessions WHERE no IN", numbers))) < len(numbers):
            return
        database.execute(
            "INSERT INTO derived (kind, session, name, version, made_from, record) VALUES (?, 0, ?, ?, ?, ?)"
            " ON CONFLICT (kind, session, name) DO UPDATE SET version = excluded.version,"
            " made_from = excluded.made_from, record = excluded.record",
            (Derived.LESSONS.value, _row_of(database, project), key, named.encode(), msgspec.json.encode(lessons)),
        )


def drop_other_lessons(database: Database, projects: Iterable[str]) -> None:
    """Remove what is kept of projects that are not among these; what belongs to none stays."""
    known = {"", *projects}
    gone = [name for name, _ in _all_lessons(database) if name.partition(MARK)[0] not in known]
    if gone:
        with derived.keeping(database):
            database.many(
                "DELETE FROM derived WHERE kind = ? AND session = 0 AND name = ?",
                [(Derived.LESSONS.value, name) for name in gone],
            )


def _all_lessons(database: Database) -> list[tuple[str, object]]:
    return [
        (name, record)
        for name, record in database.query(
            "SELECT name, record FROM derived WHERE kind = ? AND session = 0 AND maker = ? ORDER BY name",
            (Derived.LESSONS.value, own_name(database)),
        )
    ]


def _row_of(database: Database, project: str) -> str:
    """Under which name the lessons of a project stand: of each member their own."""
    member = own_name(database)
    return f"{project}{MARK}{member}" if member else project


def keep_teachings(database: Database, *, progress: Progress = lambda _: None, processors: int | None = None) -> int:
    """Find what every session teaches that is new, has grown or was read by an older version; how many there were."""
    version = code_version(*TEACHING)
    waiting = derived.waiting(database, (Derived.TEACHING,), version, without_own_work=True)

    def keep(session: Session, found: SessionTeaching | None) -> None:
        # What nobody can read teaches nothing.
        derived.keep(database, Derived.TEACHING, session, found or SessionTeaching(), version=version)

    go_through(database, waiting, _taught, keep, progress=progress, processors=processors)
    return len(waiting)


def _taught(stored: StoredTranscript) -> SessionTeaching:
    teaching = teaching_of(own_part(stored.decoded(), stored.copied))
    return teaching if stored.is_believed else _distrusted(teaching)


def kept_teachings(database: Database, sessions: list[Session]) -> Iterator[tuple[Session, SessionTeaching]]:
    """What is kept of these sessions; nothing of one that nobody has read yet."""
    for start in range(0, len(sessions), TAUGHT_AT_ONCE):
        batch = sessions[start : start + TAUGHT_AT_ONCE]
        found: dict[int, object] = dict(derived.kept(database, Derived.TEACHING, batch))
        for session in batch:
            teaching = decoded_or_none(found.get(session.no, b"{}"), SessionTeaching) or SessionTeaching()
            yield session, _named(teaching if is_own(database, session) else _distrusted(teaching), session.maker)


def teaching_stamps(database: Database) -> dict[int, tuple[bytes, str, str]]:
    """What tells the kept teaching of each session from any other: the head and version it was made of, its maker."""
    sql = f"SELECT s.no, d.made_from, d.version, d.maker {KEPT}"
    rows = database.query(sql, whose(database, Derived.TEACHING))
    return {int(session): (blob(head), version, maker) for session, head, version, maker in rows}


def _distrusted(teaching: SessionTeaching) -> SessionTeaching:
    """What another member wrote: all of it is a stranger's."""
    changed = tuple(replace(each, trust=Trust.EXTERNAL) for each in teaching.changes.changed)
    return replace(
        teaching,
        pieces=distrusted(teaching.pieces),
        changes=replace(teaching.changes, changed=changed),
        condensed=None if teaching.condensed is None else doubted(teaching.condensed),
    )


def _named(teaching: SessionTeaching, maker: str) -> SessionTeaching:
    """With the name of the member whose session it is, where there is a team."""
    if not maker:
        return teaching
    condensed = None if teaching.condensed is None else replace(teaching.condensed, who=maker)
    return replace(teaching, pieces=tuple(replace(piece, who=maker) for piece in teaching.pieces), condensed=condensed)
