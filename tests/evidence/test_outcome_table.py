"""Anyone's table of outcomes is read as it is meant, or refused with its line."""

import random
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.evidence.outcome_table import Columns, ScoreRange, compare, find_columns, read_table

HEADING = ("case", "seed", "arm", "passed")
ROWS = [
    ("t1", "1", "base", "0"),
    ("t1", "1", "new", "1"),
    ("t1", "2", "base", "1"),
    ("t1", "2", "new", "1"),
    ("t2", "1", "base", "1"),
    ("t2", "1", "new", "0"),
]


def numbered(rows: Iterable[Sequence[str]], heading: Sequence[str] = HEADING) -> Iterable[tuple[int, Sequence[str]]]:
    return enumerate([heading, *rows], start=1)


def by_rate(rows: Iterable[Sequence[str]], heading: Sequence[str] = HEADING) -> list[float]:
    return sorted(compare(read_table(numbered(rows, heading))).differences)


def test_a_case_is_its_mean_difference_over_seeds() -> None:
    found = compare(read_table(numbered(ROWS)))
    assert (found.base, found.candidate, found.attempts) == ("base", "new", 6)
    assert sorted(found.differences) == [-1.0, 0.5]


@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_is_nothing(source: random.Random) -> None:
    shuffled = source.sample(ROWS, len(ROWS))
    assert compare(read_table(numbered(shuffled)), base="base") == compare(read_table(numbered(ROWS)), base="base")


@pytest.mark.parametrize(
    ("heading", "columns"),
    [
        (("case", "seed", "arm", "score"), Columns(0, 1, 2, 3)),
        (("Passed", "Model", "Task ID"), Columns(2, None, 1, 0)),
        (("\ufeffinstance_id", "run", "variant", "resolved"), Columns(0, 1, 2, 3)),
        (("id", "case", "arm", "epoch", "notes", "Success"), Columns(1, 3, 2, 5)),
        (("task", "prompt", "arm", "trial", "reward"), Columns(0, 3, 2, 4)),
    ],
)
def test_columns_are_found_by_their_usual_names(heading: Sequence[str], columns: Columns) -> None:
    assert find_columns(heading) == columns


def test_a_missing_column_is_named() -> None:
    with pytest.raises(WhetError, match="no column for: arm, outcome"):
        read_table([(1, ("case", "when"))])
    with pytest.raises(WhetError, match="no column for"):
        read_table([])


@pytest.mark.parametrize(
    ("true", "false"), [("1", "0"), ("True", "False"), ("pass", "FAIL"), ("yes", "no"), ("1.0", "0.0")]
)
def test_outcomes_are_known_in_many_spellings(true: str, false: str) -> None:
    assert by_rate([("t", "1", "base", false), ("t", "1", "new", true)]) == [1.0]


def test_scores_are_scaled_by_their_bounds() -> None:
    rows = [("t", "1", "base", "20"), ("t", "1", "new", "70")]
    with pytest.raises(WhetError, match="Line 2: 20 is not between 0 and 1") as caught:
        read_table(numbered(rows))
    assert "--bounds" in caught.value.advice
    assert compare(read_table(numbered(rows), bounds=ScoreRange(0, 100))).differences == (0.5,)


@pytest.mark.parametrize("text", ["maybe", "0,5", "1e999", "--"])
def test_nonsense_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(WhetError, match="Line 3"):
        read_table(numbered([("t", "1", "base", "1"), ("t", "1", "new", text)]))


def test_a_repeated_row_is_refused_with_both_lines() -> None:
    with pytest.raises(WhetError, match="Line 8 repeats line 2: case t1, arm base, seed 1"):
        read_table(numbered([*ROWS, ("t1", "1", "base", "0")]))
    with pytest.raises(WhetError, match="Line 3 repeats line 2") as caught:
        read_table(numbered([("t", "a", "1"), ("t", "a", "0")], ("case", "arm", "passed")))
    assert "seed column" in caught.value.advice


@pytest.mark.parametrize("row", [("", "1", "base", "1"), ("t", "1", "", "1"), ("t", "1")])
def test_a_row_without_its_names_is_refused(row: Sequence[str]) -> None:
    with pytest.raises(WhetError, match="Line 8"):
        read_table(numbered([*ROWS, row]))


def test_what_has_no_pair_is_left_out_and_counted() -> None:
    table = read_table(
        numbered([*ROWS, ("t2", "2", "new", "1"), ("t3", "1", "base", "1"), ("t2", "3", "base", ""), ()])
    )
    found = compare(table)
    assert (found.unpaired, found.left_out_cases, table.absent) == (2, 1, 1)
    assert sorted(found.differences) == [-1.0, 0.5]


def test_arms_that_share_no_seed_are_averaged_by_case() -> None:
    rows = [("t", "1", "a", "0"), ("t", "2", "a", "1"), ("t", "3", "b", "1"), ("u", "1", "a", "1")]
    found = compare(read_table(numbered(rows)))
    assert not found.by_seed
    assert (found.differences, found.attempts, found.unpaired, found.left_out_cases) == ((0.5,), 3, 1, 1)


@pytest.mark.parametrize(
    ("arms", "chosen"),
    [
        (("new", "old"), ("old", "new")),
        (("Treatment", "control"), ("control", "Treatment")),
        (("v2-candidate", "baseline"), ("baseline", "v2-candidate")),
        (("candidate", "gpt"), ("gpt", "candidate")),
    ],
)
def test_two_arms_are_told_apart(arms: tuple[str, str], chosen: tuple[str, str]) -> None:
    found = compare(read_table(numbered([("t", "1", arm, "1") for arm in arms])))
    assert (found.base, found.candidate) == chosen


def test_of_more_arms_or_unknown_ones_two_must_be_named() -> None:
    with pytest.raises(WhetError, match="There are 2 arms: gpt, claude"):
        compare(read_table(numbered([("t", "1", arm, "1") for arm in ("gpt", "claude")])))
    table = read_table(numbered([("t", "1", arm, "1") for arm in ("base", "x", "y")]))
    with pytest.raises(WhetError, match="There are 3 arms: base, x, y"):
        compare(table)
    assert compare(table, candidate="y").base == "base"
    assert compare(table, base="x", candidate="y").candidate == "y"
    with pytest.raises(WhetError, match="no arm z"):
        compare(table, candidate="z")
    with pytest.raises(WhetError, match="same arm"):
        compare(table, base="x", candidate="x")
    with pytest.raises(WhetError, match="needs two arms"):
        compare(read_table(numbered([("t", "1", "base", "1")])))
