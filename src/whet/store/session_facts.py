"""What is counted of each analysed session, in a few words: read once, and again only for what has changed."""

from collections.abc import Iterable, Mapping

from whet.failures.analysis import Analysis
from whet.failures.signals import SHOWN
from whet.failures.summaries import LIKELY_FAILED
from whet.outcomes.deciding import Outcome
from whet.sessions.transcripts import Purpose
from whet.store.analyses import analysis_of
from whet.store.database import Database
from whet.store.rows import SESSION_COLUMNS, Session, session_of
from whet.values import Value

PAGE = 200


class ToolFact(Value, frozen=True):
    """How often a session called one tool, and how many of the calls failed."""

    tool: str
    calls: int
    failed: int


class SessionFact(Value, frozen=True):
    """One session as counts need it; `stamp` changes with what it was made from."""

    no: int
    stamp: str
    id: str
    title: str
    source: str
    model: str
    folder: str
    purpose: str
    at: float
    tokens: int
    cost_dollars: float | None
    score: float
    failed: bool
    untold: bool  # the record cannot tell
    copied: bool  # nothing in it is its own
    reasons: tuple[str, ...]
    decisive_step: int | None
    kinds: tuple[str, ...]
    tools: tuple[ToolFact, ...]

    @property
    def calls(self) -> int:
        return sum(tool.calls for tool in self.tools)

    @property
    def failed_calls(self) -> int:
        return sum(tool.failed for tool in self.tools)

    @property
    def counts(self) -> bool:
        """Whether it is a person's work: no attempt of a trial, and no mere copy of another."""
        return not self.copied and self.purpose != Purpose.TRIAL.value


def state_of_sessions(database: Database) -> str:
    """What changes when any session or analysis does, by one quick question to the database."""
    return "/".join(str(value) for value in database.query(STATE)[0])


def read_facts(database: Database, known: Mapping[int, SessionFact]) -> dict[int, SessionFact]:
    """The facts of every analysed session; those that are known and unchanged are not read again."""
    stamps = {int(no): _stamp(*rest) for no, *rest in database.query(STAMPS)}
    facts = {no: known[no] for no, stamp in stamps.items() if no in known and known[no].stamp == stamp}
    missing = [no for no in stamps if no not in facts]
    for start in range(0, len(missing), PAGE):
        for session in _sessions(database, missing[start : start + PAGE]):
            analysis = analysis_of(database, session)
            if analysis is not None:
                facts[session.no] = _fact(session, analysis, stamps[session.no])
    return facts


def _sessions(database: Database, numbers: list[int]) -> Iterable[Session]:
    places = ", ".join("?" * len(numbers))
    rows = database.query(f"SELECT {SESSION_COLUMNS} FROM sessions WHERE no IN ({places}) ORDER BY no", numbers)
    return (session_of(row) for row in rows)


def _fact(session: Session, analysis: Analysis, stamp: str) -> SessionFact:
    tools: dict[str, list[int]] = {}
    for exchange in analysis.exchanges:
        counts = tools.setdefault(exchange.tool, [0, 0])
        counts[0] += 1
        counts[1] += exchange.outcome is Outcome.FAILED
    return SessionFact(
        no=session.no,
        stamp=stamp,
        id=session.id,
        title=session.title,
        source=session.source,
        model=session.model,
        folder=session.folder,
        purpose=session.purpose,
        at=session.dated,
        tokens=session.input_tokens + session.output_tokens - analysis.copied.tokens,
        cost_dollars=session.cost_dollars,
        score=analysis.failure_score,
        failed=analysis.failure_score >= LIKELY_FAILED and not analysis.cannot_tell,
        untold=analysis.cannot_tell,
        copied=analysis.copied.whole,
        reasons=analysis.reasons,
        decisive_step=analysis.decisive_step,
        kinds=tuple(sorted({signal.kind.value for signal in analysis.signals if signal.confidence >= SHOWN})),
        tools=tuple(ToolFact(tool, calls, failed) for tool, (calls, failed) in tools.items()),
    )


def _stamp(head: bytes, version: int, score: float, longer: float, title: str) -> str:
    return f"{bytes(head).hex()}/{version}/{score}/{longer}/{title}"


STATE = """
    SELECT (SELECT count(*) FROM sessions), (SELECT coalesce(sum(message_count), 0) FROM sessions),
        count(*), coalesce(max(session), 0), coalesce(sum(failure_score), 0), coalesce(sum(version), 0) FROM analyses
"""
STAMPS = """
    SELECT s.no, a.head, a.version, a.failure_score, a.longer, s.title
    FROM analyses AS a JOIN sessions AS s ON s.no = a.session ORDER BY s.no
"""
