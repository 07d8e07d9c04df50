"""Attempts: one case in one arm with one seed, what was measured, and what many of them add up to."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from statistics import fmean
from typing import NamedTuple

from whet.evidence.classical import wilson
from whet.evidence.intervals import Interval
from whet.evidence.outcome_table import TIES
from whet.runs.run import Spent, together
from whet.trials.measures import Measures
from whet.values import Value


class Arm(StrEnum):
    """One side of a trial."""

    BASE = "base"
    CANDIDATE = "candidate"
    PLACEBO = "placebo"  # the same form and length as the candidate, and nothing to learn in it


class AttemptPlace(NamedTuple):
    """Which attempt is meant: one case in one arm with one seed."""

    case: str
    arm: Arm
    seed: int


class Attempt(Value, frozen=True):
    """One attempt and what was measured. A `void` one says why nothing was: it counts for neither arm."""

    case: str
    arm: Arm
    seed: int
    measures: Measures
    session: str = ""
    reused: bool = False  # made in an earlier trial, and paid there
    void: str = ""
    trial: str = ""  # that it was made for


class ArmTally(Value, frozen=True):
    """One arm over all its attempts; measures are means over attempts."""

    arm: Arm
    attempts: int
    passed: int
    interval: Interval  # Wilson's, of the share that passed
    early_error_rate: float
    first_success_turn: float | None  # over those attempts in which a call worked
    first_success_seconds: float | None
    no_success: int  # attempts in which no call worked
    errors: float
    tools: float
    distinct_calls: float
    tokens: float
    seconds: float

    @property
    def rate(self) -> float:
        return self.passed / self.attempts if self.attempts else 0.0


def total_spent(attempts: Iterable[Attempt]) -> Spent:
    """What the attempts of this trial cost; those that were reused were paid before."""
    return together(attempt.measures.spent for attempt in attempts if not attempt.reused)


def differences(attempts: Iterable[Attempt], cases: Iterable[str], *, arm: Arm, against: Arm) -> list[float]:
    """One difference a case, in the order of the cases, over the seeds that both arms have; other cases are skipped."""
    scores = {
        (each.case, each.arm, each.seed): each.measures.score for each in attempts if not each.void
    }  # fmt: skip
    seeds = {seed for _, _, seed in scores}
    found: list[float] = []
    for case in cases:
        pairs = [
            scores[case, arm, seed] - scores[case, against, seed]
            for seed in sorted(seeds)
            if (case, arm, seed) in scores and (case, against, seed) in scores
        ]
        if pairs:
            found.append(round(fmean(pairs), TIES))
    return found


class Useless(NamedTuple):
    """Cases that tell nothing, because they passed always or never."""

    always: tuple[str, ...]
    never: tuple[str, ...]


def useless(attempts: Sequence[Attempt]) -> Useless:
    """The cases that passed always, or never, in base and candidate; the placebo does not count."""
    marks: dict[str, set[tuple[Arm, bool]]] = {}
    for each in attempts:
        if each.arm is not Arm.PLACEBO and not each.void:
            marks.setdefault(each.case, set()).add((each.arm, each.measures.passed))
    alike = {
        case: {passed for _, passed in found} for case, found in marks.items() if len({arm for arm, _ in found}) == 2
    }
    return Useless(
        tuple(sorted(case for case, found in alike.items() if found == {True})),
        tuple(sorted(case for case, found in alike.items() if found == {False})),
    )


def tally(arm: Arm, attempts: Sequence[Attempt]) -> ArmTally:
    found = [attempt.measures for attempt in attempts if attempt.arm is arm and not attempt.void]
    passed = sum(each.passed for each in found)
    turns = [each.first_success_turn for each in found if each.first_success_turn is not None]
    seconds = [each.first_success_seconds for each in found if each.first_success_seconds is not None]
    return ArmTally(
        arm=arm,
        attempts=len(found),
        passed=passed,
        interval=wilson(passed, len(found)),
        early_error_rate=_mean(each.early_error_rate for each in found),
        first_success_turn=fmean(turns) if turns else None,
        first_success_seconds=fmean(seconds) if seconds else None,
        no_success=sum(each.first_success_turn is None for each in found),
        errors=_mean(each.errors for each in found),
        tools=_mean(each.tools for each in found),
        distinct_calls=_mean(each.distinct_calls for each in found),
        tokens=_mean(each.tokens for each in found),
        seconds=_mean(each.spent.seconds for each in found),
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0
