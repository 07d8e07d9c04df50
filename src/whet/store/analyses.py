"""What was found in each session, kept so that only new and changed sessions are analysed."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.outcomes.analysis import Analysis, ModelUse, analysis_of_view, version_of
from whet.outcomes.deciding import Outcome
from whet.sessions.transcripts import Usage
from whet.shipped.kinds import known_troubles
from whet.store.database import Database
from whet.store.decoding import decoded_or_none
from whet.store.rows import SESSION_COLUMNS, Session, session_of
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
from whet.trouble.finding import TROUBLE_VERSION, gather_own
from whet.trouble.values import TroubleKind
from whet.values import Value

AT_A_TIME = 200


class ToolFact(Value, frozen=True, array_like=True, gc=False):
    """How often a session called one tool, and how many of the calls failed."""

    tool: str
    calls: int
    failed: int


class AnalysisInShort(Value, frozen=True, array_like=True, gc=False):
    """What was found in a session, without the places where it was found."""

    copied: bool  # nothing in it is its own
    tools: tuple[ToolFact, ...]
    cache_written: int = 0
    cache_written_hour: int = 0
    copied_messages: int = 0
    copied_usage: Usage = Usage()
    others: tuple[ModelUse, ...] = ()


class ShortRow(NamedTuple):
    """An analysis in short as it is kept."""

    session: int
    record: bytes


def in_short(analysis: Analysis) -> AnalysisInShort:
    """What counts need of an analysis."""
    tools: dict[str, list[int]] = {}
    for exchange in analysis.exchanges:
        counts = tools.setdefault(exchange.tool, [0, 0])
        counts[0] += 1
        counts[1] += exchange.outcome is Outcome.FAILED
    return AnalysisInShort(
        copied=analysis.copied.whole,
        tools=tuple(ToolFact(tool, calls, failed) for tool, (calls, failed) in tools.items()),
        cache_written=analysis.cache_written,
        cache_written_hour=analysis.cache_written_hour,
        copied_messages=analysis.copied.messages,
        copied_usage=analysis.copied.usage,
        others=analysis.others,
    )


def keep_in_short(database: Database, session: int, analysis: Analysis) -> None:
    """Keep it beside its analysis, with which it goes."""
    _insert(database, [ShortRow(session, msgspec.json.encode(in_short(analysis)))])


def shorten(database: Database) -> int:
    """Put beside every analysis what an earlier version did not keep; how many there were."""
    missing = [session for (session,) in database.query(MISSING)]
    for start in range(0, len(missing), AT_A_TIME):
        numbers = missing[start : start + AT_A_TIME]
        places = ", ".join("?" * len(numbers))
        rows = database.query(f"SELECT session, record FROM analyses WHERE session IN ({places})", numbers)
        read = [(session, decoded_or_none(record, Analysis)) for session, record in rows]
        with database.writing():
            _insert(database, [ShortRow(no, msgspec.json.encode(in_short(found))) for no, found in read if found])
    return len(missing)


def _insert(database: Database, rows: Iterable[ShortRow]) -> None:
    database.many(
        "INSERT INTO analyses_in_short (session, record) SELECT session, ? FROM analyses WHERE session = ?"
        " ON CONFLICT (session) DO UPDATE SET record = excluded.record",
        [(record, session) for session, record in rows],
    )


MISSING = """
    SELECT a.session FROM analyses AS a LEFT JOIN analyses_in_short AS i ON i.session = a.session
    WHERE i.session IS NULL ORDER BY a.session
"""


def refresh(database: Database, *, progress: Progress, processors: int | None = None) -> int:
    """Analyse every session that is new, has grown or was analysed by an older version; how many there were."""
    waiting = [session_of(row) for row in database.query(WAITING, (analyses_version(), *[database.member] * 2))]
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
            keep_trouble(database, session.no, found)

    again = [session for session in with_other_checks(database, checks) if is_own(database, session)]
    go_through(database, again, partial(_find_trouble, checks, {}), keep, progress=progress)


def note_breaks(database: Database, sessions: Iterable[Session], breaks: Mapping[str, Sequence[Break]]) -> None:
    """Find the trouble of sessions once more that broke rules they were told, where it does not tell of that yet."""

    def keep(session: Session, found: FoundTrouble | None) -> None:
        if found is not None:
            keep_trouble(database, session.no, found)

    waiting = [each for each in sessions if not _tells_of(database, each, breaks[each.id])]
    if waiting:
        work = partial(_find_trouble, project_checks(database), breaks)
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


def analyses_version() -> int:
    """The version of what is kept of a session: another one where other packages add kinds."""
    return version_of(f"trouble {TROUBLE_VERSION}", *(f"{row.name} {row.version}" for row in known_troubles()))


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
    """Whether a session is not analysed as it is now, or its analysis is not kept in short."""
    return bool(database.query(BEHIND, (analyses_version(), *[database.member] * 2)))


def analysis_of(database: Database, session: Session) -> Analysis | None:
    rows = database.query("SELECT record FROM analyses WHERE session = ?", (session.no,))
    return decoded_or_none(rows[0][0], Analysis) if rows else None


def _keep(database: Database, session: Session, found: FoundInSession) -> None:
    analysis = found.analysis
    if session.facts.run_key:  # a session of our own never counted what it took over
        analysis = replace(analysis, copied=replace(analysis.copied, usage=Usage()))
    database.execute("DELETE FROM analyses WHERE session = ?", (session.no,))
    # A session that was forgotten meanwhile is not there to be analysed.
    database.execute(
        "INSERT INTO analyses (session, head, version, record, shared)"
        " SELECT no, ?, ?, ?, ? FROM sessions WHERE no = ?",
        (session.head, analyses_version(), msgspec.json.encode(analysis), session.base_count, session.no),
    )
    database.many(
        "INSERT INTO call_counts (session, tool, calls, ok, failed, rejected)"
        " SELECT session, ?, ?, ?, ?, ? FROM analyses WHERE session = ?",
        [(tool, *counts, session.no) for tool, counts in _counts(analysis).items()],
    )
    keep_in_short(database, session.no, analysis)
    keep_trouble(database, session.no, found.trouble)


def _counts(analysis: Analysis) -> dict[str, tuple[int, int, int, int]]:
    """For each tool: calls, and how many of them were ok, failed and rejected; a mere copy has none of its own."""
    counts: dict[str, tuple[int, int, int, int]] = {}
    for exchange in () if analysis.copied.whole else analysis.exchanges:
        calls, ok, failed, rejected = counts.get(exchange.tool, (0, 0, 0, 0))
        counts[exchange.tool] = (
            calls + 1,
            ok + (exchange.outcome is Outcome.OK),
            failed + (exchange.outcome is Outcome.FAILED),
            rejected + (exchange.outcome is Outcome.REJECTED),
        )
    return counts


IS_WAITING = """a.session IS NULL OR a.version <> ? OR a.head <> s.head OR a.shared <> s.base_count
    OR (s.maker IN ('', ?) AND a.maker NOT IN ('', ?))"""
WAITING = f"""
    SELECT {", ".join(f"s.{column.strip()}" for column in SESSION_COLUMNS.split(","))}
    FROM sessions AS s LEFT JOIN analyses AS a ON a.session = s.no WHERE {IS_WAITING} ORDER BY s.no
"""
BEHIND = f"""
    SELECT 1 FROM sessions AS s LEFT JOIN analyses AS a ON a.session = s.no
    LEFT JOIN analyses_in_short AS i ON i.session = s.no WHERE {IS_WAITING} OR i.session IS NULL LIMIT 1
"""
