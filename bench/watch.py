"""How often the watch reverts, promotes and retires: rules and templates in simulated live sessions.

    python bench/watch.py [--rules 1000] [--templates 300] [--sessions 2000] [--recorded 100]

Everything is looked at after every session, for as long as it runs. Beside the rules, on the same sessions: a test of
two means at 5 %, asked after every tenth session, which is what a dashboard with a p-value does. Beside the templates:
the same bets, begun once. With --recorded, so many rules for each set of labelled sessions: each session
loses what a recorded one of the same label lost, and the guard of a live trial looks at it.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from statistics import NormalDist, median
from typing import NamedTuple

from labelled import LABELLED, cases
from whet.evidence.betting import constant
from whet.lessons.rungs import CanaryMove
from whet.trials.canaries import (
    ALPHA,
    ALPHA_GUARD,
    LEAST_EFFECT,
    CanaryDecision,
    Observation,
    decide,
    loss_of,
    mirrored,
    moves_of,
)
from whet.trials.draws import is_told
from whet.trouble.finding import find_trouble

Live = Callable[[random.Random, int, bool], float]
LOOK_EVERY = 10
LEAST = 10


class World(NamedTuple):
    """Sessions as they come: how badly one goes, by its number and by whether it was told."""

    name: str
    truth: CanaryMove
    live: Live
    share: float = 0.5


def failing(rate: float, change: float) -> Live:
    """Sessions that fail or do not."""
    return lambda chance, _, told: float(chance.random() < rate + change * told)


def graded(mean: float, change: float) -> Live:
    """Sessions that lose a part, mostly near 0 and sometimes near 1, as real ones do."""

    def live(chance: random.Random, _: int, told: bool) -> float:
        centre = mean + change * told
        return chance.betavariate(2 * centre, 2 * (1 - centre))

    return live


def drifting(chance: random.Random, number: int, _: bool) -> float:
    """Weeks in which everything fails, and weeks in which nothing does."""
    return float(chance.random() < 0.3 + 0.25 * math.sin(number / 60))


WORLDS = (
    World("does nothing, 30 % fail", CanaryMove.WAIT, failing(0.3, 0)),
    World("does nothing, 5 % fail", CanaryMove.WAIT, failing(0.05, 0)),
    World("does nothing, losses around 0.35", CanaryMove.WAIT, graded(0.35, 0)),
    World("does nothing, good and bad weeks", CanaryMove.WAIT, drifting),
    World("does nothing, told to 10 %", CanaryMove.WAIT, failing(0.3, 0), 0.1),
    World("harms: 30 % fail, with it 40 %", CanaryMove.REVERT, failing(0.3, 0.1)),
    World("harms: 30 % fail, with it 50 %", CanaryMove.REVERT, failing(0.3, 0.2)),
    World("harms: 10 % fail, with it 30 %", CanaryMove.REVERT, failing(0.1, 0.2)),
    World("harms: losses 0.35, with it 0.5", CanaryMove.REVERT, graded(0.35, 0.15)),
    World("harms: 30 % fail, with it 50 %, told to 10 %", CanaryMove.REVERT, failing(0.3, 0.2), 0.1),
    World("helps: 30 % fail, with it 15 %", CanaryMove.PROMOTE, failing(0.3, -0.15)),
)


def observed(world: World, rule: int, sessions: int) -> Iterator[Observation]:
    """The sessions of one rule, drawn as real ones are: by the hash of the rule and the session."""
    chance = random.Random(f"{world.name}/{rule}")
    for number in range(sessions):
        told = is_told(f"rule-{rule}", f"session-{number}", world.share)
        yield Observation(told, world.live(chance, number, told), world.share)


def followed(world: World, rule: int, sessions: int) -> CanaryDecision:
    return decide(moves_of(observed(world, rule, sessions)))


def peeked(observations: tuple[Observation, ...]) -> CanaryMove:
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
            return CanaryMove.REVERT if means[True] > means[False] else CanaryMove.PROMOTE
    return CanaryMove.WAIT


CHANGE = 300


class Course(NamedTuple):
    """What a template does to the failures, by the number of the session; and from which on it ought to go, if ever."""

    name: str
    effect: Callable[[int], float]
    right_from: int | None


COURSES = (
    Course("helps: 30 % fail, with it 10 %", lambda _: 0.2, None),
    Course("just worth it: 30 %, with it 20 %", lambda _: LEAST_EFFECT, None),
    Course("does nothing", lambda _: 0.0, 0),
    Course("harms: 30 %, with it 50 %", lambda _: -0.2, 0),
    Course("helped for 300, then harms", lambda number: 0.2 if number < CHANGE else -0.2, CHANGE),
    Course("helped for 300, then nothing", lambda number: 0.2 if number < CHANGE else 0.0, CHANGE),
)
SHARES: dict[str, Callable[[int], float]] = {
    "0.5": lambda _: 0.5,
    "0.9": lambda _: 0.9,
    "0.5, then 0.9": lambda number: 0.5 if number < CHANGE else 0.9,
}


def drawn(course: Course, share: Callable[[int], float], template: int, sessions: int) -> list[Observation]:
    chance = random.Random(f"{course.name}/{template}")
    found: list[Observation] = []
    for number in range(sessions):
        told = is_told(f"template-{template}", f"session-{number}", share(number))
        rate = 0.3 - course.effect(number) * told
        found.append(Observation(told, float(chance.random() < rate), share(number)))
    return found


def retired_after(observed: Sequence[Observation], *, is_renewed: bool) -> int | None:
    """After how many sessions the bets have enough against the template; begun anew after each praise, or once."""
    against, praising = list(moves_of(mirrored(observed), effect=-LEAST_EFFECT)), list(moves_of(observed))
    start = 0
    while True:
        ended, praised = _crossed(against, start), _crossed(praising, start) if is_renewed else None
        if praised is None or (ended is not None and ended <= praised):
            return ended
        start = praised


def _crossed(moves: Sequence[float], start: int) -> int | None:
    capital = constant(islice(moves, start, None))
    return next((number for number, won in enumerate(capital, start + 1) if won >= 1 / ALPHA), None)


def watch_templates(templates: int, sessions: int) -> None:
    print(f"\n{templates} templates, {sessions} sessions each; anew after each praise, and once\n")
    heading = f"{'wrongly':>8} {'rightly':>8} {'after':>6}"
    print(f"{'the template':36} {'share':14} {heading}   once: {heading}")
    for course in COURSES:
        for label, share in SHARES.items():
            live = [drawn(course, share, template, sessions) for template in range(templates)]
            ends = [[retired_after(each, is_renewed=has) for each in live] for has in (True, False)]
            cells = [_counted(course, each) for each in ends]
            print(f"{course.name:36} {label:14} {cells[0]}            {cells[1]}", flush=True)


def _counted(course: Course, ends: Sequence[int | None]) -> str:
    """The shares that were retired wrongly and rightly, and half of these within how many sessions of its time."""
    change = math.inf if course.right_from is None else course.right_from
    right = [end - change for end in ends if end and end > change]
    wrong = sum(end is not None for end in ends) - len(right)
    return f"{wrong / len(ends):8.1%} {len(right) / len(ends):8.1%} {median(right) if right else 0:6.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=1000)
    parser.add_argument("--templates", type=int, default=300)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--recorded", type=int, default=0)
    given = parser.parse_args()
    if given.rules:
        watch_rules(given.rules, given.sessions)
    if given.templates:
        watch_templates(given.templates, given.sessions)
    if given.recorded:
        watch_recorded(given.recorded, given.sessions)


def watch_recorded(rules: int, sessions: int) -> None:
    """How often the guard reverts rules with which more sessions fail, by the losses of labelled sessions."""
    for name in LABELLED:
        found = ((bool(case.failed), loss_of(find_trouble(case.transcript), ())) for case in cases(name))
        known = [(failed, loss) for failed, loss in found if loss is not None]
        losses = {side: [loss for failed, loss in known if failed is side] for side in (True, False)}
        cells = (_guarded(losses, f"{name}/{change}", (rules, sessions), change) for change in (0.0, 0.2, 0.4))
        print(f"{name:28} fail 30 → 30, 50, 70 %: " + ", ".join(f"{cell:.0%} reverted" for cell in cells), flush=True)


def _guarded(losses: dict[bool, list[float]], seed: str, size: tuple[int, int], change: float) -> float:
    reverted = 0
    for rule in range(size[0]):
        chance = random.Random(f"{seed}/{rule}")
        tolds = (chance.random() < 0.5 for _ in range(size[1]))
        seen = (Observation(told, chance.choice(losses[chance.random() < 0.3 + change * told])) for told in tolds)
        reverted += decide(moves_of(seen), alpha=ALPHA_GUARD).decision is CanaryMove.REVERT
    return reverted / size[0]


def watch_rules(rules: int, sessions: int) -> None:
    print(f"{rules} rules, {sessions} sessions each, looked at after every session\n")
    print(f"{'the rule':48} {'reverted':>8} {'promoted':>8} {'sessions':>8}   p < 5 %: {'reverted':>8} {'promoted':>8}")
    for world in WORLDS:
        found = [followed(world, rule, sessions) for rule in range(rules)]
        rivals = [peeked(tuple(observed(world, rule, sessions))) for rule in range(rules)]
        right = [each.at for each in found if each.at and each.decision is world.truth]
        shares = [sum(each.decision is side for each in found) / rules for side in SIDES]
        others = [sum(each is side for each in rivals) / rules for side in SIDES]
        print(
            f"{world.name:48} {shares[0]:8.1%} {shares[1]:8.1%} {median(right) if right else 0:8.0f}"
            f"            {others[0]:8.1%} {others[1]:8.1%}",
            flush=True,
        )


SIDES = (CanaryMove.REVERT, CanaryMove.PROMOTE)

if __name__ == "__main__":
    main()
