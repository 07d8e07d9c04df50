"""How likely a session failed: bad signs that its record shows, weighed by a small logistic model.

Every sign is 0 when all is well and grows with trouble, and no weight is negative: a session is never excused by
how it is written, and each reason can be read aloud. Length counts only against what is usual for the agent and the
project (`usual.py`). The weights are fitted in bench/detect.py. What a session's own record says outright is not
weighed: without a whole answer it has failed, and no labelled session could teach that. Nor could any teach what it
means that a person's work was checked or handed over in the end: then the agent's last words are a report and not the
outcome, and work that was handed over is no worse for having been long.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from whet.failures.success_signs import is_settled
from whet.failures.usual import AS_USUAL, Beyond
from whet.failures.view import JudgedCall, SessionView
from whet.failures.wordings import Phrase
from whet.sessions.call_effects import Effect
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Ending
from whet.values import Value

LONGER = 0.8  # beyond what is usual, from where on it is told
REASONS_SHOWN = 4
REASON_WEIGHT = 0.25
MOST = 30.0  # log odds that no other sign can outweigh
WHOLE, SAID = "longer_than_usual", "more_said_than_usual"
LONGER_REASON = "it took longer than similar sessions"
UNANSWERED = {
    Ending.REFUSED: "the model refused to answer",
    Ending.EMPTY: "the model gave no answer, even when asked again",
    Ending.CUT: "its answer was cut off in the middle",
}


class Weights(Value, frozen=True):
    """The fitted model. A score of one half is the threshold that was chosen with it."""

    intercept: float
    weights: dict[str, float]


class Weighed(Value, frozen=True):
    """What the signs of one session come to before it is compared with others: log odds, and the heaviest signs."""

    logit: float
    reasons: tuple[str, ...] = ()


class Score(NamedTuple):
    value: float
    reasons: tuple[str, ...]


class Sign(NamedTuple):
    """One bad sign: its measure from 0 upwards, and how it reads as a reason."""

    name: str
    measure: Callable[[SessionView], float]
    reason: str


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _is_bad(step: JudgedCall) -> bool:
    """Failed, or asked for something and got nothing. A shell's silence is consent; no result says nothing."""
    if step.failed or not step.is_empty or step.exchange.result is None:
        return step.failed
    if step.effect is Effect.RUNS:
        return family_of(step.exchange.call) is not Family.SHELL
    return step.effect in (Effect.READS, Effect.PROBES)


def _asking(evidence: SessionView) -> list[JudgedCall]:
    """The steps that want to know something, so that the same one twice is once too often."""
    return [step for step in evidence.steps if step.failed or step.effect in (Effect.READS, Effect.RUNS)]


def _last_run(evidence: SessionView) -> int:
    run = 0
    for step in reversed(evidence.steps):
        if not _is_bad(step):
            break
        run += 1
    return run


def failed_share(evidence: SessionView) -> float:
    return _share(sum(map(_is_bad, evidence.steps)), len(evidence.steps))


def last_failed(evidence: SessionView) -> float:
    return float(_last_run(evidence) > 0)


def failing_end(evidence: SessionView) -> float:
    return math.log1p(_last_run(evidence))


def nothing_worked(evidence: SessionView) -> float:
    return float(not any(step.worked for step in evidence.steps) and not _is_answer_alone(evidence))


def no_calls(evidence: SessionView) -> float:
    return float(not evidence.steps and not _is_answer_alone(evidence))


def _is_answer_alone(evidence: SessionView) -> bool:
    """Whether a session made no call and needed none: nothing was to be changed, and what was asked is answered."""
    if evidence.steps or evidence.final is None or _asks_change(evidence):
        return False
    return not any(sign(evidence) for sign in (open_question, inability, unkept_promise, no_answer))


def same_error(evidence: SessionView) -> float:
    errors = [(step.tool, step.fingerprint) for step in evidence.failures]
    return _share(len(errors) - len(set(errors)), len(evidence.steps))


def repeated_calls(evidence: SessionView) -> float:
    asking = _asking(evidence)
    return _share(len(asking) - len({step.key for step in asking}), len(evidence.steps))


def repeated_answers(evidence: SessionView) -> float:
    answers = [(step.tool, step.text) for step in _asking(evidence) if step.text]
    return _share(len(answers) - len(set(answers)), len(evidence.steps))


def open_question(evidence: SessionView) -> float:
    """The agent's last word asks for something, and nobody answered."""
    final = evidence.final
    if final is None:
        return 0.0
    asks = final.end.endswith(("?", "？")) and Phrase.OFFER not in final.end_phrases
    return float(asks or final.has(Phrase.ASKS))


def inability(evidence: SessionView) -> float:
    return float(evidence.final is not None and evidence.final.has(Phrase.INABILITY, Phrase.SURRENDER))


def unkept_promise(evidence: SessionView) -> float:
    """The agent's last word says what it will do next."""
    final = evidence.final
    if final is None or Phrase.INTENT not in final.phrases:
        return 0.0
    return float(Phrase.INTENT in final.end_phrases and Phrase.OFFER not in final.end_phrases)


def no_answer(evidence: SessionView) -> float:
    return float(evidence.final is not None and not evidence.final.words.strip())


