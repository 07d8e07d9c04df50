"""What a plan promises is what a trial does."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.betting import MOST_LOOKED
from whet.evidence.power import cases_needed, deviation, expected_cases, minimum_effect, plan, power
from whet.evidence.verdicts import planned_side

SPREADS = st.floats(0.05, 0.9)


def experiments(effect: float, spread: float, cases: int, *, alpha: float, rounds: int) -> list[int | None]:
    """After how many cases simulated trials with this effect and spread accept."""
    source = random.Random(4)
    size = min(1.0, 1.3 * math.hypot(effect, spread))
    moving = (effect**2 + spread**2) / size**2
    up = (moving + effect / size) / 2
    stops = []
    for _ in range(rounds):
        draws = [source.random() for _ in range(cases)]
        differences = [size if draw < up else -size if draw < moving else 0.0 for draw in draws]
        stops.append(planned_side(differences, planned=cases, alpha=alpha).crossed)
    return stops


@pytest.mark.parametrize("alpha", [0.05, 0.02])
@pytest.mark.parametrize(
    ("spread", "cases"), [(0.17, 50), (0.35, 50), (0.51, 40), (0.17, 200), (0.35, 200), (0.7, 100)]
)
def test_the_minimum_effect_is_found_about_as_often_as_promised(spread: float, cases: int, alpha: float) -> None:
    effect = minimum_effect(spread=spread, cases=cases, alpha=alpha)
    stops = experiments(effect, spread, cases, alpha=alpha, rounds=250)
    found = sum(stop is not None for stop in stops) / len(stops)
    assert 0.7 <= found <= 0.95
    run = sum(stop or cases for stop in stops) / len(stops)
    assert run == pytest.approx(expected_cases(effect, spread=spread, cases=cases, alpha=alpha), rel=0.3)


@given(SPREADS, st.integers(10, MOST_LOOKED // 2) | st.integers(MOST_LOOKED + 1, 2000))
def test_more_cases_find_smaller_effects(spread: float, cases: int) -> None:
    effect = minimum_effect(spread=spread, cases=cases, alpha=0.05)
    assert minimum_effect(spread=spread, cases=2 * cases, alpha=0.05) <= effect + 1e-9
    assert minimum_effect(spread=spread, cases=cases, alpha=0.01) >= effect - 1e-9


@given(SPREADS, st.floats(0.02, 0.5))
def test_the_cases_needed_are_just_enough(spread: float, effect: float) -> None:
    needed = cases_needed(effect, spread=spread, alpha=0.05)
    assert needed is not None
    assert power(effect, spread=spread, cases=needed, alpha=0.05) >= 0.8
    if needed > 1:
        assert power(effect, spread=spread, cases=needed - 1, alpha=0.05) < 0.8


def test_no_number_of_cases_finds_nothing() -> None:
    assert cases_needed(0.0, spread=0.3, alpha=0.05) is None
    assert cases_needed(1e-6, spread=0.3, alpha=0.05) is None
    assert minimum_effect(spread=0.3, cases=2, alpha=0.05) == 1


def test_seeds_help_until_the_cases_themselves_differ() -> None:
    one, three, many = (deviation(0.8, seeds) for seeds in (1, 3, 10_000))
    assert one > three > many
    assert many == pytest.approx(0.1, abs=0.001)


def test_a_plan_counts_the_attempts_of_both_arms() -> None:
    made = plan(100, 3, alpha=0.05, spread=0.25, cost_of_attempt=0.02)
    assert made.attempts_most == 600
    assert made.cost_most == pytest.approx(12.0)
    assert 0 < made.attempts_expected < made.attempts_most
    assert made.cost_expected == pytest.approx(0.02 * made.attempts_expected)
