"""One exact look at the planned end, bought with most of the capital: it pays the goal if chance is as good as out.

If the candidate does nothing, each difference might as well have the other sign: given how large they are, their signs
are fair coins. So the chance that their sum comes out as high as it did is counted, not estimated; with one seed this
is the exact sign test. What the look pays has a mean of its price, and so it is evidence like that of any other bet
(docs/decisions/0026).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

PRICE = 0.95
"""The share of the capital that the look costs; the rest is on constant bets, which may win before the end."""

MOST_LOOKED = 100
"""Planned cases up to which there is a look: with more, bets that aim at the plan spare a third of them."""

MOST_COUNTED = 1_000
"""Cases up to which a look at the mean over several seeds is counted, where there is no way but a look."""

STEPS = 60
"""To what part of 1 a difference is rounded: means over up to six seeds stay as they are, and any rounding is fair."""


class TailChance(NamedTuple):
    """The chance of a sum as high as the one that was seen, and of a higher one, if signs are fair coins."""

    reached: float
    above: float


def tail(differences: Sequence[float]) -> TailChance:
    """How likely so high a sum is by chance alone."""
    moves = [move for each in differences if (move := round(STEPS * each))]
    unit = math.gcd(*moves)
    sizes = [abs(move) // unit for move in moves] if moves else []
    gained = sum(size for move, size in zip(moves, sizes, strict=True) if move > 0)
    if len(set(sizes)) == 1:  # one seed: the exact sign test
        return _of_fair_coins(len(sizes), gained // sizes[0])
    # One large number holds how many ways lead to each sum of gains, each in a place of so many bytes.
    width = len(sizes) // 8 + 1
    ways = 1
    for size in sizes:
        ways += ways << (8 * width * size)
    places = (ways >> (8 * width * gained)).to_bytes(width * (sum(sizes) - gained + 1), "little")
    counts = [int.from_bytes(places[start : start + width], "little") for start in range(0, len(places), width)]
    every = 1 << len(sizes)
    return TailChance(sum(counts) / every, sum(counts[1:]) / every)


def _of_fair_coins(coins: int, heads: int) -> TailChance:
    """The chance of so many heads, and of more."""
    ways = math.comb(coins, heads)
    above = 0
    term = ways
    for count in range(heads, coins):
        term = term * (coins - count) // (count + 1)
        above += term
    return TailChance((above + ways) / (1 << coins), above / (1 << coins))


def can_look(differences: Sequence[float]) -> bool:
    """Whether a look at these can be counted in good time: of one seed at any number, else up to so many."""
    return len(differences) <= MOST_COUNTED or all(each in (-1.0, 0.0, 1.0) for each in differences)


def paid(differences: Sequence[float], *, price: float, goal: float) -> float:
    """What the look pays: the goal, if so high a sum is rarer than its price allows.

    Sums come in steps, so the goal alone seldom uses up the price. The rest is paid for the sum next below: a near miss
    keeps capital.
    """
    rare = price / goal
    chance = tail(differences)
    if chance.reached <= rare:
        return goal
    return goal * max(0.0, rare - chance.above) / (chance.reached - chance.above)


def cases_to_prove(alpha: float, *, capital: float = 1.0) -> int:
    """How many cases are needed at least: with fewer, not even a change that helps in every one of them is proved."""
    return max(1, math.ceil(math.log2(1 / (PRICE * capital * alpha)) - 1e-9))