def _is_single_order(evidence: SessionView) -> bool:
    """One order and tools whose effects are known: then what was asked can be held against what was done."""
    known = all(step.effect is not Effect.RUNS for step in evidence.steps)
    return known and len(evidence.by_user) <= 1


def _asks_change(evidence: SessionView) -> bool:
    return any(saying.asks_change for saying in evidence.by_user)


def _changed(evidence: SessionView) -> bool:
    return any(step.effect is Effect.CHANGES and step.worked for step in evidence.steps)


def not_done(evidence: SessionView) -> float:
    return float(_is_single_order(evidence) and _asks_change(evidence) and not _changed(evidence))


def unasked_change(evidence: SessionView) -> float:
    return float(_is_single_order(evidence) and not _asks_change(evidence) and _changed(evidence))


def unbacked_claim(evidence: SessionView) -> float:
    final = evidence.final
    claims = final is not None and final.has(Phrase.CLAIM)
    return float(claims and _is_single_order(evidence) and not _changed(evidence))


def cut_off(evidence: SessionView) -> float:
    return float(evidence.transcript.ending in (Ending.BUDGET, Ending.FAILED))


SIGNS: tuple[Sign, ...] = (
    Sign("failed_share", failed_share, "many calls failed or returned nothing"),
    Sign("last_failed", last_failed, "its last call failed or returned nothing"),
    Sign("failing_end", failing_end, "it ended with a series of failed calls"),
    Sign("nothing_worked", nothing_worked, "no call worked"),
    Sign("no_calls", no_calls, "it answered without a single call"),
    Sign("same_error", same_error, "the same error recurred"),
    Sign("repeated_calls", repeated_calls, "it repeated the same calls"),
    Sign("repeated_answers", repeated_answers, "it got the same results again"),
    Sign("open_question", open_question, "it ended with an unanswered question"),
    Sign("inability", inability, "it ended by saying what it could not do or find"),
    Sign("unkept_promise", unkept_promise, "it ended with a plan it did not carry out"),
    Sign("no_answer", no_answer, "it ended without an answer"),
    Sign("not_done", not_done, "the user asked for a change and it made none"),
    Sign("unasked_change", unasked_change, "the user asked only for an answer and it changed something"),
    Sign("unbacked_claim", unbacked_claim, "it claims a change that no call made"),
    Sign("cut_off", cut_off, "it was cut off"),
)


# What these are measured by is what came of the calls.
OF_RESULTS = frozenset(
    ("failed_share", "last_failed", "failing_end", "nothing_worked", "not_done", "unasked_change", "unbacked_claim")
)

# And these by the agent's last words.
OF_LAST_WORDS = frozenset(("open_question", "inability", "unkept_promise"))


def measure(evidence: SessionView) -> dict[str, float]:
    """Every sign of a session by its name."""
    passed_over = OF_RESULTS if _has_no_results(evidence) else frozenset()
    found = {sign.name: 0.0 if sign.name in passed_over else sign.measure(evidence) for sign in SIGNS}
    if any(found[name] for name in OF_LAST_WORDS) and is_settled(evidence):
        found |= dict.fromkeys(OF_LAST_WORDS, 0.0)
    return found


def _has_no_results(evidence: SessionView) -> bool:
    """Whether the agent called, and its record holds not one result: some programs keep none, some are stopped."""
    return bool(evidence.steps) and all(step.exchange.result is None for step in evidence.steps)


def weigh(evidence: SessionView, weights: Weights) -> Weighed:
    """What the signs of a session weigh together; all there is where it ended without an answer."""
    signs = measure(evidence)
    parts = {name: weight * signs.get(name, 0.0) for name, weight in weights.weights.items() if name in signs}
    told = sorted(
        (sign for sign in SIGNS if parts.get(sign.name, 0.0) >= REASON_WEIGHT and _is_told(sign, evidence)),
        key=lambda sign: -parts[sign.name],
    )
    reasons = tuple(sign.reason for sign in told)
    unanswered = UNANSWERED.get(evidence.transcript.ending)
    if unanswered:
        return Weighed(MOST, (unanswered, *reasons)[:REASONS_SHOWN])
    return Weighed(weights.intercept + sum(parts.values()), reasons[:REASONS_SHOWN])


def _is_told(sign: Sign, evidence: SessionView) -> bool:
    """That no call worked says nothing to a person where none was made."""
    return bool(evidence.steps) or sign.measure is not nothing_worked


def failure_of(weighed: Weighed, weights: Weights, more: Beyond = AS_USUAL) -> Score:
    """The score of a session: its signs, and how far it goes beyond what is usual where it was made."""
    if weighed.logit >= MOST:
        return Score(1.0, weighed.reasons)
    relative = weights.weights.get(WHOLE, 0.0) * more.whole + weights.weights.get(SAID, 0.0) * more.said
    total = max(-MOST, min(MOST, weighed.logit + relative))
    return Score(1 / (1 + math.exp(-total)), told_reasons(weighed, max(more)))


def told_reasons(weighed: Weighed, longer: float) -> tuple[str, ...]:
    """The reasons for a score, with the session's length where it goes so far beyond what is usual."""
    return (*weighed.reasons, *((LONGER_REASON,) if longer >= LONGER else ()))[:REASONS_SHOWN]
