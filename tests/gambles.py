"""Every way in which a short experiment can go, with its chance: for checks that are exact and not simulated."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

Capitals = Callable[[Sequence[float]], Iterator[float]]


class Gamble(NamedTuple):
    """The differences that a case can have, and the chance of each."""

    values: tuple[float, ...]
    chances: tuple[float, ...]


def centred(high: float, low: float, still: float) -> Gamble:
    """A gamble with mean 0: `high` or `low`, or nothing with the chance `still`."""
    up = (1 - still) * -low / (high - low)
    return Gamble((high, low, 0.0), (up, 1 - still - up, still))


def ways(gamble: Gamble, cases: int) -> Iterator[tuple[tuple[float, ...], float]]:
    pairs = tuple(zip(gamble.values, gamble.chances, strict=True))
    for way in itertools.product(pairs, repeat=cases):
        chance = math.prod(chance for _, chance in way)
        if chance:
            yield tuple(value for value, _ in way), chance


def chance_of_reaching(goal: float, gamble: Gamble, cases: int, capitals: Capitals) -> float:
    """The exact chance that the capital is at the goal or above after any of the cases."""
    return math.fsum(chance for way, chance in ways(gamble, cases) if max(capitals(way)) >= goal)


def mean_capital(gamble: Gamble, cases: int, capitals: Capitals) -> float:
    """The exact mean of the capital after the last case."""
    return math.fsum(chance * list(capitals(way))[-1] for way, chance in ways(gamble, cases))
