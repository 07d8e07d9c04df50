"""How soon a live trial decides by the rule's own failure, and how often wrongly, in worlds that drift.

    python bench/live.py [--rules 1000] [--sessions 160] [--seed confirm]

Every session is one in the rule's situation. Beside Whet's looks, on the same sessions: bets on each draw by how its
session went, and the bets that are made on losses, both checked after every session; Fisher's test at 5 %,
once after 40 sessions; and whoever has fewer failures after 40. Then a table about the guards, and one about bundles:
lessons that each come up in 2 to 10 % of the sessions, told to the same half of them (`--bundles 0` leaves it out).
"""

import argparse
import itertools
import math
import random
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from whet.evidence.coin_looks import CoinSession, coin_looks
from whet.lessons.rungs import CanaryMove
from whet.trials.canaries import (
    ALPHA_HARM,
    ALPHA_HELP,
    LiveUnit,
    Observation,
    decide,
    judge_endpoint,
    judge_in_bundle,
    moves_of,
)

FIXED, BUNDLE_SESSIONS = 40, 300
ALPHA = 0.01
Rate = Callable[[float, bool], float]
Rival = Callable[[Sequence[CoinSession]], tuple[CanaryMove, int]]
PROMOTE, REVERT, WAIT = CanaryMove.PROMOTE, CanaryMove.REVERT, CanaryMove.WAIT


class Situation(NamedTuple):
    """How often the failure happens, by how far the world has gone from 0 to 1 and by being told."""

    name: str
    truth: CanaryMove
    rate: Rate


def steady(untold: float, told: float) -> Rate:
    return lambda _, is_told: told if is_told else untold


def drifting(base: Callable[[float], float], factor: float = 1.0) -> Rate:
    return lambda gone, is_told: base(gone) * (factor if is_told else 1)


def rising(gone: float) -> float:
    return 0.1 + 0.5 * gone


def falling(gone: float) -> float:
    return 0.6 - 0.5 * gone


def jumping(gone: float) -> float:
    return 0.35 if gone < 0.15 else 0.05 if gone < 0.5 else 0.6


def waving(gone: float) -> float:
    return 0.3 + 0.25 * math.sin(40 * gone)


WORLDS = (
    Situation("35 % → 5 %", PROMOTE, steady(0.35, 0.05)),
    Situation("7 times rarer, rising 10–60 %", PROMOTE, drifting(rising, 1 / 7)),
    Situation("7 times rarer, falling 60–10 %", PROMOTE, drifting(falling, 1 / 7)),
    Situation("7 times rarer, jumping", PROMOTE, drifting(jumping, 1 / 7)),
    Situation("60 % → 10 %", PROMOTE, steady(0.6, 0.1)),
    Situation("35 % → 15 %", PROMOTE, steady(0.35, 0.15)),
    Situation("harm: 5 % → 35 %", REVERT, steady(0.05, 0.35)),
    Situation("harm: 10 % → 60 %", REVERT, steady(0.1, 0.6)),
    Situation("useless, 5 %", WAIT, steady(0.05, 0.05)),
    Situation("useless, 20 %", WAIT, steady(0.2, 0.2)),
    Situation("useless, 35 %", WAIT, steady(0.35, 0.35)),
    Situation("useless, rising 10–60 %", WAIT, drifting(rising)),
    Situation("useless, falling 60–10 %", WAIT, drifting(falling)),
    Situation("useless, jumping 35, 5, 60 %", WAIT, drifting(jumping)),
    Situation("useless, waves 5–55 %", WAIT, drifting(waving)),
)


def live(world: Situation, seed: str, sessions: int) -> list[CoinSession]:
    chance = random.Random(seed)
    found: list[CoinSession] = []
    for index in range(sessions):
        told = chance.random() < 0.5
        found.append(CoinSession(told, chance.random() < world.rate(index / sessions, told)))
    return found


