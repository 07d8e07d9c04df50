"""How often a removal is called harmless that costs the margin exactly: looked at after every case.

`python bench/margins.py` draws experiments in which so many fewer cases pass without the statement as the margin says,
and prints the share that is accepted at any look (at most alpha, if the bets hold), beside the share for a
statement that does nothing, and how many cases that takes.
"""

import random
import sys
from statistics import fmean

from whet.evidence.verdicts import Ruling, cases_to_show, judge, within_margin

ALPHA = 0.05
EXPERIMENTS = 4_000
SEEDS = (1, 3)


def drawn(chance: random.Random, cases: int, seeds: int, *, base: float, loss: float) -> list[float]:
    """Differences of one experiment: each case has a pass rate of its own, and loses the same share without it."""
    found: list[float] = []
    for _ in range(cases):
        rate = min(max(chance.gauss(base, 0.15), loss), 1.0)
        with_it = sum(chance.random() < rate for _ in range(seeds))
        without = sum(chance.random() < rate - loss for _ in range(seeds))
        found.append((without - with_it) / seeds)
    return found


def main(experiments: int) -> None:
    chance = random.Random(20_260)
    print("margin  cases  seeds  passes | accepted at the margin | does nothing: accepted, after cases (least)")
    for margin, cases in ((0.05, 200), (0.1, 60), (0.1, 120), (0.2, 40)):
        for seeds in SEEDS:
            for base in (0.9, 0.6):
                rows = []
                for loss in (margin, 0.0):
                    accepted = []
                    for _ in range(experiments):
                        found = drawn(chance, cases, seeds, base=base, loss=loss)
                        verdict = within_margin(judge([], planned=cases), found, margin, planned=cases)
                        if verdict.ruling is Ruling.ACCEPT and verdict.stopped_at is not None:
                            accepted.append(verdict.stopped_at)
                    rows.append((len(accepted) / experiments, fmean(accepted) if accepted else 0.0))
                (false, _), (right, after) = rows
                least = cases_to_show(margin, ALPHA)
                print(
                    f"{margin:6.0%} {cases:6} {seeds:6} {base:7.0%} | {false:10.2%} of {ALPHA:.0%}      |"
                    f" {right:6.0%} after {after:5.0f} ({least})"
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS)
