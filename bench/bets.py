"""Which bets find most, on simulated experiments only: `python bench/bets.py [ROUNDS]`. The choice is decision 10."""

import functools
import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist, fmean, pstdev, quantiles

from whet.evidence.betting import BETS, PRIOR_CASES, PRIOR_SQUARE, STEADY, aimed, constant

GOALS = (20.0, 115.0)
CASES = (20, 50, 100, 200, 500, 1000)
SEEDS = (1, 3, 6)
PASS_RATES = ((0.4, 0.15), (0.5, 0.5), (2, 1), (1, 4))  # a case's chance to pass is drawn from such a beta distribution
MODERATE, LARGE = 3.0, 6.0  # effects in standard errors of the mean
CASES_TO_CALIBRATE = 8000

SHORT_GOALS = (20.0, 50.0, 115.0, 500.0)
SHORT_CASES = (20, 30, 40, 48, 60)
ONE_SIDED = ((0.17, 0.0), (0.2, 0.0), (0.3, 0.0), (0.5, 0.0))  # chances of a win and of a loss, one seed
MIXED = ((0.25, 0.05), (0.3, 0.1), (0.35, 0.05), (0.4, 0.1), (0.45, 0.15), (0.6, 0.1))
COUNTS = ((8, 0, 48), (13, 5, 40), (18, 5, 40), (20, 7, 48))  # wins, losses, cases: in orders drawn by chance

Differences = list[float]
Strategy = Callable[[Differences, float], Iterator[float]]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    planned_experiments(rounds)
    short_experiments(rounds)
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


def short_experiments(rounds: int) -> None:
    """One seed, few cases, effects of many points."""
    for label, kinds in (("only wins", ONE_SIDED), ("wins and losses", MIXED)):
        print(f"\n20 to 60 cases, one seed, {label}: found, share of cases run\n")
        print("| bets | " + " | ".join(f"{goal:.0f}" for goal in SHORT_GOALS) + " |\n|---|" + "--:|" * len(SHORT_GOALS))
        drawn = []
        for number, (cases, (win, loss)) in enumerate(itertools.product(SHORT_CASES, kinds)):
            generator = random.Random(f"{label} {number}")
            drawn += [short(generator, cases, win, loss) for _ in range(rounds)]
        best = [fmean(sign_test(one) <= 1 / goal for one in drawn) for goal in SHORT_GOALS]
        print("| exact sign test, one look | " + " | ".join(f"{share:.3f}, 1.00" for share in best) + " |")
        for name, strategy in STRATEGIES.items():
            cells = []
            for goal in SHORT_GOALS:
                stops = [(crossing(strategy(one, goal), goal), len(one)) for one in drawn]
                found = fmean(stop is not None for stop, _ in stops)
                cells.append(f"{found:.3f}, {fmean((stop or cases) / cases for stop, cases in stops):.2f}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def orders(rounds: int) -> None:
    """The same outcomes in many orders: how much is luck."""
    print(
        "\nThe same outcomes in orders drawn by chance: share that reaches the goal; evidence at the end, 10 %, half\n"
    )
    print("| wins, losses, cases | 1/p | goal | " + " | ".join(SHOWN) + " |\n|---|--:|--:|" + "--:|" * len(SHOWN))
    for (wins, losses, cases), goal in itertools.product(COUNTS, (20.0, 50.0, 115.0)):
        generator = random.Random(wins)
        outcomes = [1.0] * wins + [-1.0] * losses + [0.0] * (cases - wins - losses)
        drawn = [generator.sample(outcomes, cases) for _ in range(rounds)]
        cells = []
        for name in SHOWN:
            ways = [list(STRATEGIES[name](one, goal)) for one in drawn]
            reached = fmean(max(way) >= goal for way in ways)
            low, *_, middle = quantiles((way[-1] for way in ways), n=10)[:5]
            cells.append(f"{reached:.2f}; {low:.1f}, {middle:.1f}")
        likely = 1 / sign_test(outcomes)
        print(f"| {wins}, {losses}, {cases} | {likely:.0f} | {goal:.0f} | " + " | ".join(cells) + " |", flush=True)


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
SHOWN = ("aimed", "aimed, prior square .25")


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
