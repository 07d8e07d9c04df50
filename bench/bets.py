"""Which bets find most in long trials, on simulated experiments only: `python bench/bets.py [ROUNDS]`.

Trials of more than 100 cases aim their bets at the plan (decision 10). Shorter ones have an exact look at their end
(decision 26), which `bench/looks.py` simulates; here they are looked at in many orders, which must not matter.
"""

import functools
import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist, fmean, pstdev

from whet.evidence.betting import BETS, PRIOR_CASES, PRIOR_SQUARE, STEADY, aimed, constant
from whet.evidence.verdicts import planned_side

GOALS = (20.0, 115.0)
CASES = (150, 200, 500, 1000)
SEEDS = (1, 3, 6)
PASS_RATES = ((0.4, 0.15), (0.5, 0.5), (2, 1), (1, 4))  # a case's chance to pass is drawn from such a beta distribution
MODERATE, LARGE = 3.0, 6.0  # effects in standard errors of the mean
CASES_TO_CALIBRATE = 8000

ORDER_GOALS = (20.0, 53.0, 115.0)
COUNTS = ((8, 0, 48), (13, 5, 40), (18, 5, 40), (20, 7, 48))  # wins, losses, cases: in orders drawn by chance

Differences = list[float]
Strategy = Callable[[Differences, float], Iterator[float]]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    planned_experiments(rounds)
    orders(5 * rounds)


