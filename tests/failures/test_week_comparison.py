"""This week against the four before: the counts, the interval, and words that claim no more than it shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from whet.evidence.classical import difference
from whet.failures.week_comparison import WeekComparison


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_interval_is_newcombes(one: int, other: int, data: st.DataObject) -> None:
    failed, failed_before = data.draw(st.integers(0, one)), data.draw(st.integers(0, other))
    wanted = confint_proportions_2indep(failed, one, failed_before, other, method="newcomb")
    assert tuple(difference(failed, one, failed_before, other)) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (WeekComparison(3, 44, 5, 60), "no difference to tell (-12 to +11 points)"),
        (WeekComparison(1, 100, 60, 200), "better ("),
        (WeekComparison(60, 100, 20, 200), "worse ("),
        (WeekComparison(1, 2), "none in the four weeks before to compare with"),
        (WeekComparison(0, 0, 1, 5), "no session this week to compare"),
    ],
)
def test_the_words_say_what_the_interval_shows(found: WeekComparison, verdict: str) -> None:
    assert verdict in found.words
