"""Evidence that a mean lies above a value: the capital of a gambler who bets that it does, case by case.

Each case is a difference in [-1, 1]. A bet is a share of the capital, settled at the odds that are fair when the mean
is the value. If the mean is not above it, no way of betting multiplies the capital by 1/alpha at any time with a chance
of more than alpha (Ville), and so the capital may be looked at after every case (docs/decisions/0010).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

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
