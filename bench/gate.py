"""False accepts and power of the gate on real runs, beside rules that others use: `python bench/gate.py [ROUNDS]`.

The bets were chosen on simulated experiments only, so every case here is held out.
"""

import csv
import functools
import math
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from whet.evidence.betting import aimed, constant, mcnemar, tail
from whet.evidence.verdicts import Ruling, judge_once, planned_side

ALPHA = 0.05
GOAL = 1 / ALPHA
SIZES = (13, 50, 100, 190)
ALL = 200
SHORT = (20, 30, 40, 50, 60)
LOOK = 5  # the rivals are looked at after every fifth case only, which spares them some false accepts
SEEDS = (1, 3, 6)

Outcomes = dict[str, dict[str, dict[str, float]]]  # arm → case → seed → passed
Differences = list[float]
Rule = Callable[[Differences], bool]


class Source(NamedTuple):
    """How differences are drawn: a name, and a function from a number of cases and a generator."""

    name: str
    draw: Callable[[int, random.Random], Differences]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    path = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "gate" / "ag2_gpt4.csv"
    if not path.exists():
        sys.exit(f"{path} is missing: set WHET_BENCH_DATA.")
    outcomes = read(path)
    print(f"{rounds:,} resamples each, alpha {ALPHA}\n")
    false_accepts(outcomes, rounds)
    power(outcomes, rounds)
    short_trials(outcomes, rounds)


def read(path: Path) -> Outcomes:
    outcomes: Outcomes = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            outcomes.setdefault(row["arm"], {}).setdefault(row["case"], {})[row["seed"]] = float(row["passed"])
    return outcomes


def false_accepts(outcomes: Outcomes, rounds: int) -> None:
    """Two sets of attempts of one and the same arm: whatever is accepted is accepted falsely."""
    looks = [(f"{size}", size, at_end) for size in SIZES] + [("peeking to 200", ALL, at_every_look)]
    for seeds in (1, 3):
        for source in (dealt(outcomes, seeds), fixed_sets(outcomes, seeds)):
            print(f"### A/A, {seeds} against {seeds} seeds, {source.name}\n")
            print("| accept when | " + " | ".join(name for name, _, _ in looks) + " |")
            print("|---|" + "--:|" * len(looks))
            for name, rule in rules().items():
                shares = [share(source, rule, size=size, way=way, rounds=rounds) for _, size, way in looks]
                print(f"| {name} | " + " | ".join(f"{100 * each:.1f} %" for each in shares) + " |", flush=True)
            for name, crossing in GATES.items():
                shares = [accepted(source, crossing, size=size, rounds=rounds) for _, size, _ in looks]
                print(f"| {name} | " + " | ".join(f"{100 * each:.1f} %" for each in shares) + " |", flush=True)
            print()


def power(outcomes: Outcomes, rounds: int) -> None:
    for again in (False, True):
        how = "with replacement (bootstrap)" if again else "without replacement, seeds dealt"
        print(f"### Two arms, 200 cases drawn {how}\n")
        print("| rule | seeds | prompt accepted | reversed accepted | topology undecided | cases run (prompt) |")
        print("|---|--:|--:|--:|--:|--:|")
        for name, rule in rules().items():
            better = share(arms(outcomes, "prompt", 1, again), rule, size=ALL, way=at_end, rounds=rounds)
            worse = share(reverse(arms(outcomes, "prompt", 1, again)), rule, size=ALL, way=at_end, rounds=rounds)
            topology = arms(outcomes, "topology", 1, again)
            said = [share(one, rule, size=ALL, way=at_end, rounds=rounds) for one in (topology, reverse(topology))]
            print(f"| {name} | 1 | {better:.3f} | {worse:.4f} | {1 - sum(said):.3f} | {ALL} |", flush=True)
        for name, crossing in GATES.items():
            for seeds in SEEDS:
                print(f"| {name} | {seeds} | {gate_line(outcomes, crossing, seeds, again, rounds)} |", flush=True)
        print()