def by_looks(sessions: Sequence[CoinSession]) -> tuple[CanaryMove, int]:
    for look in coin_looks(sessions, share=0.5, alpha_help=ALPHA_HELP, alpha_harm=ALPHA_HARM):
        if look.helped.is_enough or look.harmed.is_enough:
            return (PROMOTE if look.helped.is_enough else REVERT), look.at
    return WAIT, len(sessions)


PAIRS = [(rate, rate * part) for rate in (0.15, 0.25, 0.35, 0.5, 0.7) for part in (0.05, 0.2, 0.45)]


def by_draw_bets(sessions: Sequence[CoinSession]) -> tuple[CanaryMove, int]:
    """Before each draw is looked up, bet on it by how the session went; the capital of a mixture of effects."""
    held = {PROMOTE: [1 / len(PAIRS)] * len(PAIRS), REVERT: [1 / len(PAIRS)] * len(PAIRS)}
    for number, session in enumerate(sessions, start=1):
        for side, parts in held.items():
            odds = (_odds(session, *(pair if side is PROMOTE else pair[::-1])) for pair in PAIRS)
            held[side] = [part * odd for part, odd in zip(parts, odds, strict=True)]
            if sum(held[side]) >= 1 / ALPHA:
                return side, number
    return WAIT, len(sessions)


def _odds(session: CoinSession, untold: float, told: float) -> float:
    rates = (told, untold) if session.failed else (1 - told, 1 - untold)
    return 2 * rates[not session.told] / sum(rates)


def by_score_bets(sessions: Sequence[CoinSession]) -> tuple[CanaryMove, int]:
    found = decide(moves_of(Observation(told, float(failed)) for told, failed in sessions), alpha=ALPHA)
    return found.decision, found.at or len(sessions)


def by_fisher(sessions: Sequence[CoinSession]) -> tuple[CanaryMove, int]:
    first = sessions[:FIXED]
    failed, told = sum(each.failed for each in first), sum(each.told for each in first)
    both = sum(each.failed and each.told for each in first)

    def chance(number: int) -> float:
        return math.comb(told, number) * math.comb(FIXED - told, failed - number) / math.comb(FIXED, failed)

    possible = range(max(0, failed + told - FIXED), min(failed, told) + 1)
    two_sided = sum(chance(each) for each in possible if chance(each) <= chance(both) * (1 + 1e-9))
    if two_sided >= 0.05:
        return WAIT, FIXED
    return (PROMOTE if both * FIXED < failed * told else REVERT), FIXED


def by_fewer(sessions: Sequence[CoinSession]) -> tuple[CanaryMove, int]:
    told, untold = ([each.failed for each in sessions[:FIXED] if each.told is side] for side in (True, False))
    difference = sum(untold) / max(len(untold), 1) - sum(told) / max(len(told), 1)
    return (PROMOTE if difference > 0 else REVERT if difference < 0 else WAIT), FIXED


RIVALS: dict[str, Rival] = {
    "looks": by_looks,
    "draw bets": by_draw_bets,
    "score bets": by_score_bets,
    "Fisher": by_fisher,
    "fewer": by_fewer,
}


def speed(rules: int, length: int, seed: str) -> None:
    print(f"{rules} rules each, up to {length} sessions in the situation; promoted / reverted, median of the right\n")
    print(f"{'the rule':32}" + "".join(f"{name:>24}" for name in RIVALS))
    for world in WORLDS:
        sessions = [live(world, f"{seed}/{world.name}/{number}", length) for number in range(rules)]
        cells = (_cell(world, [rival(each) for each in sessions]) for rival in RIVALS.values())
        print(f"{world.name:32}" + "".join(cells), flush=True)


def _cell(world: Situation, found: Sequence[tuple[CanaryMove, int]]) -> str:
    shares = [sum(move is side for move, _ in found) / len(found) for side in (PROMOTE, REVERT)]
    ends = [at if move is world.truth else math.inf for move, at in found]
    right = "–" if world.truth is WAIT else f"{median(ends):.0f}"
    return f"{shares[0]:9.1%} {shares[1]:6.1%} {right:>7}"


