"""This week against the four before: the counts, the interval, and words that claim no more than it shows."""

import pytest

from whet.failures.week_comparison import WeekComparison


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (WeekComparison(3, 44, 5, 60), "no difference to tell (-12 to +11 points)"),
        (WeekComparison(1, 100, 60, 200), "perhaps better ("),
        (WeekComparison(60, 100, 20, 200), "perhaps worse ("),
        (WeekComparison(1, 2), "none in the four weeks before to compare with"),
        (WeekComparison(0, 0, 1, 5), "no session this week to compare"),
    ],
)
def test_the_words_say_what_the_interval_shows(found: WeekComparison, verdict: str) -> None:
    assert verdict in found.words
