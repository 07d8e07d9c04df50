"""Many analysed sessions in one value: what fails, where and at what cost. Read once, kept as counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from whet.failures.analysis import Analysis
from whet.failures.kinds import KINDS, KindTable
from whet.failures.lessons import RecurringFailure, distill
from whet.failures.signals import SHOWN
from whet.outcomes.deciding import Outcome

MAY_HAVE_FAILED = 0.5
WORST_KEPT = 5


class JudgedSession(NamedTuple):
    """An analysed session with what it cost."""

    analysis: Analysis
    title: str
    tokens: int
    at: float
    is_own: bool = True  # whether this member wrote the session, and what was found in it


@dataclass(slots=True)
class SessionGroup:
    """Sessions that have something in common: an agent, a model, a tool or a week."""

    name: str
    sessions: int = 0
    failed_sessions: int = 0
    untold_sessions: int = 0  # those whose record cannot tell
    calls: int = 0
    failed_calls: int = 0
    tokens: int = 0
    failed_tokens: int = 0

    def add(self, judged: JudgedSession, *, calls: int, failed_calls: int) -> None:
        """Count a session with so many of its calls."""
        failed = has_failed(judged.analysis)
        self.sessions += 1
        self.failed_sessions += failed
        self.untold_sessions += judged.analysis.cannot_tell
        self.calls += calls
        self.failed_calls += failed_calls
        self.tokens += judged.tokens
        self.failed_tokens += judged.tokens if failed else 0


class Worst(NamedTuple):
    """One of the sessions with the worst signs among those that may have failed."""

    score: float
    session: str
    title: str
    reasons: tuple[str, ...]
    decisive_step: int | None
    decisive_confidence: float


@dataclass(slots=True)
class Summary:
    """What many sessions have in common, by agent, model, tool and week."""

    total: SessionGroup = field(default_factory=lambda: SessionGroup("all"))
    agents: dict[str, SessionGroup] = field(default_factory=dict)
    models: dict[str, SessionGroup] = field(default_factory=dict)
    tools: dict[str, SessionGroup] = field(default_factory=dict)
    weeks: dict[str, SessionGroup] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)  # sessions in which each kind of signal was seen
    worst: list[Worst] = field(default_factory=list)
    first: float | None = None
    last: float | None = None

    def add(self, judged: JudgedSession) -> None:
        analysis = judged.analysis
        calls = Counter(exchange.tool for exchange in analysis.exchanges)
        failed = Counter(exchange.tool for exchange in analysis.exchanges if exchange.outcome is Outcome.FAILED)
        all_calls, all_failed = len(analysis.exchanges), failed.total()
        self.total.add(judged, calls=all_calls, failed_calls=all_failed)
        for groups, name in (
            (self.agents, analysis.source),
            (self.models, analysis.model),
            (self.weeks, week(judged.at)),
        ):
            group = groups.setdefault(name or "unknown", SessionGroup(name or "unknown"))
            group.add(judged, calls=all_calls, failed_calls=all_failed)
        for tool, number in calls.items():
            self.tools.setdefault(tool, SessionGroup(tool)).add(judged, calls=number, failed_calls=failed[tool])
        for kind in sorted({signal.kind for signal in analysis.signals if signal.confidence >= SHOWN}):
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.first = judged.at if self.first is None else min(self.first, judged.at)
        self.last = judged.at if self.last is None else max(self.last, judged.at)
        is_worse = len(self.worst) < WORST_KEPT or analysis.failure_score > self.worst[-1].score
        if is_worse and has_failed(analysis):
            self._keep_among_worst(judged)

    def _keep_among_worst(self, judged: JudgedSession) -> None:
        found = judged.analysis
        worst = Worst(
            found.failure_score,
            found.session,
            judged.title,
            found.reasons,
            found.decisive_step,
            found.decisive_confidence,
        )
        self.worst = sorted([*self.worst, worst], key=lambda one: -one.score)[:WORST_KEPT]


def summarise(
    sessions: Iterable[JudgedSession], kinds: KindTable = KINDS
) -> tuple[Summary, tuple[RecurringFailure, ...]]:
    """The summary and the lessons of many sessions, in one pass over them."""
    summary = Summary()

    def seen() -> Iterator[Analysis]:
        for judged in sessions:
            summary.add(judged)
            yield judged.analysis

    return summary, distill(seen(), kinds)


def has_failed(analysis: Analysis) -> bool:
    """Whether a session may have failed: a high score, and a bad sign besides length, which may be its task's."""
    return analysis.failure_score >= MAY_HAVE_FAILED and bool(analysis.weighed.reasons)


def week(at: float) -> str:
    """The week of a moment, as 2026-W07."""
    year, number, _ = datetime.fromtimestamp(at, UTC).isocalendar()
    return f"{year}-W{number:02}"


def ranked(groups: dict[str, SessionGroup], key: Callable[[SessionGroup], float], limit: int) -> list[SessionGroup]:
    """The groups with the most of something, most first."""
    return sorted(groups.values(), key=lambda group: (-key(group), group.name))[:limit]
