"""Where the mean effect lies: bounds that hold at every look, by asking which means the bets have not refuted."""

import math
from collections.abc import Callable, Sequence
from random import Random
from statistics import NormalDist, quantiles
from typing import NamedTuple

from whet.evidence.betting import STEADY, aimed, log_capital, tally

STEPS = 24
WORK = 400_000


class Interval(NamedTuple):
    """A lower and an upper bound, each wrong with a chance of at most alpha."""

    low: float
    high: float


def wilson(passed: int, attempts: int, *, confidence: float = 0.95) -> Interval:
    """The interval of a share; wide and never beyond 0 and 1 when attempts are few."""
    if attempts == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = min(1.0, passed / attempts)
    scale = 1 + z * z / attempts
    centre = (share + z * z / (2 * attempts)) / scale
    half = z * math.sqrt(share * (1 - share) / attempts + z * z / (4 * attempts * attempts)) / scale
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def bootstrap(differences: Sequence[float], *, seed: int, rounds: int = 2000) -> Interval:
    """The percentile interval of the mean at 95 %, whole cases drawn with replacement; the same for the same seed.

    Good for one look at the end only, and too narrow for few cases: for a report, not for a verdict.
    """
    if not differences:
        return Interval(-1.0, 1.0)
    draw, count = Random(seed), len(differences)
    means = [math.fsum(draw.choices(differences, k=count)) / count for _ in range(rounds)]
    low, *_, high = quantiles(means, n=40, method="inclusive")
    return Interval(low, high)


def order_free(differences: Sequence[float], *, alpha: float) -> Interval:
    """Bounds on the mean from all cases together, whatever their order."""
    goal = math.log(1 / alpha)
    upwards, downwards = tally(differences), tally(-difference for difference in differences)
    low = unrefuted(lambda mean: log_capital(upwards, mean=mean), goal)
    high = -unrefuted(lambda mean: log_capital(downwards, mean=mean), goal)
    return Interval(low, high)


def in_order(differences: Sequence[float], *, planned: int, alpha: float) -> Interval:
    """Bounds on the mean from cases in an order that was fixed before, by the bets that aim at the planned number."""
    low = _aimed_bound(differences, planned, alpha)
    high = -_aimed_bound([-difference for difference in differences], planned, alpha)
    return Interval(low, high)


def unrefuted(log_won: Callable[[float], float], goal: float) -> float:
    """The largest mean in [-1, 1] up to which every smaller one is refuted; what is won falls as the mean rises."""
    low, high = -1.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if log_won(middle) >= goal:
            low = middle
        else:
            high = middle
    return low


def _aimed_bound(differences: Sequence[float], planned: int, alpha: float) -> float:
    """The first mean on the way up that aimed bets do not refute.

    Their capital need not fall steadily as the mean rises, so the way is walked and not halved. It starts where the
    constant bets alone, with their small share, refute everything below.
    """
    if not differences:
        return -1.0
    counted = tally(differences)
    start = unrefuted(lambda mean: log_capital(counted, mean=mean), math.log(1 / (alpha * STEADY)))
    end = sum(differences) / len(differences)
    steps = max(8, min(STEPS, WORK // len(differences)))
    ways = sorted({start + (end - start) * step / steps for step in range(1, steps + 1)} | {0.0})
    refuted = start
    for mean in ways:
        if mean <= start:
            continue
        if not _refutes(differences, planned, alpha, mean):
            break
        refuted = mean
    return refuted


def _refutes(differences: Sequence[float], planned: int, alpha: float, mean: float) -> bool:
    goal = 1 / alpha
    return any(capital >= goal for capital in aimed(differences, planned=planned, goal=goal, mean=mean))
