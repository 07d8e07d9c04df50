"""Evidence that a mean lies above a value: the capital of a gambler who bets that it does, case by case.

Each case is a difference in [-1, 1]. A bet is a share of the capital, settled at the odds that are fair when the mean
is the value. If the mean is not above it, no way of betting multiplies the capital by 1/alpha at any time with a chance
of more than alpha (Ville), and so the capital may be looked at after every case (docs/decisions/0010).

One exact look at the planned end is bought with most of the capital: it pays the goal if chance is as good as out. If
the candidate does nothing, each difference might as well have the other sign: given how large they are, their signs are
fair coins. So the chance that their sum comes out as high as it did is counted, not estimated; with one seed this is
the exact sign test. What the look pays has a mean of its price, and so it is evidence like that of any other bet
(docs/decisions/0026).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

_SMALLEST, _LARGEST, _COUNT = 0.005, 0.99, 20
_SIZES = tuple(_SMALLEST * (_LARGEST / _SMALLEST) ** (step / (_COUNT - 1)) for step in range(_COUNT))
_TOTAL = sum(size**1.5 for size in _SIZES)
BETS = tuple((size, size**1.5 / _TOTAL) for size in _SIZES)
"""Constant bets with the capital that each begins with; chosen on simulated experiments, never on labelled ones."""

STEADY = 0.1
"""The share of a planned gambler's capital that stays on the constant bets: it wins early when the effect is large."""

PRIOR_SQUARE, PRIOR_CASES = 0.4, 4
"""The mean square of a move as it is taken to be before the first case, and for how many cases that counts."""

MOST_DISTINCT = 4096


def tally(differences: Iterable[float]) -> Counter[float]:
    """How often each difference occurs; very many distinct ones are rounded down, which only lowers the capital."""
    counted = Counter(differences)
    if len(counted) <= MOST_DISTINCT:
        return counted
    rounded: Counter[float] = Counter()
    for difference, times in counted.items():
        rounded[math.floor(difference * MOST_DISTINCT / 2) / (MOST_DISTINCT / 2)] += times
    return rounded


def log_capital(counted: Mapping[float, int], *, mean: float = 0.0) -> float:
    """The logarithm of what the constant bets have won against a mean of at most `mean`, whatever the order."""
    moves = [((difference - mean) / (1 + mean), times) for difference, times in counted.items()]
    logs = (_log_won(size, moves) for size, _ in BETS)
    weighted = [math.log(weight) + log for log, (_, weight) in zip(logs, BETS, strict=True)]
    highest = max(weighted)
    return highest + math.log(math.fsum(math.exp(log - highest) for log in weighted))


def _log_won(size: float, moves: Iterable[tuple[float, int]]) -> float:
    """What one constant bet has won, with each move as often as it was made."""
    return math.fsum(times * math.log1p(max(size * move, -_LARGEST)) for move, times in moves if move)


def constant(differences: Iterable[float], *, mean: float = 0.0) -> Iterator[float]:
    """What the constant bets have won after each case."""
    held = [weight for _, weight in BETS]
    capital = 1.0
    for difference in differences:
        move = (difference - mean) / (1 + mean)
        if move:
            held = [part * (1 + size * move) for part, (size, _) in zip(held, BETS, strict=True)]
            capital = sum(held)
        yield capital


def aimed(differences: Iterable[float], *, planned: int, goal: float, mean: float = 0.0) -> Iterator[float]:
    """What bets that aim at `goal` within `planned` cases have won after each case.

    Before each case the bet is the one that would reach the goal in the cases that are left, if the mean were just
    large enough for that. It depends on earlier cases only, so it is as fair as any other.
    """
    held = [STEADY * weight for _, weight in BETS]
    steady, bold = STEADY, 1 - STEADY
    squares = PRIOR_SQUARE * PRIOR_CASES
    for done, difference in enumerate(differences):
        move = (difference - mean) / (1 + mean)
        bold *= 1 + _bold_bet(bold, goal - steady, squares / (PRIOR_CASES + done), planned - done) * move
        if move:
            held = [part * (1 + size * move) for part, (size, _) in zip(held, BETS, strict=True)]
            steady = sum(held)
        squares += move * move
        yield steady + bold


def _bold_bet(capital: float, wanted: float, square: float, left: int) -> float:
    if capital <= 0 or capital >= wanted:
        return 0.0
    if left <= 0:
        return 0.0
    return min(1.0, math.sqrt(2 * math.log(wanted / capital) / (square * left)))


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


def mcnemar(wins: int, losses: int) -> float:
    """The exact two-sided p-value of wins against losses among pairs that differ; right for one pair a case only."""
    return min(1.0, 2 * _of_fair_coins(wins + losses, max(wins, losses)).reached)


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