def planned_experiments(rounds: int) -> None:
    kinds = list(itertools.product(CASES, SEEDS, PASS_RATES))
    found: dict[tuple[str, float], list[float]] = {}
    run: dict[tuple[str, float], list[float]] = {}
    for number, (cases, seeds, rates) in enumerate(kinds):
        generator = random.Random(number)
        for size, kept in ((MODERATE, found), (LARGE, run)):
            shift = calibrated(generator, cases, seeds, rates, size)
            for _ in range(rounds if size == MODERATE else rounds // 3):
                differences = experiment(generator, cases, seeds, rates, shift)
                for (name, strategy), goal in itertools.product(STRATEGIES.items(), GOALS):
                    reached = crossing(strategy(differences, goal), goal)
                    one = float(reached is not None) if size == MODERATE else (reached or cases) / cases
                    kept.setdefault((name, goal), []).append(one)
                if size == MODERATE:
                    for goal in GOALS:
                        kept.setdefault(("z-test, one look", goal), []).append(float(is_significant(differences, goal)))
    print(f"{len(kinds)} kinds of experiments, {rounds} of each: found at 3 standard errors, share run at 6\n")
    print("| bets | " + " | ".join(f"{goal:.0f}" for goal in GOALS) + " |\n|---|" + "--:|" * len(GOALS))
    for name in dict.fromkeys(name for name, _ in found):
        shares = [f"{fmean(found[name, goal]):.3f}, {fmean(run.get((name, goal), [1.0])):.2f}" for goal in GOALS]
        print(f"| {name} | " + " | ".join(shares) + " |", flush=True)


def orders(rounds: int) -> None:
    """The same outcomes in many orders: how much is luck, by the gate in force and by the bets before it."""
    print("\nThe same outcomes, one seed, in orders drawn by chance: share accepted, gate in force / aimed bets\n")
    heads = " | ".join(f"goal {goal:.0f}" for goal in ORDER_GOALS)
    print(f"| wins, losses, cases | 1/p | {heads} |\n|---|--:|" + "--:|" * len(ORDER_GOALS))
    for wins, losses, cases in COUNTS:
        generator = random.Random(wins)
        outcomes = [1.0] * wins + [-1.0] * losses + [0.0] * (cases - wins - losses)
        drawn = [generator.sample(outcomes, cases) for _ in range(rounds)]
        cells = []
        for goal in ORDER_GOALS:
            now = fmean(planned_side(one, planned=cases, alpha=1 / goal).crossed is not None for one in drawn)
            before = fmean(max(aimed(one, planned=cases, goal=goal)) >= goal for one in drawn)
            cells.append(f"{now:.2f} / {before:.2f}")
        print(f"| {wins}, {losses}, {cases} | {1 / sign_test(outcomes):.0f} | " + " | ".join(cells) + " |", flush=True)


def agrapa(differences: Differences, _goal: float) -> Iterator[float]:
    """The bet that would have grown fastest so far, by its usual approximation."""
    capital, total, squares = 1.0, 0.0, 0.25
    for difference in differences:
        capital *= 1 + max(0.0, min(0.9, total / squares)) * difference
        total, squares = total + difference, squares + difference**2
        yield capital


def many_high(differences: Differences, _goal: float) -> Iterator[float]:
    """Constant bets weighted as in the mixture of Krichevsky and Trofimov over chances above a half: many high ones."""
    sizes = [math.sin(math.pi / 2 * (step + 0.5) / 60) for step in range(60)]
    held = [1 / len(sizes)] * len(sizes)
    for difference in differences:
        held = [part * (1 + size * difference) for part, size in zip(held, sizes, strict=True)]
        yield sum(held)


def star(rest: float) -> float:
    """How bold to be when so small a share of the goal is held: as `betting` has it."""
    return math.sqrt(-2 * math.log(rest))


def hedge(rest: float) -> float:
    """The same for one who is paid at the end alone, if the goal is reached: the best where the variance is known."""
    normal = NormalDist()
    return normal.pdf(normal.inv_cdf(rest)) / rest


def variant(
    *,
    steady: float = STEADY,
    square: float = PRIOR_SQUARE,
    weight: float = PRIOR_CASES,
    cap: float = 1.0,
    boldness: Callable[[float], float] = star,
) -> Strategy:
    """Aimed bets with other constants."""

    def strategy(differences: Differences, goal: float) -> Iterator[float]:
        held = [steady * part for _, part in BETS]
        kept, bold, squares = steady, 1 - steady, square * weight
        for done, difference in enumerate(differences):
            if 0 < bold < goal - kept:
                left = squares / (weight + done) * (len(differences) - done)
                bold *= 1 + min(cap, boldness(bold / (goal - kept)) / math.sqrt(left)) * difference
            held = [part * (1 + size * difference) for part, (size, _) in zip(held, BETS, strict=True)]
            kept, squares = sum(held), squares + difference**2
            yield kept + bold

    return strategy


STRATEGIES: dict[str, Strategy] = {
    "constant": lambda given, _: constant(given),
    "constant, many high ones": many_high,
    "aGRAPA": agrapa,
    "aimed": lambda given, goal: aimed(given, planned=len(given), goal=goal),
    "aimed, prior square .25": variant(square=0.25),
    "aimed, prior square .15": variant(square=0.15),
    "aimed, prior for 12 cases": variant(weight=12),
    "aimed with all capital": variant(steady=0.0),
    "aimed with three quarters": variant(steady=0.25),
    "aimed with half": variant(steady=0.5),
    "aimed, never more than .9": variant(cap=0.9),
    "aimed, paid at the end": variant(boldness=hedge),
}


def crossing(capitals: Iterator[float], goal: float) -> int | None:
    return next((done for done, capital in enumerate(capitals, start=1) if capital >= goal), None)


def short(generator: random.Random, cases: int, win: float, loss: float) -> Differences:
    draws = [generator.random() for _ in range(cases)]
    return [1.0 if draw < win else -1.0 if draw < win + loss else 0.0 for draw in draws]


def sign_test(differences: Differences) -> float:
    """The one-sided p of the exact sign test, which may look once."""
    return _tail(sum(each > 0 for each in differences), sum(each < 0 for each in differences))


@functools.cache
def _tail(wins: int, losses: int) -> float:
    moved = wins + losses
    return sum(math.comb(moved, count) for count in range(wins, moved + 1)) / (1 << moved)


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


def is_significant(differences: Differences, goal: float) -> bool:
    deviation = pstdev(differences)
    z = fmean(differences) / deviation * math.sqrt(len(differences)) if deviation else 0.0
    return z > NormalDist().inv_cdf(1 - 1 / goal)


if __name__ == "__main__":
    main()
