"""The interval of a ratio of sums holds as often as it says."""

import math
from random import Random

import pytest

from whet.evidence.ratios import difference, ratio, sums, t_quantile


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)]
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(quantile, rel=0.02)


def test_a_ratio_is_of_the_sums_and_not_the_mean_of_ratios() -> None:
    found = ratio(sums([(1.0, 10.0), (3.0, 10.0), (0.0, 20.0)]))
    assert found.value == pytest.approx(0.1)
    assert found.interval.low <= 0.1 <= found.interval.high


def test_one_pair_says_nothing_of_how_pairs_vary() -> None:
    assert math.isinf(ratio(sums([(1.0, 2.0)])).interval.high)
    assert ratio(sums([])).value == 0


def test_the_interval_holds_about_as_often_as_it_says() -> None:
    draw, held = Random(7), 0
    for _ in range(400):
        pairs = [(whole * draw.uniform(0.0, 0.4), whole) for whole in (draw.uniform(1, 5) for _ in range(20))]
        low, high = ratio(sums(pairs)).interval
        held += low <= 0.2 <= high
    assert 0.92 <= held / 400 <= 0.985


def test_a_difference_is_within_strata() -> None:
    easy = sums([(0.1, 1.0), (0.12, 1.0), (0.08, 1.0)])
    hard = sums([(0.8, 1.0), (0.82, 1.0), (0.78, 1.0)])
    mean, (low, high) = difference([(easy, easy), (hard, hard)])
    assert mean == pytest.approx(0)
    assert low < 0 < high
    assert difference([])[1].low == -math.inf
