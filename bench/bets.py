"""Which bets find most, on simulated experiments only: `python bench/bets.py [ROUNDS]`. The choice is decision 10."""

import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, pstdev

from whet.betting import aimed, constant

GOAL = 20.0
CASES = (20, 50, 100, 200, 500, 1000)
SEEDS = (1, 3, 6)
PASS_RATES = ((0.4, 0.15), (0.5, 0.5), (2, 1), (1, 4))  # a case's chance to pass is drawn from such a beta distribution
MODERATE, LARGE = 3.0, 6.0  # effects in standard errors of the mean
CASES_TO_CALIBRATE = 8000

Differences = list[float]
Strategy = Callable[[Differences], Iterator[float]]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    kinds = list(itertools.product(CASES, SEEDS, PASS_RATES))
    found: dict[str, list[float]] = {}
    run: dict[str, list[float]] = {}
    for number, (cases, seeds, rates) in enumerate(kinds):
        generator = random.Random(number)
        for size, kept in ((MODERATE, found), (LARGE, run)):
            shift = calibrated(generator, cases, seeds, rates, size)
            for _ in range(rounds if size == MODERATE else rounds // 3):
                differences = experiment(generator, cases, seeds, rates, shift)
                for name, strategy in STRATEGIES.items():
                    reached = crossing(strategy(differences))
                    one = float(reached is not None) if size == MODERATE else (reached or cases) / cases
                    kept.setdefault(name, []).append(one)
                *_, last = constant(differences)
                if size == MODERATE:
                    kept.setdefault("constant, one look at the end", []).append(float(last >= GOAL))
                    kept.setdefault("z-test, one look at the end", []).append(float(z(differences) > 1.645))
    print(f"{len(kinds)} kinds of experiments, {rounds} of each\n")
    print("| bets | effect of 3 standard errors found | share of cases run, 6 standard errors |\n|---|--:|--:|")
    for name, ones in found.items():
        share = f"{fmean(run[name]):.2f}" if name in run else "1.00"
        print(f"| {name} | {fmean(ones):.3f} | {share} |")


def agrapa(differences: Differences) -> Iterator[float]:
    """The bet that would have grown fastest so far, by its usual approximation."""
    capital, total, squares = 1.0, 0.0, 0.25
    for difference in differences:
        capital *= 1 + max(0.0, min(0.9, total / squares)) * difference
        total, squares = total + difference, squares + difference**2
        yield capital


def bold(differences: Differences) -> Iterator[float]:
    """Aimed bets with the whole capital."""
    capital, squares = 1.0, 1.0
    for done, difference in enumerate(differences):
        if 0 < capital < GOAL:
            needed = 2 * math.log(GOAL / capital) / (squares / (4 + done) * (len(differences) - done))
            capital *= 1 + min(1.0, math.sqrt(needed)) * difference
        squares += difference**2
        yield capital


STRATEGIES: dict[str, Strategy] = {
    "constant, a look after every case": constant,
    "aGRAPA, a look after every case": agrapa,
    "aimed with all capital, a look after every case": bold,
    "aimed with nine tenths, a look after every case": lambda given: aimed(given, planned=len(given), goal=GOAL),
}


def crossing(capitals: Iterator[float]) -> int | None:
    return next((done for done, capital in enumerate(capitals, start=1) if capital >= GOAL), None)


def experiment(generator: random.Random, cases: int, seeds: int, rates: Sequence[float], shift: float) -> Differences:
    """Differences of cases whose chances to pass the candidate shifts, by about as much on each, in log-odds."""
    differences = []
    for _ in range(cases):
        before = min(0.999, max(0.001, generator.betavariate(*rates)))
        odds = math.log(before / (1 - before)) + shift + generator.gauss(0, 0.3)
        after = 1 / (1 + math.exp(-odds))
        gained = sum((generator.random() < after) - (generator.random() < before) for _ in range(seeds))
        differences.append(gained / seeds)
    return differences


def calibrated(generator: random.Random, cases: int, seeds: int, rates: Sequence[float], size: float) -> float:
    """The shift whose effect is so many standard errors large."""
    low, high = 0.0, 8.0
    for _ in range(10):
        middle = (low + high) / 2
        sample = experiment(generator, CASES_TO_CALIBRATE, seeds, rates, middle)
        large = fmean(sample) / pstdev(sample) * math.sqrt(cases) >= size
        low, high = (low, middle) if large else (middle, high)
    return high


def z(differences: Differences) -> float:
    deviation = pstdev(differences)
    return fmean(differences) / deviation * math.sqrt(len(differences)) if deviation else 0.0


if __name__ == "__main__":
    main()
