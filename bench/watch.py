"""How often the watch reverts and promotes: rules that harm, help and do nothing, in simulated live sessions.

    python bench/watch.py [--rules 1000] [--sessions 2000]

Every rule is looked at after every session, for as long as it runs. Beside it, on the same sessions: a test of two
means at 5 %, asked after every tenth session, which is what a dashboard with a p-value does.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator
from statistics import NormalDist, median
from typing import NamedTuple

from whet.canaries import Decided, Decision, Observation, decide, is_told, moves_of

Live = Callable[[random.Random, int, bool], float]
LOOK_EVERY = 10
LEAST = 10


class World(NamedTuple):
    """Sessions as they come: how badly one goes, by its number and by whether it was told."""

    name: str
    truth: Decision
    live: Live
    share: float = 0.5


def failing(rate: float, change: float) -> Live:
    """Sessions that fail or do not."""
    return lambda chance, _, told: float(chance.random() < rate + change * told)


def scored(mean: float, change: float) -> Live:
    """Sessions with a failure score, mostly near 0 and sometimes near 1, as real ones have."""

    def live(chance: random.Random, _: int, told: bool) -> float:
        centre = mean + change * told
        return chance.betavariate(2 * centre, 2 * (1 - centre))

    return live


def drifting(chance: random.Random, number: int, _: bool) -> float:
    """Weeks in which everything fails, and weeks in which nothing does."""
    return float(chance.random() < 0.3 + 0.25 * math.sin(number / 60))


WORLDS = (
    World("does nothing, 30 % fail", Decision.WAIT, failing(0.3, 0)),
    World("does nothing, 5 % fail", Decision.WAIT, failing(0.05, 0)),
    World("does nothing, scores around 0.35", Decision.WAIT, scored(0.35, 0)),
    World("does nothing, good and bad weeks", Decision.WAIT, drifting),
    World("does nothing, told to 10 %", Decision.WAIT, failing(0.3, 0), 0.1),
    World("harms: 30 % fail, with it 40 %", Decision.REVERT, failing(0.3, 0.1)),
    World("harms: 30 % fail, with it 50 %", Decision.REVERT, failing(0.3, 0.2)),
    World("harms: 10 % fail, with it 30 %", Decision.REVERT, failing(0.1, 0.2)),
    World("harms: scores 0.35, with it 0.5", Decision.REVERT, scored(0.35, 0.15)),
    World("harms: 30 % fail, with it 50 %, told to 10 %", Decision.REVERT, failing(0.3, 0.2), 0.1),
    World("helps: 30 % fail, with it 15 %", Decision.PROMOTE, failing(0.3, -0.15)),
)


def observed(world: World, rule: int, sessions: int) -> Iterator[Observation]:
    """The sessions of one rule, drawn as real ones are: by the hash of the rule and the session."""
    chance = random.Random(f"{world.name}/{rule}")
    for number in range(sessions):
        told = is_told(f"rule-{rule}", f"session-{number}", world.share)
        yield Observation(told, world.live(chance, number, told))


def followed(world: World, rule: int, sessions: int) -> Decided:
    return decide(moves_of(observed(world, rule, sessions), share=world.share))


def peeked(observations: tuple[Observation, ...]) -> Decision:
    """What somebody does who looks at a p-value again and again."""
    sums: dict[bool, tuple[int, float, float]] = {True: (0, 0.0, 0.0), False: (0, 0.0, 0.0)}
    for number, each in enumerate(observations, start=1):
        count, total, squares = sums[each.told]
        sums[each.told] = (count + 1, total + each.loss, squares + each.loss**2)
        if number % LOOK_EVERY or min(count for count, _, _ in sums.values()) < LEAST:
            continue
        means = {told: total / count for told, (count, total, _) in sums.items()}
        spread = math.sqrt(sum((squares / n - (total / n) ** 2) / n for n, total, squares in sums.values()))
        if spread and 2 * (1 - NormalDist().cdf(abs(means[True] - means[False]) / spread)) < 0.05:
            return Decision.REVERT if means[True] > means[False] else Decision.PROMOTE
    return Decision.WAIT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=1000)
    parser.add_argument("--sessions", type=int, default=2000)
    given = parser.parse_args()
    print(f"{given.rules} rules, {given.sessions} sessions each, looked at after every session\n")
    print(f"{'the rule':48} {'reverted':>8} {'promoted':>8} {'sessions':>8}   p < 5 %: {'reverted':>8} {'promoted':>8}")
    for world in WORLDS:
        found = [followed(world, rule, given.sessions) for rule in range(given.rules)]
        rivals = [peeked(tuple(observed(world, rule, given.sessions))) for rule in range(given.rules)]
        right = [each.at for each in found if each.at and each.decision is world.truth]
        shares = [sum(each.decision is side for each in found) / given.rules for side in SIDES]
        others = [sum(each is side for each in rivals) / given.rules for side in SIDES]
        print(
            f"{world.name:48} {shares[0]:8.1%} {shares[1]:8.1%} {median(right) if right else 0:8.0f}"
            f"            {others[0]:8.1%} {others[1]:8.1%}",
            flush=True,
        )


SIDES = (Decision.REVERT, Decision.PROMOTE)

if __name__ == "__main__":
    main()
