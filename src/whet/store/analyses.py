"""What was found in each session, kept so that only new and changed sessions are analysed."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.failures.analysis import Analysis, ModelUse, analysis_of_view, version_of
from whet.failures.score import Weights, failure_of
from whet.failures.usual import Circle, Size, beyond, usual_by_circle
from whet.outcomes.deciding import Outcome
from whet.sessions.transcripts import Purpose, Usage
from whet.shipped.kinds import known_troubles
from whet.store.database import Database, Row
from whet.store.decoding import decoded_or_none
from whet.store.listing import Filters, conditions
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
PAGE = 500
PAGE_BYTES = 16 << 20
LEAST_CHANGE = 0.005


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


class ComparedRow(NamedTuple):
    """What is needed of a session to compare it with others."""

    session: int
    source: str
    order_digest: str
    folder: str
    model: str
    whole: int
    said: int
    weighed: float
    failure_score: float
    longer: float

    @property
    def circle(self) -> Circle:
        return Circle(self.source, self.order_digest, self.folder, self.model)

    @property
    def size(self) -> Size:
        return Size(self.whole, self.said)


def refresh(
    database: Database,
    weights: Weights,
    *,
    progress: Progress,
    processors: int | None = None,
) -> int:
    """Analyse every session that is new, has grown or was analysed by an older version; how many there were."""
    waiting = [session_of(row) for row in database.query(WAITING, (analyses_version(), *[database.member] * 2))]
    if not waiting:
        return 0

    def keep(session: Session, found: FoundInSession | None) -> None:
        if found is not None:
            _keep(database, session, found)

    checks = project_checks(database)
    work = partial(_analyse, weights, checks)
    go_through(database, waiting, work, keep, progress=progress, processors=processors)
    _find_again(database, checks, progress)
    _compare(database, weights)
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


def _analyse(weights: Weights, checks: ProjectChecks, stored: StoredTranscript) -> FoundInSession:
    transcript = stored.decoded()
    own = gather_own(transcript, stored.copied)
    analysis = analysis_of_view(own.view, transcript, weights, copied=stored.copied)
    return FoundInSession(analysis, trouble_found(own, checks))


def _find_trouble(
    checks: ProjectChecks, breaks: Mapping[str, Sequence[Break]], stored: StoredTranscript
) -> FoundTrouble:
    transcript = stored.decoded()
    return trouble_found(gather_own(transcript, stored.copied), checks, breaks.get(transcript.id, ()))


def is_behind(database: Database) -> bool:
    """Whether a session is not analysed as it is now, or its analysis is not kept in short."""
    return bool(database.query(BEHIND, (analyses_version(), *[database.member] * 2)))


def _compare(database: Database, weights: Weights) -> None:
    """Score every session among the others of its kind: what is usual there changes with the new ones."""
    rows = [ComparedRow(*row) for row in database.query(COMPARED, (analyses_version(),))]
    usual = usual_by_circle((row.circle, row.size) for row in rows)
    changed: list[tuple[float, float, int]] = []
    for row in rows:
        more = beyond(row.size, row.circle, usual)
        score = round(failure_of(row.weighed, weights, more), 4)
        if abs(score - row.failure_score) >= LEAST_CHANGE or abs(max(more) - row.longer) >= LEAST_CHANGE:
            changed.append((score, max(more), row.session))
    if changed:
        with database.writing():
            database.many("UPDATE analyses SET failure_score = ?, longer = ? WHERE session = ?", changed)


class JudgedSession(NamedTuple):
    """An analysed session with what it cost."""

    analysis: Analysis
    title: str
    tokens: int
    at: float
    is_own: bool = True  # whether this member wrote the session, and what was found in it


def judged(database: Database, filters: Filters, *, page_bytes: int = PAGE_BYTES) -> Iterator[JudgedSession]:
    """The kept analyses of all sessions that match, with what each session cost, so much of them at a time.

    A session that is nothing but a copy of another is not among them, and what one copied is not counted again.
    Attempts of trials and reviews are not the person's work: they are among them only where they are asked for.
    """
    where, parameters = conditions(filters._replace(without_own_work=True))
    found = f"FROM analyses AS a JOIN sessions AS s ON s.no = a.session WHERE {where} AND s.no > ?"
    last = -1
    while sizes := database.query(
        f"SELECT s.no, length(a.record) {found} ORDER BY s.no LIMIT ?", (*parameters, last, PAGE)
    ):
        until = _within(sizes, page_bytes)
        rows = database.query(
            "SELECT a.record, a.failure_score, s.title, s.input_tokens + s.output_tokens, s.dated,"
            f" s.maker, a.maker {found} AND s.no <= ? ORDER BY s.no",
            (*parameters, last, until),
        )
        last = until
        for record, score, title, tokens, dated, *makers in rows:
            is_own = database.dialect == "sqlite" or {*makers} <= {"", database.member}
            analysis = _read(record, score)
            if analysis is not None and not analysis.copied.whole:
                yield JudgedSession(analysis, title, tokens - analysis.copied.tokens, dated, is_own)


def _within(sizes: Sequence[Row], page_bytes: int) -> int:
    """The last of these sessions whose analyses fit in memory together; always one at least."""
    sums = itertools.accumulate(size for _, size in sizes)
    fitting = sum(total <= page_bytes for total in sums)
    return int(sizes[max(fitting, 1) - 1][0])


def analysis_of(database: Database, session: Session) -> Analysis | None:
    rows = database.query("SELECT record, failure_score FROM analyses WHERE session = ?", (session.no,))
    return _read(*rows[0]) if rows else None


def _read(record: object, score: float) -> Analysis | None:
    """A kept analysis with its score among the sessions that are known now; None for what nobody can read."""
    analysis = decoded_or_none(record, Analysis)
    return replace(analysis, failure_score=score) if analysis else None


def _keep(database: Database, session: Session, found: FoundInSession) -> None:
    analysis = found.analysis
    if session.facts.run_key:  # a session of our own never counted what it took over
        analysis = replace(analysis, copied=replace(analysis.copied, usage=Usage()))
    database.execute("DELETE FROM analyses WHERE session = ?", (session.no,))
    # A session that was forgotten meanwhile is not there to be analysed.
    database.execute(
        "INSERT INTO analyses"
        " (session, head, version, failure_score, record, weighed, order_digest, whole, said, shared)"
        " SELECT no, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE no = ?",
        (
            session.head,
            analyses_version(),
            analysis.failure_score,
            msgspec.json.encode(analysis),
            analysis.weighed,
            analysis.circle.order,
            analysis.size.whole,
            analysis.size.said,
            session.base_count,
            session.no,
        ),
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


COMPARED = f"""
    SELECT a.session, s.source, a.order_digest, s.folder, s.model, a.whole, a.said, a.weighed, a.failure_score, a.longer
    FROM analyses AS a JOIN sessions AS s ON s.no = a.session
    WHERE a.version = ? AND s.purpose <> '{Purpose.TRIAL.value}' AND a.whole > 0
"""
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
