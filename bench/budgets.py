"""How to divide the error budget over trials, on simulated series only: `python bench/budgets.py [SERIES]`.

A series is a person's trials one after another: some changes truly help, most do nothing. The power of a trial at each
rate is simulated with the gate that trials use; the budget is e-LOND, closed, as in `whet.evidence.error_budget`.
"""

import bisect
import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from bets import calibrated, experiment, short
from whet.evidence.error_budget import SHARE, part
from whet.evidence.verdicts import ALPHA, planned_side

RATES = tuple(10 ** (-5 + 0.3 * step) for step in range(14))  # up to more than alpha
SHORT = ((30, 0.4, 0.1), (40, 0.3, 0.0), (40, 0.3, 0.1), (48, 0.17, 0.0), (48, 0.4, 0.1), (60, 0.25, 0.05))
LONG = ((100, 3, (0.5, 0.5), 3.0), (100, 3, (0.5, 0.5), 4.0), (200, 3, (2, 1), 3.0))
EXPERIMENTS = 200
USEFUL = (0.1, 0.3, 0.5)
MARKS = (1, 3, 5, 10, 20, 30, 100, 300)

Division = Callable[[int], float]


def delayed(delay: int) -> Division:
    whole = math.pi**2 / 6 - sum(1 / place**2 for place in range(1, delay + 1))
    return lambda place: 1 / ((place + delay) ** 2 * whole)


def with_first(share: float, shrink: float, rest: Division) -> Division:
    """A share for the first trials alone, each with so much less than the one before, and the rest as it is."""
    return lambda place: share * (1 - shrink) * shrink ** (place - 1) + (1 - share) * rest(place)


DIVISIONS: dict[str, Division] = {
    "even (before)": delayed(10),
    "**early (now)**": part,
    "delay of 5": delayed(5),
    "delay of 3": delayed(3),
    "delay of 2": delayed(2),
    "a tenth for the first": with_first(0.1, 0.5, delayed(10)),
    "three tenths": with_first(0.3, 0.5, delayed(10)),
    "four tenths": with_first(0.4, 0.5, delayed(10)),
    "a fifth, falling by .7": with_first(0.2, 0.7, delayed(10)),
    "three tenths, delay of 20": with_first(0.3, 0.5, delayed(20)),
}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    curves = list(powers())
    base: list[float] = []
    print("True changes accepted within so many trials, even = 1; in brackets the mean false share of 300\n")
    print("| division | rate of trials 1, 2, 3, 10 | " + " | ".join(str(mark) for mark in MARKS) + " |")
    print("|---|---|" + "--:|" * len(MARKS))
    for name, division in DIVISIONS.items():
        parts = [division(place) for place in range(1, MARKS[-1] + 2)]
        found, false = mean_series(curves, parts, count)
        base = base or found
        rates = " ".join(f"{SHARE * parts[place - 1]:.4f}" for place in (1, 2, 3, 10))
        cells = [f"{mine / other:.2f}" for mine, other in zip(found, base, strict=True)]
        print(f"| {name} | {rates} | " + " | ".join(cells) + f" ({false:.3f}) |", flush=True)


def powers() -> Iterator[list[float]]:
    """For each kind of trial, how often it accepts at each of the rates."""
    generator = random.Random(7)
    for cases, win, loss in SHORT:
        yield accepts([short(generator, cases, win, loss) for _ in range(EXPERIMENTS)])
    for cases, seeds, pass_rates, size in LONG:
        shift = calibrated(generator, cases, seeds, pass_rates, size)
        yield accepts([experiment(generator, cases, seeds, pass_rates, shift) for _ in range(EXPERIMENTS)])


def accepts(drawn: Sequence[list[float]]) -> list[float]:
    """The share that the gate accepts at each rate: it looks after every case, as a trial does."""
    return [
        fmean(planned_side(one, planned=len(one), alpha=rate).crossed is not None for one in drawn) for rate in RATES
    ]


def power(curve: Sequence[float], rate: float) -> float:
    above = bisect.bisect(RATES, rate)
    if above == 0:
        return curve[0] * rate / RATES[0]
    weight = math.log(rate / RATES[above - 1]) / math.log(RATES[above] / RATES[above - 1])
    return curve[above - 1] * (1 - weight) + curve[above] * weight


def mean_series(curves: Sequence[Sequence[float]], parts: Sequence[float], count: int) -> tuple[list[float], float]:
    """The true accepts within each mark and the false share, over kinds of series; every division has the same luck."""
    found: list[list[int]] = []
    false: list[float] = []
    for useful, number in itertools.product(USEFUL, range(count)):
        helped, wrong = series(random.Random(f"{useful} {number}"), curves, parts, useful)
        found.append([bisect.bisect(helped, mark) for mark in MARKS])
        false.append(wrong / max(len(helped) + wrong, 1))
    return [fmean(column) for column in zip(*found, strict=True)], fmean(false)


def series(
    chance: random.Random, curves: Sequence[Sequence[float]], parts: Sequence[float], useful: float
) -> tuple[list[int], int]:
    """After which trials a true change was accepted, and how many false ones were."""
    least, accepted, others = [0.0], 0, 0
    helped: list[int] = []
    for trial in range(1, MARKS[-1] + 1):
        rate = level(least, accepted, others, parts)
        helps, curve, luck = chance.random() < useful, chance.choice(curves), chance.random()
        if luck >= (power(curve, rate) if helps else rate):
            others += 1
            continue
        taken = [known + parts[others + place] / rate for place, known in enumerate(least)]
        least = [0.0, *map(min, [*least[1:], math.inf], taken)]
        accepted += 1
        if helps:
            helped.append(trial)
    return helped, accepted - len(helped)


def level(least: Sequence[float], accepted: int, others: int, parts: Sequence[float]) -> float:
    owed = 1 / (SHARE * (accepted + 1))
    rates = [
        parts[others + place] / ((place + 1) * owed - held)
        for place, held in enumerate(least)
        if held < (place + 1) * owed
    ]
    return min(ALPHA, *rates)


if __name__ == "__main__":
    main()
