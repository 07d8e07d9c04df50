"""Everything that Whet finds in one session, as one value."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.failures.detectors import detect
from whet.failures.score import Weighed, Weights, failure_of, open_question, weigh
from whet.failures.signals import Kind, Signal
from whet.failures.usual import Circle, Size, Usual, beyond, circle_of, size_of
from whet.failures.view import SessionView, gather
from whet.outcomes.deciding import OUTCOMES_VERSION, Outcome
from whet.sessions.activity import Activity, classify
from whet.sessions.transcripts import Transcript
from whet.values import Value

# Raised whenever an analysis may differ from an earlier one, so that cached ones are made again.
ANALYSIS_VERSION = 1000 * OUTCOMES_VERSION + 4


class ExchangeOutcome(Value, frozen=True):
    """How one call ended, and what decided it."""

    call_id: str
    tool: str
    outcome: Outcome
    evidence: str


class Analysis(Value, frozen=True):
    """What was found in a session, with the facts that lessons count by.

    >>> import whet
    >>> session, _ = whet.read("examples/sessions/openai")
    >>> found = whet.analyse(session)
    >>> found.failure_score > 0.5, found.calls["failed"], found.decisive_step
    (True, 3, 2)
    """

    session: str
    failure_score: float
    reasons: tuple[str, ...]
    activity: Activity
    exchanges: tuple[ExchangeOutcome, ...]
    signals: tuple[Signal, ...]
    decisive_step: int | None = None
    decisive_reason: str = ""
    source: str = ""
    model: str = ""
    at: float | None = None
    weighed: Weighed = Weighed(0.0)
    size: Size = Size()
    circle: Circle = Circle("", "", "", "")

    @property
    def calls(self) -> dict[str, int]:
        """The number of calls of each outcome."""
        counts = {outcome.value: 0 for outcome in Outcome}
        for exchange in self.exchanges:
            counts[exchange.outcome.value] += 1
        return counts

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(exchange.tool for exchange in self.exchanges)


class Turning(NamedTuple):
    """The message after which the session seems lost, and why."""

    message: int
    reason: str


def analyse(transcript: Transcript, weights: Weights, *, ignore_flags: bool = False) -> Analysis:
    """Decide every exchange, detect every signal and score the session."""
    evidence = gather(transcript, ignore_flags=ignore_flags)
    signals = detect(evidence)
    weighed = weigh(evidence, weights)
    failure = failure_of(weighed, weights)
    turning = decisive_step(evidence, signals)
    return Analysis(
        session=transcript.id,
        failure_score=round(failure.value, 4),
        reasons=failure.reasons,
        activity=classify(step.exchange for step in evidence.steps),
        exchanges=tuple(
            ExchangeOutcome(step.exchange.call.id, step.tool, step.decision.outcome, step.decision.evidence)
            for step in evidence.steps
        ),
        signals=signals,
        decisive_step=turning.message if turning is not None else None,
        decisive_reason=turning.reason if turning is not None else "",
        source=transcript.source,
        model=transcript.model,
        at=transcript.started,
        weighed=weighed,
        size=size_of(evidence.transcript),
        circle=circle_of(evidence.transcript),
    )


def compared(analysis: Analysis, weights: Weights, usual: Mapping[Circle, Usual]) -> Analysis:
    """The analysis with the score that the session has among others of its kind."""
    more = beyond(analysis.size, analysis.circle, usual)
    failure = failure_of(analysis.weighed, weights, more)
    return replace(analysis, failure_score=round(failure.value, 4), reasons=failure.reasons)


def decisive_step(evidence: SessionView, signals: tuple[Signal, ...]) -> Turning | None:
    """The earliest message after which the session was lost, as far as its record tells; None when it was not."""
    candidates: list[Turning] = []
    if evidence.trailing_failures:
        first = evidence.trailing_failures[0]
        candidates.append(Turning(first.exchange.asked, "the first of the failures that nothing recovered from"))
    by_kind = {signal.kind: signal for signal in reversed(signals) if signal.confidence >= 0.5}
    if (loop := by_kind.get(Kind.RETRY_LOOP)) is not None:
        candidates.append(Turning(_first_of_loop(evidence, loop), "the first call of a loop of the same failing call"))
    if (claim := by_kind.get(Kind.HALLUCINATION)) is not None:
        candidates.append(Turning(claim.message, "what it says or uses here, the record does not bear out"))
    if (correction := by_kind.get(Kind.USER_CORRECTION)) is not None:
        candidates.append(Turning(_before(evidence, correction.message), "the person corrected what it did here"))
    if not candidates and evidence.final is not None and (open_question(evidence) or Kind.GAVE_UP in by_kind):
        candidates.append(Turning(evidence.final.message, "it stopped here without a result"))
    return min(candidates, default=None)


def _first_of_loop(evidence: SessionView, loop: Signal) -> int:
    last = next(step for step in evidence.steps if step.exchange.call.id == loop.call_id)
    return next((step.exchange.asked for step in evidence.failures if step.key == last.key), last.exchange.asked)


def _before(evidence: SessionView, message: int) -> int:
    said = [saying.message for saying in evidence.by_agent if saying.message < message]
    asked = [step.exchange.asked for step in evidence.steps if step.exchange.asked < message]
    return max([*said, *asked], default=message)


def record(analysis: Analysis) -> dict[str, Any]:
    """The analysis in the form that programs read: one JSON object a session."""
    return {
        "session": analysis.session,
        "failure_score": analysis.failure_score,
        "reasons": list(analysis.reasons),
        "activity": analysis.activity.value,
        "decisive_step": analysis.decisive_step,
        "decisive_reason": analysis.decisive_reason,
        "calls": analysis.calls,
        "exchanges": [
            {"call_id": one.call_id, "tool": one.tool, "outcome": one.outcome.value, "evidence": one.evidence}
            for one in analysis.exchanges
        ],
        "signals": [_signal_record(signal) for signal in analysis.signals],
    }


def _signal_record(signal: Signal) -> dict[str, Any]:
    return {
        "kind": signal.kind.value,
        "message": signal.message,
        "call_id": signal.call_id or None,
        "quote": signal.quote,
        "cause": signal.cause.value,
        "trust": signal.trust.label,
        "confidence": signal.confidence,
    }
