"""Looks at sessions that a coin put on sides: exact whatever drifts, quick for large effects, the same in a mirror."""

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evidence.coin_looks import LOOKS, SPENT, CoinLook, CoinSession, coin_looks, next_look

FIRST = LOOKS[0]


def looks(sessions: list[CoinSession], *, share: float = 0.5, alpha: float = 0.01) -> list[CoinLook]:
    return list(coin_looks(sessions, share=share, alpha_help=alpha, alpha_harm=alpha))


def drawn(seed: str, untold: float, told: float, number: int = 160) -> list[CoinSession]:
    chance = random.Random(seed)
    sides = [chance.random() < 0.5 for _ in range(number)]
    return [CoinSession(side, chance.random() < (told if side else untold)) for side in sides]


def test_a_clear_effect_is_decided_at_an_early_look() -> None:
    sessions = [CoinSession(told, not told) for told in (True, False) * FIRST]
    first = looks(sessions)[0]
    assert first.at == FIRST
    assert first.helped.is_enough
    assert not first.harmed.is_enough


def test_the_chance_of_the_first_look_is_that_of_counting_every_way_the_coins_could_fall() -> None:
    failed = [index < 4 for index in range(FIRST)]
    told = [index not in (0, 1, 2, 7) for index in range(FIRST)]
    seen = looks([CoinSession(*each) for each in zip(told, failed, strict=True)])[0].helped.chance

    ways = [
        math.comb(4, bad) * math.comb(FIRST - 4, well)
        for bad, well in itertools.product(range(5), range(FIRST - 3))
        if 4 * well - (FIRST - 4) * bad >= 4 * (FIRST - 5) - (FIRST - 4) * 1
    ]
    assert seen == pytest.approx(sum(ways) / 2**FIRST)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.2, 0.35, 0.5]))
def test_exchanged_sides_exchange_help_and_harm(seed: int, rate: float) -> None:
    sessions = drawn(str(seed), rate, rate, 54)
    mirrored = [CoinSession(not told, failed) for told, failed in sessions]
    for one, other in zip(looks(sessions), looks(mirrored), strict=True):
        assert one.helped.chance == pytest.approx(other.harmed.chance)
        assert one.harmed.chance == pytest.approx(other.helped.chance)


def test_what_may_be_used_up_grows_to_the_whole_and_never_beyond() -> None:
    assert list(SPENT) == sorted(SPENT)
    assert SPENT[-1] == 1.0
    found = looks(drawn("one", 0.3, 0.3, LOOKS[-1]))
    assert [each.at for each in found] == list(LOOKS)
    assert all(side.allowed <= 0.01 + 1e-12 for each in found for side in (each.helped, each.harmed))


def test_over_every_fall_of_the_coins_no_more_than_the_error_rate_is_decided() -> None:
    """Outcomes are fixed, as rough as can be; only the sides are drawn, as they are for a rule that does nothing."""
    chance = random.Random(5)
    failed = [index < 12 or 25 <= index < 28 for index in range(46)]
    decided = 0
    for _ in range(300):
        found = looks([CoinSession(chance.random() < 0.5, bad) for bad in failed], alpha=0.05)
        decided += any(each.helped.is_enough for each in found)
    assert decided <= 0.05 * 300 + 3 * (0.05 * 0.95 * 300) ** 0.5


def test_a_rule_that_takes_its_failure_from_35_to_5_percent_is_decided_soon() -> None:
    ends = [
        next((each.at for each in looks(drawn(f"help-{number}", 0.35, 0.05)) if each.helped.is_enough), 999)
        for number in range(16)
    ]
    assert sorted(ends)[8] <= 54


def test_few_are_told_and_the_coins_are_known() -> None:
    sessions = [CoinSession(index % 5 == 0, index % 5 != 0) for index in range(FIRST)]
    [look] = looks(sessions, share=0.2)
    assert look.helped.chance == pytest.approx(0.2 ** (FIRST / 5) * 0.8 ** (FIRST * 4 / 5))


def test_without_failures_nothing_is_decided() -> None:
    assert not any(each.helped.is_enough for each in looks([CoinSession(True, False)] * 60))


def test_the_next_look_is_known() -> None:
    assert (next_look(0), next_look(FIRST), next_look(LOOKS[-1])) == (FIRST, LOOKS[1], None)


def test_failures_are_counted_and_their_chance_is_that_of_all_coins() -> None:
    source = random.Random("counts")
    failed = [source.choice((0, 0, 1, 2, 3)) for _ in range(FIRST)]
    told = [source.random() < 0.4 if each else source.random() < 0.7 for each in failed]
    [seen] = looks([CoinSession(*each) for each in zip(told, failed, strict=True)])

    def score(sides: Sequence[bool]) -> int:
        well = sum(side for side, number in zip(sides, failed, strict=True) if not number)
        bad = sum(number for side, number in zip(sides, failed, strict=True) if side)
        return well * sum(failed) - bad * failed.count(0)

    every = [score(sides) for sides in itertools.product((True, False), repeat=FIRST)]
    assert score(told) > 0
    assert seen.helped.chance == pytest.approx(sum(each >= score(told) for each in every) / len(every))
