"""How much of the capital one exact look should cost, on simulated short trials only: `python bench/looks.py [ROUNDS]`.

20 to 60 cases, 1 and 3 seeds, effects of 5 to 30 points, changes that only help and changes that help and harm. The
choice is decision 26; `bench/gate.py` confirms it on real runs. At the end, where alpha does not hold: changes of three
seeds that gain one in many cases and lose all three in a few, so that their mean is 0.
"""

import itertools
import math
import random
import sys
from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

from whet.evidence.betting import aimed, constant, paid, tail
from whet.evidence.verdicts import planned_side

ALPHAS = (0.05, 0.019)
CASES = (20, 30, 40, 50, 60)
SEEDS = (1, 3)
EFFECTS = (0.05, 0.1, 0.15, 0.2, 0.3)
PASS_RATES = ((0.3, 0.3), (0.5, 0.2), (0.2, 0.5), (2.0, 2.0))  # a case's chance to pass is drawn from such a beta
PRICES = (0.97, 0.95, 0.9, 0.8, 0.5)
KINDS = {"only helps": 0.0, "helps and harms": 0.4, "does nothing": -1.0}
LOSING = (0.03, 0.05, 0.08, 0.12, 0.2)  # shares of cases that lose all three seeds; three times as many gain one
SECOND = 0.616  # the error rate of a second trial under the budget, as a share of the first one's

Differences = list[float]


class Ended(NamedTuple):
    """How a trial ended: whether it was accepted, the capital that is left, and the share of its cases that was run."""

    accepted: bool
    capital: float
    run: float


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("Accepted in one trial; in two, the second on as many new cases; share of the cases run in the first\n")
    for kind, seeds in itertools.product(KINDS, SEEDS):
        drawn = list(pairs(kind, seeds, rounds))
        print(f"\n### {kind}, {seeds} seeds, {len(drawn):,} pairs of trials\n")
        print("| rule | " + " | ".join(f"alpha {alpha}" for alpha in ALPHAS) + " |\n|---|" + "--:|" * len(ALPHAS))
        print("| exact sign test, one look | " + " | ".join(f"{share(drawn, a):.3f}" for a in ALPHAS) + " |")
        print("| aimed bets (before) | " + " | ".join(f"{aiming(drawn, alpha):.3f}" for alpha in ALPHAS) + " |")
        print("| look at all capital, then a trial anew | " + " | ".join(anew(drawn, a) for a in ALPHAS) + " |")
        for price in PRICES:
            cells = [continued(drawn, alpha, price) for alpha in ALPHAS]
            print(f"| a look for {price}, continued | " + " | ".join(cells) + " |", flush=True)
    lopsided(50 * rounds)


def lopsided(rounds: int) -> None:
    """A mean of 0 with rare great losses: how often it is accepted, by the gate in force and by its bets alone."""
    print("\n### mean 0: one seed of three gained in many cases, all three lost in few; alpha 0.05\n")
    print("| cases | " + " | ".join(f"lost in {losing:.0%}" for losing in LOSING) + " |\n|--:|" + "--:|" * len(LOSING))
    for cases in CASES:
        cells = []
        for losing in LOSING:
            source = random.Random(f"lopsided {cases} {losing}")
            draws = [[source.random() for _ in range(cases)] for _ in range(rounds)]
            drawn = [[-1.0 if d < losing else 1 / 3 if d < 4 * losing else 0.0 for d in each] for each in draws]
            now = fmean(planned_side(one, planned=cases, alpha=ALPHAS[0]).crossed is not None for one in drawn)
            bets = fmean(max(constant(one)) >= 1 / ALPHAS[0] for one in drawn)
            cells.append(f"{now:.3f} ({bets:.3f})")
        print(f"| {cases} | " + " | ".join(cells) + " |", flush=True)


def pairs(kind: str, seeds: int, rounds: int) -> Iterator[tuple[Differences, Differences]]:
    source = random.Random(f"{kind} {seeds}")
    effects = EFFECTS if KINDS[kind] >= 0 else (0.0,)
    for cases, rates, effect in itertools.product(CASES, PASS_RATES, effects):
        for _ in range(rounds * len(EFFECTS) // len(effects)):
            one, other = (experiment(source, cases, seeds, rates, effect, KINDS[kind]) for _ in range(2))
            yield one, other


def experiment(
    source: random.Random, cases: int, seeds: int, rates: tuple[float, float], effect: float, harm: float
) -> Differences:
    """Some cases become nearly sure to pass, some nearly sure to fail, the others stay as they are."""
    rate = rates[0] / sum(rates)
    lost = max(0.0, effect * harm)
    better = min(0.95, (effect + lost) / (1 - rate) / 0.9)
    worse = min(1 - better, lost / rate / 0.9)
    found = []
    for _ in range(cases):
        before, luck = source.betavariate(*rates), source.random()
        after = before + 0.9 * (1 - before) if luck < better else before / 10 if luck < better + worse else before
        gained = sum((source.random() < after) - (source.random() < before) for _ in range(seeds))
        found.append(gained / seeds)
    return found


def share(drawn: list[tuple[Differences, Differences]], alpha: float) -> float:
    return fmean(tail([math.copysign(1.0, x) if x else 0.0 for x in one]).reached <= alpha for one, _ in drawn)


def aiming(drawn: list[tuple[Differences, Differences]], alpha: float) -> float:
    return fmean(max(aimed(one, planned=len(one), goal=1 / alpha)) >= 1 / alpha for one, _ in drawn)


def anew(drawn: list[tuple[Differences, Differences]], alpha: float) -> str:
    first = [tail(one).reached <= alpha for one, _ in drawn]
    both = [done or tail(two).reached <= SECOND * alpha for done, (_, two) in zip(first, drawn, strict=True)]
    return f"{fmean(first):.3f}; {fmean(both):.3f}"


def continued(drawn: list[tuple[Differences, Differences]], alpha: float, price: float) -> str:
    first = [trial(one, 1.0, alpha, price) for one, _ in drawn]
    both = [
        done.accepted or trial(two, done.capital, alpha, price).accepted
        for done, (_, two) in zip(first, drawn, strict=True)
    ]
    return f"{fmean(each.accepted for each in first):.3f}; {fmean(both):.3f}; {fmean(each.run for each in first):.2f}"


def trial(differences: Differences, capital: float, alpha: float, price: float) -> Ended:
    """As `whet.evidence.verdicts` has it, with another price."""
    goal, held = 1 / alpha, capital
    for done, won in enumerate(constant(differences), start=1):
        held = capital * (price + (1 - price) * won)
        if held >= goal:
            return Ended(True, held, done / len(differences))
    held += paid(differences, price=price * capital, goal=goal) - price * capital
    return Ended(held >= goal, held, 1.0)


if __name__ == "__main__":
    main()
