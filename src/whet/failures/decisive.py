"""The decisive step: the earliest message after which the session was lost, as a best guess with its confidence.

What the record itself shows comes first: failures that nothing recovered from, loops, false claims, a correction. Where
it shows none of it, a session that failed did so by what it changed or by what it answered: the largest change that it
made to a lasting file, else its last word.
"""

from typing import NamedTuple

from whet.failures.score import open_question
from whet.failures.signals import SHOWN, Kind, Signal
from whet.failures.view import JudgedCall, SessionView
from whet.sessions.call_effects import Effect
from whet.sessions.file_changes import files_written, lasting_files
from whet.sessions.transcripts import Role


class Turning(NamedTuple):
    """The message after which the session seems lost, why, and how sure that is if it was lost at all."""

    message: int
    reason: str
    confidence: float


def decisive_step(evidence: SessionView, signals: tuple[Signal, ...]) -> Turning | None:
    """The best guess; None only where the agent neither said nor did anything."""
    shown = _shown(evidence, signals)
    if shown:
        return min(shown)
    changes = [step for step in evidence.steps if step.worked and _changes(step)]
    if changes:
        largest = max(changes, key=lambda step: len(step.exchange.call.arguments))
        return Turning(largest.exchange.asked, "its largest change, if a change was wrong", 0.4)
    own = [index for index, message in enumerate(evidence.transcript.messages) if message.role is Role.AGENT]
    return Turning(own[-1], "its last message, if the answer was wrong", 0.3) if own else None


def _shown(evidence: SessionView, signals: tuple[Signal, ...]) -> list[Turning]:
    """What the record itself shows of where things went wrong."""
    found: list[Turning] = []
    if evidence.trailing_failures:
        first = evidence.trailing_failures[0]
        found.append(Turning(first.exchange.asked, "the first failure that it did not recover from", 0.7))
    by_kind = {signal.kind: signal for signal in reversed(signals) if signal.confidence >= SHOWN}
    if (loop := by_kind.get(Kind.RETRY_LOOP)) is not None:
        found.append(Turning(_first_of_loop(evidence, loop), "the first call of a loop of failing calls", 0.7))
    if (claim := by_kind.get(Kind.HALLUCINATION)) is not None:
        found.append(Turning(claim.message, "the record contradicts what it says or uses here", 0.6))
    if (correction := by_kind.get(Kind.USER_CORRECTION)) is not None:
        found.append(Turning(_before(evidence, correction.message), "the user corrected what it did here", 0.6))
    if not found and evidence.final is not None and (open_question(evidence) or Kind.GAVE_UP in by_kind):
        found.append(Turning(evidence.final.message, "it stopped here without a result", 0.5))
    return found


def _changes(step: JudgedCall) -> bool:
    if files_written(step.exchange.call):
        return bool(lasting_files(step.exchange.call))
    return step.effect is Effect.CHANGES


def _first_of_loop(evidence: SessionView, loop: Signal) -> int:
    last = next(step for step in evidence.steps if step.exchange.call.id == loop.call_id)
    return next((step.exchange.asked for step in evidence.failures if step.key == last.key), last.exchange.asked)


def _before(evidence: SessionView, message: int) -> int:
    said = [saying.message for saying in evidence.by_agent if saying.message < message]
    asked = [step.exchange.asked for step in evidence.steps if step.exchange.asked < message]
    return max([*said, *asked], default=message)
