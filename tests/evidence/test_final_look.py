"""The final look counts chances exactly, pays its price on average, and keeps its promise together with the bets."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gambles import centred, ways
from whet.evidence.betting import PRICE, cases_to_prove, paid, tail
from whet.evidence.verdicts import Capital, Ruling, judge, planned_side

SIZES = st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]), min_size=1, max_size=9)
ALPHAS = st.sampled_from([0.05, 0.019, 0.3])


def flips(sizes: list[float]) -> list[list[float]]:
    """The same differences with every choice of signs."""
    return [
        [sign * size for sign, size in zip(signs, sizes, strict=True)]
        for signs in itertools.product((1, -1), repeat=len(sizes))
    ]


@given(SIZES)
def test_the_chance_is_that_of_counting_every_choice_of_signs(sizes: list[float]) -> None:
    every = flips(sizes)
    sums = [round(60 * sum(each)) for each in every]
    found = tail(every[3 % len(every)])
    seen = sums[3 % len(every)]
    assert found.reached == pytest.approx(sum(each >= seen for each in sums) / len(sums))
    assert found.above == pytest.approx(sum(each > seen for each in sums) / len(sums))


def test_with_one_seed_it_is_the_exact_sign_test() -> None:
    wins, losses = 18, 5
    expected = sum(math.comb(23, count) for count in range(wins, 24)) / 2**23
    assert tail([1.0] * wins + [0.0] * 17 + [-1.0] * losses).reached == pytest.approx(expected)


@given(SIZES, ALPHAS, st.floats(0.1, 5))
def test_where_signs_are_fair_coins_it_pays_its_price_on_average(
    sizes: list[float], alpha: float, capital: float
) -> None:
    every = flips(sizes)
    price = min(capital, 0.9 / alpha)
    mean = sum(paid(each, price=price, goal=1 / alpha) for each in every) / len(every)
    assert mean == pytest.approx(price)


@settings(max_examples=40)
@given(SIZES, ALPHAS, st.sampled_from([1.0, 0.3, 2.5]))
def test_a_change_that_does_nothing_is_accepted_within_its_error_rate(
    sizes: list[float], alpha: float, capital: float
) -> None:
    """Every look counts: what was accepted at any case stays accepted."""
    sides = [planned_side(each, alpha=alpha, planned=len(each), capital=capital) for each in flips(sizes)]
    assert sum(side.crossed is not None for side in sides) / len(sides) <= alpha * capital + 1e-12
    assert sum(side.evidence for side in sides) / len(sides) <= capital * (1 + 1e-9)


def test_with_one_seed_no_mean_of_zero_is_accepted_more_often() -> None:
    for still in (0.0, 0.3, 0.8):
        drawn = ways(centred(1.0, -1.0, still), 8)
        wrong = sum(chance for each, chance in drawn if planned_side(each, planned=8, alpha=0.05).crossed)
        assert wrong <= 0.05


@pytest.mark.parametrize("cases", [20, 40, 60])
@pytest.mark.parametrize(("win", "loss"), [(0.15, 0.0), (0.3, 0.0), (0.25, 0.1), (0.4, 0.1)])
def test_a_short_trial_finds_nearly_what_the_exact_test_finds(cases: int, win: float, loss: float) -> None:
    source = random.Random(f"{cases} {win} {loss}")
    rounds, found, exact = 300, 0, 0
    for _ in range(rounds):
        draws = [source.random() for _ in range(cases)]
        differences = [1.0 if draw < win else -1.0 if draw < win + loss else 0.0 for draw in draws]
        found += planned_side(differences, planned=cases, alpha=0.05).crossed is not None
        exact += tail(differences).reached <= 0.05
    assert found >= exact - 0.03 * rounds


def test_a_near_miss_keeps_capital_for_the_next_cases() -> None:
    missed = judge([1.0] * 8 + [-1.0] * 2 + [0.0] * 10, planned=20)
    assert missed.ruling is Ruling.UNDECIDED
    assert missed.evidence_help > 1
    more = [1.0] * 4 + [0.0] * 6
    assert judge(more, planned=10).ruling is Ruling.UNDECIDED
    assert judge(more, planned=10, before=Capital(missed.evidence_help)).ruling is Ruling.ACCEPT


@given(ALPHAS, st.sampled_from([0.2, 1.0, 4.0]))
def test_the_cases_to_prove_are_just_enough(alpha: float, capital: float) -> None:
    needed = cases_to_prove(alpha, capital=capital)
    before = Capital(capital)
    assert judge([1.0] * needed, alpha=alpha, planned=needed, before=before).ruling is Ruling.ACCEPT
    if needed > 1 and PRICE * capital * alpha < 0.4:
        fewer = judge([1.0] * (needed - 1), alpha=alpha, planned=needed - 1, before=before)
        assert fewer.ruling is Ruling.UNDECIDED


def test_where_no_more_cases_come_the_look_is_taken_at_once() -> None:
    differences = [1.0] * 8
    assert judge(differences, planned=40).ruling is Ruling.UNDECIDED
    assert judge(differences, planned=40, is_over=True).ruling is Ruling.ACCEPT
    assert judge(differences, planned=400, is_over=True) == judge(differences, planned=400), "a long plan has no look"
