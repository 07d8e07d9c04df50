"""The interval of a ratio of sums, such as minutes lost per agent hour, where whole sessions are what varies."""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple

from whet.evidence.intervals import Interval

FEWEST = 2  # sessions, below which nothing is known of how they vary


class Ratio(NamedTuple):
    """A ratio of sums with its interval, and the standard error behind it."""

    value: float
    interval: Interval
    error: float


class RatioSums(NamedTuple):
    """What the interval of a ratio needs of its pairs of part and whole, so that no pair has to be kept."""

    pairs: int = 0
    part: float = 0.0
    whole: float = 0.0
    part_squares: float = 0.0
    whole_squares: float = 0.0
    products: float = 0.0

    def plus(self, part: float, whole: float) -> "RatioSums":
        """The sums with one more pair."""
        return RatioSums(
            self.pairs + 1,
            self.part + part,
            self.whole + whole,
            self.part_squares + part * part,
            self.whole_squares + whole * whole,
            self.products + part * whole,
        )


def sums(pairs: Iterable[tuple[float, float]]) -> RatioSums:
    """The sums of pairs of part and whole."""
    found = RatioSums()
    for part, whole in pairs:
        found = found.plus(part, whole)
    return found


def ratio(counted: RatioSums, *, confidence: float = 0.95) -> Ratio:
    """The ratio of the parts to the wholes; without bounds where fewer than two pairs tell how they vary."""
    if counted.whole <= 0:
        return Ratio(0.0, Interval(0.0, math.inf), math.inf)
    value = counted.part / counted.whole
    if counted.pairs < FEWEST:
        return Ratio(value, Interval(0.0, math.inf), math.inf)
    error = _error(counted, value)
    half = t_quantile((1 + confidence) / 2, counted.pairs - 1) * error
    return Ratio(value, Interval(max(0.0, value - half), value + half), error)


def _error(counted: RatioSums, value: float) -> float:
    """Its standard error by linearisation: how far the parts lie from what the ratio would give them."""
    squares = counted.part_squares - 2 * value * counted.products + value * value * counted.whole_squares
    return math.sqrt(max(0.0, squares) * counted.pairs / (counted.pairs - 1)) / counted.whole


def difference(strata: Sequence[tuple[RatioSums, RatioSums]], *, confidence: float = 0.95) -> tuple[float, Interval]:
    """A difference of ratios, new less old, and its interval: the mean over strata by how much each has on both sides.

    So nothing is due to another mix of strata.
    """
    weights = [new.whole * old.whole / (new.whole + old.whole) for new, old in strata]
    total = math.fsum(weights)
    if total <= 0:
        return 0.0, Interval(-math.inf, math.inf)
    mean, variance, freedom = 0.0, 0.0, 0
    for weight, (new, old) in zip(weights, strata, strict=True):
        lately, before = ratio(new), ratio(old)
        mean += weight / total * (lately.value - before.value)
        variance += (weight / total) ** 2 * (lately.error**2 + before.error**2)
        freedom += max(0, new.pairs - 1) + max(0, old.pairs - 1)
    half = t_quantile((1 + confidence) / 2, freedom) * math.sqrt(variance) if freedom else math.inf
    return mean, Interval(mean - half, mean + half)


def t_quantile(share: float, freedom: int) -> float:
    """Student's quantile by Cornish and Fisher's expansion; for two degrees and one it is known."""
    z = NormalDist().inv_cdf(share)
    if freedom == 1:
        return math.tan(math.pi * (share - 0.5))
    if freedom == 2:
        return (2 * share - 1) * math.sqrt(2 / (4 * share * (1 - share)))
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