def short_trials(outcomes: Outcomes, rounds: int) -> None:
    """What few cases find of the better prompt, and how often each rule accepts one arm against itself."""
    ways = {name: at_its_end(rule) for name, rule in rules().items()}
    ways |= {"exact sign test, one look": sign_test, **GATES}
    for seeds in (1, 3):
        print(f"### Short trials, {seeds} seeds: better prompt accepted / one arm against itself (dealt anew)\n")
        print("| accept when | " + " | ".join(str(size) for size in SHORT) + " |")
        print("|---|" + "--:|" * len(SHORT))
        better, same = arms(outcomes, "prompt", seeds, True), dealt(outcomes, seeds)
        for name, crossing in ways.items():
            cells = [
                f"{100 * accepted(better, crossing, size=size, rounds=rounds):.1f} /"
                f" {100 * accepted(same, crossing, size=size, rounds=rounds):.1f}"
                for size in SHORT
            ]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        print()


def at_its_end(rule: Rule) -> "Crossing":
    return lambda differences: len(differences) if rule(differences) else None


def gate_line(outcomes: Outcomes, crossing: "Crossing", seeds: int, again: bool, rounds: int) -> str:
    source, topology = arms(outcomes, "prompt", seeds, again), arms(outcomes, "topology", seeds, again)
    stops = [crossing(one) for one in drawn(source, ALL, rounds)]
    worse = accepted(reverse(source), crossing, size=ALL, rounds=rounds)
    decided = accepted(topology, crossing, size=ALL, rounds=rounds)
    decided += accepted(reverse(topology), crossing, size=ALL, rounds=rounds)
    run = sum(stop or ALL for stop in stops) / len(stops)
    return f"{sum(stop is not None for stop in stops) / rounds:.3f} | {worse:.4f} | {1 - decided:.3f} | {run:.0f}"


Crossing = Callable[[Differences], int | None]


def planned(differences: Differences) -> int | None:
    """A trial: the number of cases is planned, and it is looked at after every case, and exactly at the end."""
    return planned_side(differences, planned=len(differences), alpha=ALPHA).crossed


def aiming(differences: Differences) -> int | None:
    """A trial as it was before: bets that aim at the planned number, and no look of another kind."""
    return _first(aimed(differences, planned=len(differences), goal=GOAL))


def unplanned(differences: Differences) -> int | None:
    """`whet judge --growing` on a file that grows, looked at after every case."""
    return _first(constant(differences))


def one_look(differences: Differences) -> int | None:
    """`whet judge` on the whole file, once: one exact look."""
    return len(differences) if judge_once(differences, alpha=ALPHA).ruling is Ruling.ACCEPT else None


GATES: dict[str, Crossing] = {
    "Whet, planned trial, a look after every case": planned,
    "bets that aim at the plan (Whet before)": aiming,
    "Whet, no plan, a look after every case": unplanned,
    "`whet judge`, one look at all": one_look,
}


def _first(capitals: Iterator[float]) -> int | None:
    return next((done for done, capital in enumerate(capitals, start=1) if capital >= GOAL), None)


def rules() -> dict[str, Rule]:
    return {"the score went up": went_up, "mean > 1 standard error": above_error, "exact McNemar": significant}


def went_up(differences: Differences) -> bool:
    return sum(differences) > 0


def above_error(differences: Differences) -> bool:
    count = len(differences)
    mean = sum(differences) / count
    square = sum((each - mean) ** 2 for each in differences) / (count - 1)
    return mean > math.sqrt(square / count)


def significant(differences: Differences) -> bool:
    """By the sign of each case, which is McNemar's test when there is one seed."""
    wins, losses = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    return wins > losses and exact(wins, losses) <= ALPHA


exact = functools.cache(mcnemar)


