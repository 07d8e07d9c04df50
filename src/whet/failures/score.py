"""How badly a session went, for what compares sessions with each other: guards of live trials, warrants, cases.

Bad signs that the record shows, weighed by a small logistic model. Every sign is 0 when all is well and grows with
trouble, and no weight is negative. Length counts only against what is usual for the agent and the project (`usual.py`).
The weights are fitted in bench/detect.py. The score is no verdict on a person's session and is shown to nobody. Where
work was checked or handed over in the end, the agent's last words are a report and not the outcome.
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

MOST = 30.0  # log odds that no other sign can outweigh
WHOLE, SAID = "longer_than_usual", "more_said_than_usual"


class Weights(Value, frozen=True):
    """The fitted model. A score of one half is the threshold that was chosen with it."""

    intercept: float
    weights: dict[str, float]


class Sign(NamedTuple):
    """One bad sign, and its measure from 0 upwards."""

    name: str
    measure: Callable[[SessionView], float]


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
    final = evidence.final
    if evidence.steps or final is None or not final.words.strip() or _asks_change(evidence):
        return False
    return not any(sign(evidence) for sign in (open_question, inability, unkept_promise))


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
    Sign("failed_share", failed_share),
    Sign("last_failed", last_failed),
    Sign("failing_end", failing_end),
    Sign("nothing_worked", nothing_worked),
    Sign("no_calls", no_calls),
    Sign("same_error", same_error),
    Sign("repeated_calls", repeated_calls),
    Sign("repeated_answers", repeated_answers),
    Sign("open_question", open_question),
    Sign("inability", inability),
    Sign("unkept_promise", unkept_promise),
    Sign("not_done", not_done),
    Sign("unasked_change", unasked_change),
    Sign("unbacked_claim", unbacked_claim),
    Sign("cut_off", cut_off),
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


def weigh(evidence: SessionView, weights: Weights) -> float:
    """What the signs of a session weigh together, as log odds; a record without an answer weighs nothing."""
    signs = measure(evidence) if _is_answered(evidence) else {}
    return weights.intercept + sum(weight * signs.get(name, 0.0) for name, weight in weights.weights.items())


def _is_answered(evidence: SessionView) -> bool:
    """Whether the agent did anything, or said a word: where a record breaks off before, nothing is known."""
    return bool(evidence.steps) or any(saying.words.strip() for saying in evidence.by_agent)


def failure_of(weighed: float, weights: Weights, more: Beyond = AS_USUAL) -> float:
    """The score of a session: its signs, and how far it goes beyond what is usual where it was made."""
    relative = weights.weights.get(WHOLE, 0.0) * more.whole + weights.weights.get(SAID, 0.0) * more.said
    return 1 / (1 + math.exp(-max(-MOST, min(MOST, weighed + relative))))