def bound(sessions: int, alpha: float) -> float:
    """The most that any test could promote by then of rules that take 35 % to 5 %, with a steady 20 % as its null."""
    ways: list[tuple[float, float, float]] = []
    for told in range(sessions + 1):
        untold, coin = sessions - told, math.comb(sessions, told) / 2**sessions
        for one in range(told + 1):
            for other in range(untold + 1):
                count = coin * math.comb(told, one) * math.comb(untold, other)
                null = count * 0.2 ** (one + other) * 0.8 ** (sessions - one - other)
                real = count * 0.05**one * 0.95 ** (told - one) * 0.35**other * 0.65 ** (untold - other)
                ways.append((real / null, null, real))
    used = power = 0.0
    for _, null, real in sorted(ways, reverse=True):
        part = min(1.0, (alpha - used) / null)
        used, power = used + part * null, power + part * real
        if part < 1:
            break
    return power


GUARDED = {
    "its failure 35 → 5 %, nothing else": (0.0, 1.0),
    "the same, no check 10 → 50 %": (0.4, 1.0),
    "the same, twice the tokens": (0.0, 2.0),
}


def guards(rules: int, seed: str) -> None:
    print(f"\n{rules} rules each, 300 sessions, of which 40 % in the situation\n")
    for name, (less, factor) in GUARDED.items():
        sessions = (_guarded(f"{seed}/{name}/{number}", less, factor) for number in range(rules))
        found = [judge_endpoint(each, share=0.5) for each in sessions]
        moves = [each.comparison.decision for each in found]
        held = sum(each.comparison.decision is WAIT and bool(each.held_by) for each in found)
        cells = (f"{moves.count(move) / rules:.0%} {word}" for move, word in MOVED)
        print(f"{name:40} {', '.join(cells)}, {held / rules:.0%} held", flush=True)


def _guarded(seed: str, less: float, factor: float) -> list[LiveUnit]:
    chance = random.Random(seed)
    found: list[LiveUnit] = []
    for _ in range(300):
        told = chance.random() < 0.5
        failed = chance.random() < (0.05 if told else 0.35) if chance.random() < 0.4 else None
        unchecked = chance.random() < 0.1 + less * told
        tokens = int(chance.lognormvariate(10, 1) * (factor if told else 1))
        found.append(LiveUnit(told, chance.betavariate(0.7, 1.3), failed, chance.random() < 0.1, unchecked, tokens))
    return found


class Kind(NamedTuple):
    """How often a lesson fails in its situation, untold and told, by how far the world has gone."""

    untold: Callable[[float], float]
    told: Callable[[float], float]


def kind(untold: float, told: float) -> Kind:
    return Kind(lambda _: untold, lambda _: told)


GOOD, FAIR, USELESS, HARMFUL = kind(0.8, 0.2), kind(0.8, 0.5), kind(0.6, 0.6), kind(0.1, 0.8)
BUNDLES: dict[str, Callable[[int], Kind]] = {
    "all 80 → 20 %": lambda _: GOOD,
    "all 80 → 50 %": lambda _: FAIR,
    "half 80 → 20 %, half useless": lambda number: GOOD if number % 2 else USELESS,
    "one harmful (10 → 80 %), others 80 → 20 %": lambda number: GOOD if number else HARMFUL,
    "all useless, 60 %": lambda _: USELESS,
    "all useless, rising 10–60 %": lambda _: Kind(rising, rising),
    "all useless, falling 60–10 %": lambda _: Kind(falling, falling),
    "all useless, jumping 35, 5, 60 %": lambda _: Kind(jumping, jumping),
    "all useless, waves 5–55 %": lambda _: Kind(waving, waving),
    "half harmful (10 → 80 %), half useless": lambda number: HARMFUL if number % 2 else USELESS,
}


