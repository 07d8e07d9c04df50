"""The last weeks with sessions against those before: the counts, and an answer that claims no more than they show."""

import pytest

from whet.failures.week_comparison import compare_weeks


def outcomes(new: dict[str, tuple[int, int]], old: dict[str, tuple[int, int]]) -> dict[str, dict[str, tuple[int, int]]]:
    return {"2026-W01": old, "2026-W02": {}, "2026-W03": {}, "2026-W04": {}, "2026-W05": new}


@pytest.mark.parametrize(
    ("new", "old", "answer"),
    [
        ((3, 44), (5, 60), "Not clearly"),
        ((1, 100), (60, 200), "Perhaps better"),
        ((60, 100), (20, 200), "Perhaps worse"),
        ((1, 2), (0, 0), "Too early to tell"),
        ((0, 4), (10, 50), "Too early to tell"),
    ],
)
def test_the_answer_says_what_the_interval_shows(new: tuple[int, int], old: tuple[int, int], answer: str) -> None:
    found = compare_weeks(outcomes({"/a": new}, {"/a": old} if old[1] else {}), str)
    assert found.answer == answer
    assert found.words.startswith(f"{answer}: ")


def test_nothing_at_all_is_too_early_to_tell() -> None:
    assert compare_weeks({}, str).answer == "Too early to tell"


def test_the_last_four_weeks_with_sessions_are_compared_with_the_four_before_them() -> None:
    found = compare_weeks({f"2026-W{week:02}": {"/a": (week % 2, 10)} for week in (1, 2, 3, 4, 5, 6, 20, 21, 30)}, str)
    assert found.weeks == ("2026-W06", "2026-W20", "2026-W21", "2026-W30")
    assert found.weeks_before == ("2026-W02", "2026-W03", "2026-W04", "2026-W05")
    assert (found.failed, found.sessions, found.failed_before, found.sessions_before) == (1, 40, 2, 40)
    assert found.words == (
        "Not clearly: 2.5 % of 40 sessions may have failed in the last 4 weeks with sessions, "
        "5.0 % of 40 sessions in the 4 before (-2 points, -14 to +8)."
    )


def test_another_project_is_no_change_for_the_worse() -> None:
    found = compare_weeks(outcomes({"/hard": (9, 44)}, {"/easy": (2, 114)}), str)
    assert found.words == (
        "Too early to tell: 20.5 % of 44 sessions may have failed in the last 4 weeks with sessions, "
        "1.8 % of 114 sessions in the 1 before, in other projects."
    )
    found = compare_weeks(outcomes({"/hard": (9, 44), "/easy": (1, 50)}, {"/hard": (1, 5), "/easy": (2, 114)}), str)
    assert found.answer == "Not clearly"
    assert found.words.endswith("in the 1 before (+0 points within the same project, -6 to +8).")


def test_the_folders_of_one_project_are_one() -> None:
    found = compare_weeks(outcomes({"/a/x": (9, 44)}, {"/a/y": (9, 44)}), lambda folder: folder[:2])
    assert found.shared == (((9, 44), (9, 44)),)
