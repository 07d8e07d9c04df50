"""The customary figures of a report: exact McNemar, the interval of Wilson, the bootstrap over cases."""

import math
from collections.abc import Sequence
from random import Random
from statistics import NormalDist

from whet.evidence.intervals import Interval


def mcnemar(wins: int, losses: int) -> float:
    """The exact two-sided p-value of wins against losses among pairs that differ; right for one pair a case only."""
    pairs = wins + losses
    if pairs == 0:
        return 1.0
    fewer = min(wins, losses)
    tail = math.fsum(_binomial(pairs, count) for count in range(fewer + 1))
    return min(1.0, 2 * tail)


def _binomial(pairs: int, count: int) -> float:
    ways = math.lgamma(pairs + 1) - math.lgamma(count + 1) - math.lgamma(pairs - count + 1)
    return math.exp(ways - pairs * math.log(2))


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


def bootstrap(differences: Sequence[float], *, seed: int, rounds: int = 2000, confidence: float = 0.95) -> Interval:
    """The percentile interval of the mean, whole cases drawn with replacement; the same for the same seed.

    Good for one look at the end only, and too narrow for few cases: for a report, not for a verdict.
    """
    if not differences:
        return Interval(-1.0, 1.0)
    draw = Random(seed)
    count = len(differences)
    means = sorted(math.fsum(draw.choices(differences, k=count)) / count for _ in range(rounds))
    tail = (1 - confidence) / 2
    return Interval(_quantile(means, tail), _quantile(means, 1 - tail))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