def bundles(rounds: int, length: int, seed: str) -> None:
    print(f"\n{rounds} bundles each, up to {length} sessions; lessons that come up in 2 to 10 % of them\n")
    print(f"{'lessons':7} {'their kind':44}{'promoted':>9}{'reverted':>9}{'sessions, median':>18}   kept of each kind")
    for lessons, (name, kind_of) in itertools.product((10, 20), BUNDLES.items()):
        kinds = [kind_of(number) for number in range(lessons)]
        found = [_bundle(kinds, length, f"{seed}/{lessons}/{name}/{number}") for number in range(rounds)]
        moves = [each.move for each in found]
        ends = sorted(each.at if each.move is not WAIT else math.inf for each in found)
        kept = [each.kept for each in found if each.move is PROMOTE]
        shares = (
            f"{word} {sum(one[number] for one in kept for number in members) / len(kept) / len(members):.0%}"
            for word, which in (("80 → 20 %", GOOD), ("80 → 50 %", FAIR), ("useless", USELESS), ("harmful", HARMFUL))
            if kept and (members := [number for number, each in enumerate(kinds) if each is which])
        )
        cells = (moves.count(side) / rounds for side in (PROMOTE, REVERT))
        print(f"{lessons:7} {name:44}" + "".join(f"{cell:9.1%}" for cell in cells), end="")
        print(f"{ends[len(ends) // 2]:18.0f}   {', '.join(shares)}", flush=True)


class BundleEnd(NamedTuple):
    """What became of a bundle, after how many sessions, and which of its lessons were kept."""

    move: CanaryMove
    at: int
    kept: tuple[bool, ...] = ()


def _bundle(kinds: Sequence[Kind], length: int, seed: str) -> BundleEnd:
    """As the watch does it, looking after every session in which a look is due."""
    chance = random.Random(seed)
    often = [chance.uniform(0.02, 0.1) for _ in kinds]
    told, came = [], []
    for index in range(length):
        told.append(chance.random() < 0.5)
        came.append(
            [_failed(each, rate, chance, index / length, told[-1]) for each, rate in zip(kinds, often, strict=True)]
        )
    counts = [None if all(each is None for each in one) else sum(each or 0 for each in one) for one in came]
    seen = [index for index, each in enumerate(counts) if each is not None]
    sessions = [CoinSession(told[index], counts[index] or 0) for index in seen]
    move, at = by_looks(sessions)
    if move is WAIT:
        return BundleEnd(WAIT, length)
    end = seen[at - 1] + 1
    own = [
        [LiveUnit(side, 0.0, each[number]) for side, each in zip(told, came, strict=True)]
        for number in range(len(kinds))
    ]
    return BundleEnd(move, end, tuple(_is_kept(each, end, move, len(kinds)) for each in own))


def _is_kept(units: Sequence[LiveUnit], end: int, move: CanaryMove, lessons: int) -> bool:
    """Whether a lesson is promoted with its bundle, or later, when something is known of it."""
    ends = (end, *(at for at in range(end + 1, len(units) + 1) if units[at - 1].failed))
    looks = (judge_in_bundle(units[:at], move, lessons=lessons, share=0.5) for at in ends)
    return next((each.decision is PROMOTE for each in looks if each.decision is not WAIT), False)


def _failed(kind: Kind, often: float, chance: random.Random, gone: float, told: bool) -> bool | None:
    if chance.random() >= often:
        return None
    return chance.random() < (kind.told if told else kind.untold)(gone)


MOVED = ((PROMOTE, "promoted"), (REVERT, "reverted"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=1000)
    parser.add_argument("--guarded", type=int, default=100)
    parser.add_argument("--bundles", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=160)
    parser.add_argument("--seed", default="confirm")
    given = parser.parse_args()
    if given.rules:
        speed(given.rules, given.sessions, given.seed)
    print("\nWhat no test could pass: " + "; ".join(f"{bound(n, ALPHA):.0%} by session {n}" for n in (30, 34, 36, 40)))
    if given.guarded:
        guards(given.guarded, given.seed)
    if given.bundles:
        bundles(given.bundles, BUNDLE_SESSIONS, given.seed)


if __name__ == "__main__":
    main()
