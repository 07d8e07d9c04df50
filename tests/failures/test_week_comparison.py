"""The last weeks with sessions against those before: the counts, and an answer that claims no more than they show."""

import pytest

from whet.failures.week_comparison import WeekComparison, compare_weeks


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        (WeekComparison(3, 44, 5, 60), "Not clearly"),
        (WeekComparison(1, 100, 60, 200), "Yes"),
        (WeekComparison(60, 100, 20, 200), "No, worse"),
        (WeekComparison(1, 2), "Too early to tell"),
        (WeekComparison(0, 4, 10, 50), "Too early to tell"),
        (WeekComparison(), "Too early to tell"),
    ],
)
def test_the_answer_says_what_the_interval_shows(found: WeekComparison, answer: str) -> None:
    assert found.answer == answer
    assert found.words.startswith(f"{answer}: ")


def test_the_last_four_weeks_with_sessions_are_compared_with_the_four_before_them() -> None:
    outcomes = {f"2026-W{week:02}": (week % 2, 10) for week in (1, 2, 3, 4, 5, 6, 20, 21, 30)}
    found = compare_weeks(outcomes)
    assert found.weeks == ("2026-W06", "2026-W20", "2026-W21", "2026-W30")
    assert found.weeks_before == ("2026-W02", "2026-W03", "2026-W04", "2026-W05")
    assert (found.failed, found.sessions, found.failed_before, found.sessions_before) == (1, 40, 2, 40)
    assert found.words == (
        "Not clearly: 2.5 % of 40 sessions likely failed in the last 4 weeks with sessions, "
        "5.0 % of 40 sessions in the 4 before (-2 points, -14 to +8)."
    )
