"""Bounds agree with the bets, and cover the truth."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evidence.betting import log_capital, tally
from whet.evidence.intervals import in_order, order_free

DIFFERENCES = st.lists(st.sampled_from([-1.0, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0]), min_size=1, max_size=40)


@given(DIFFERENCES)
def test_a_bound_is_where_the_evidence_is_just_enough(differences: list[float]) -> None:
    low, high = order_free(differences, alpha=0.05)
    mean = sum(differences) / len(differences)
    assert -1 <= low <= mean + 1e-6
    assert mean - 1e-6 <= high <= 1
    if low > -1:
        assert log_capital(tally(differences), mean=low) >= math.log(20) - 1e-9
    assert log_capital(tally(differences), mean=min(low + 1e-5, 0.999)) < math.log(20)


@settings(max_examples=25)
@given(DIFFERENCES)
def test_swapping_the_arms_mirrors_the_interval(differences: list[float]) -> None:
    swapped = [-each for each in differences]
    for bounds in (order_free, lambda given, alpha: in_order(given, planned=len(given), alpha=alpha)):
        low, high = bounds(differences, alpha=0.05)
        assert bounds(swapped, alpha=0.05) == pytest.approx((-high, -low))


@settings(max_examples=40)
@given(DIFFERENCES)
def test_a_stricter_alpha_gives_a_wider_interval(differences: list[float]) -> None:
    low, high = order_free(differences, alpha=0.05)
    lower, higher = order_free(differences, alpha=0.01)
    assert lower <= low
    assert higher >= high


@pytest.mark.parametrize("truth", [-0.1, 0.0, 0.3])
def test_the_truth_is_covered_as_often_as_promised(truth: float) -> None:
    source = random.Random(5)
    rounds, missed = 100, [0, 0]
    for _ in range(rounds):
        differences = [float(source.random() < 0.5 + truth) - float(source.random() < 0.5) for _ in range(40)]
        for place, (low, high) in enumerate(
            (order_free(differences, alpha=0.1), in_order(differences, planned=40, alpha=0.1))
        ):
            missed[place] += not low <= truth <= high
    # Each of the two bounds may be wrong in a tenth of the experiments.
    assert max(missed) / rounds <= 0.2


def test_a_plan_makes_the_interval_narrower() -> None:
    source = random.Random(8)
    differences = [source.choice([0.0, 0.0, 0.0, 1 / 3, -1 / 3, 2 / 3]) for _ in range(200)]
    plain, planned = order_free(differences, alpha=0.05), in_order(differences, planned=200, alpha=0.05)
    assert planned.high - planned.low < plain.high - plain.low


def test_without_cases_everything_is_possible() -> None:
    assert order_free([], alpha=0.05) == pytest.approx((-1, 1), abs=1e-6)
    assert in_order([], planned=10, alpha=0.05) == (-1, 1)
