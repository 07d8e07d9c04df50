"""What a trial can find and what it will cost, before anything is spent."""

import math
from statistics import NormalDist

from whet.evidence.betting import BETS, MOST_LOOKED, PRICE, cases_to_prove
from whet.values import Value

POWER = 0.8
LIKENESS = 0.5
"""How much of the variance of outcomes lies between cases; the rest varies from attempt to attempt of one case."""

SPREAD = 0.1
"""How much the effect itself differs from case to case."""

SLICES = 64
MOST_CASES = 1_000_000
_NORMAL = NormalDist()


class TrialPlan(Value, frozen=True):
    """A planned number of cases and seeds, what it can find with a chance of 80 %, and what it costs."""

    cases: int
    seeds: int
    alpha: float
    minimum_effect: float  # the smallest effect that is found with the power; 1 or more: none
    attempts_most: int
    attempts_expected: float  # if the effect is the smallest that can be found
    cost_most: float
    cost_expected: float


def deviation(pass_rate: float, seeds: int) -> float:
    """The standard deviation of a case's difference, averaged over its seeds, for a base arm that passes so often."""
    within = 2 * (1 - LIKENESS) * pass_rate * (1 - pass_rate)
    return math.sqrt(within / seeds + SPREAD * SPREAD)


def power(effect: float, *, spread: float, cases: int, alpha: float) -> float:
    """The chance that a trial accepts an effect of this size, where the differences deviate by `spread`.

    Up to the number of cases that has a final look, the sum that is looked at is taken for a normal one. Beyond, a
    bet's capital is taken for a Brownian motion on its logarithm, and the best constant bet for the gambler's.
    """
    if cases > MOST_LOOKED:
        return max(_reached(_course(effect, spread, bet, alpha), cases) for bet, _ in BETS)
    if cases < cases_to_prove(alpha):
        return 0.0
    wanted = _NORMAL.inv_cdf(1 - PRICE * alpha) * math.hypot(effect, spread)
    return _NORMAL.cdf((effect * math.sqrt(cases) - wanted) / max(spread, 1e-9))


def expected_cases(effect: float, *, spread: float, cases: int, alpha: float) -> float:
    """How many of the planned cases are run on average before the evidence is enough, or the plan is spent."""
    early = alpha if cases > MOST_LOOKED else (1 - PRICE) * alpha
    courses = [_course(effect, spread, bet, early) for bet, _ in BETS]
    best = max(courses, key=lambda course: _reached(course, cases))
    step = cases / SLICES
    return sum(step * (1 - _reached(best, step * (slice_ + 0.5))) for slice_ in range(SLICES))


def minimum_effect(*, spread: float, cases: int, alpha: float, wanted: float = POWER) -> float:
    """The smallest effect that is accepted with the wanted chance; 1 where none is."""
    low, high = 0.0, 1.0
    if power(high, spread=spread, cases=cases, alpha=alpha) < wanted:
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if power(middle, spread=spread, cases=cases, alpha=alpha) >= wanted else (middle, high)
        )
    return high


def cases_needed(effect: float, *, spread: float, alpha: float, wanted: float = POWER) -> int | None:
    """The number of cases at which an effect of this size is accepted with the wanted chance; None beyond a million."""
    high = 1
    while effect <= 0 or power(effect, spread=spread, cases=high, alpha=alpha) < wanted:
        if effect <= 0 or high >= MOST_CASES:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if power(effect, spread=spread, cases=middle, alpha=alpha) >= wanted else (middle, high)
        )
    return high


def plan(cases: int, seeds: int, *, alpha: float, spread: float, cost_of_attempt: float = 0.0) -> TrialPlan:
    """What so many cases with so many seeds can find, and the attempts and cost of both arms."""
    found = minimum_effect(spread=spread, cases=cases, alpha=alpha)
    expected = 2 * seeds * expected_cases(found, spread=spread, cases=cases, alpha=alpha)
    most = 2 * seeds * cases
    return TrialPlan(
        cases=cases,
        seeds=seeds,
        alpha=alpha,
        minimum_effect=found,
        attempts_most=most,
        attempts_expected=expected,
        cost_most=most * cost_of_attempt,
        cost_expected=expected * cost_of_attempt,
    )


class _Course(Value, frozen=True):
    """Where the logarithm of a bet's capital goes: its drift and deviation per case, and the height to reach."""

    drift: float
    deviation: float
    height: float


def _course(effect: float, spread: float, bet: float, alpha: float) -> _Course:
    square = spread * spread + effect * effect
    return _Course(bet * effect - bet * bet * square / 2, max(bet * spread, 1e-9), math.log(1 / alpha))


def _reached(course: _Course, cases: float) -> float:
    """The chance that a Brownian motion with drift reaches the height within so many cases."""
    spread = course.deviation * math.sqrt(cases)
    straight = _NORMAL.cdf((course.drift * cases - course.height) / spread)
    turned = _NORMAL.cdf(-(course.drift * cases + course.height) / spread)
    if turned == 0:
        return straight
    return min(1.0, straight + math.exp(2 * course.drift * course.height / course.deviation**2 + math.log(turned)))