def sign_test(differences: Differences) -> int | None:
    """One-sided, by the sign of each case."""
    signs = [math.copysign(1.0, each) if each else 0.0 for each in differences]
    return len(signs) if tail(signs).reached <= ALPHA else None


def at_end(rule: Rule, differences: Differences) -> bool:
    return rule(differences)


def at_every_look(rule: Rule, differences: Differences) -> bool:
    return any(rule(differences[:count]) for count in range(LOOK, len(differences) + 1, LOOK))


def drawn(source: Source, size: int, rounds: int) -> Iterator[Differences]:
    # One generator a source and size: every rule sees the same experiments.
    generator = random.Random(f"{source.name} {size}")
    return (source.draw(size, generator) for _ in range(rounds))


def share(source: Source, rule: Rule, *, size: int, way: Callable[[Rule, Differences], bool], rounds: int) -> float:
    return sum(way(rule, one) for one in drawn(source, size, rounds)) / rounds


def accepted(source: Source, crossing: Crossing, *, size: int, rounds: int) -> float:
    return sum(crossing(one) is not None for one in drawn(source, size, rounds)) / rounds


def arms(outcomes: Outcomes, candidate: str, seeds: int, again: bool) -> Source:
    """The candidate against the base, on seeds dealt anew for each experiment."""
    base, other = outcomes["base"], outcomes[candidate]

    def draw(size: int, generator: random.Random) -> Differences:
        chosen = generator.sample(_seeds(outcomes), seeds)
        return [_paired(base[case], other[case], chosen) for case in _cases(outcomes, size, again, generator)]

    return Source(f"{candidate} {seeds} {again}", draw)


def dealt(outcomes: Outcomes, seeds: int) -> Source:
    """One arm against itself: each case's attempts are dealt to both sides, cases drawn with replacement."""

    def draw(size: int, generator: random.Random) -> Differences:
        arm = outcomes[generator.choice(sorted(outcomes))]
        differences = []
        for case in _cases(outcomes, size, True, generator):
            dealt_out = generator.sample(sorted(arm[case]), len(arm[case]))
            count = min(seeds, len(dealt_out) // 2)
            left, right = dealt_out[:count], dealt_out[count : 2 * count]
            differences.append(sum(arm[case][seed] for seed in left) / count)
            differences[-1] -= sum(arm[case][seed] for seed in right) / count
        return differences

    return Source("dealt anew for every case, cases with replacement", draw)


def fixed_sets(outcomes: Outcomes, seeds: int) -> Source:
    """One arm against itself: some seeds against others, the same for all cases, cases without replacement."""

    def draw(size: int, generator: random.Random) -> Differences:
        arm = outcomes[generator.choice(sorted(outcomes))]
        chosen = generator.sample(_seeds(outcomes), 2 * seeds)
        return [
            _mean(arm[case], chosen[:seeds]) - _mean(arm[case], chosen[seeds:])
            for case in _cases(outcomes, size, False, generator)
        ]

    return Source("the same seeds for all cases, cases without replacement", draw)


def reverse(source: Source) -> Source:
    return Source(source.name, lambda size, generator: [-each for each in source.draw(size, generator)])


def _cases(outcomes: Outcomes, size: int, again: bool, generator: random.Random) -> list[str]:
    cases = sorted(outcomes["base"])
    return generator.choices(cases, k=size) if again else generator.sample(cases, size)


def _seeds(outcomes: Outcomes) -> list[str]:
    return sorted({seed for cases in outcomes.values() for found in cases.values() for seed in found})


def _paired(base: dict[str, float], other: dict[str, float], seeds: Sequence[str]) -> float:
    both = [seed for seed in seeds if seed in base and seed in other]
    return sum(other[seed] - base[seed] for seed in both) / len(both) if both else 0.0


def _mean(found: dict[str, float], seeds: Sequence[str]) -> float:
    there = [found[seed] for seed in seeds if seed in found]
    return sum(there) / len(there) if there else sum(found.values()) / len(found)


if __name__ == "__main__":
    main()
