"""Programs get the verdict that `whet judge` prints, from a table and from bare differences."""

import math
from pathlib import Path

import pytest

import whet as front
from command import Whet

TABLE = "case,arm,passed\n" + "".join(f"{case},old,{case % 2}\n{case},new,1\n" for case in range(40))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "outcomes.csv"
    path.write_text(TABLE)
    return path


def test_a_table_gets_the_verdict_of_the_command(whet: Whet, table: Path) -> None:
    for growing in (False, True):
        said = whet("judge", str(table), "--json", *(["--growing"] if growing else [])).json
        found = front.judge(table, growing=growing)
        assert (found.ruling.value, found.effect, found.cases) == (said["verdict"], said["effect"], said["cases"])
        assert (found.evidence_help, found.attempts) == (said["evidence_help"], said["attempts"])


def test_arms_and_bounds_are_chosen_as_in_the_command(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("task\tmodel\tscore\n" + "".join(f"{n}\ta\t20\n{n}\tb\t70\n{n}\tc\t10\n" for n in range(40)))
    assert front.judge(str(path), base="a", candidate="b", bounds=(0, 100)).effect == pytest.approx(0.5)
    assert front.judge(str(path), base="a", candidate="c", bounds=(0, 100)).ruling == "reject"
    with pytest.raises(front.WhetError, match="3 arms"):
        front.judge(path, bounds=(0, 100))
    with pytest.raises(front.WhetError, match="lower and a higher"):
        front.judge(path, bounds=(1, 0))


def test_differences_may_come_from_anywhere() -> None:
    assert front.judge(iter([1, 1, 1, 1, 1, 1, 1, 1])).ruling == "accept"
    assert front.judge([-1.0] * 8).ruling == "reject"
    assert front.judge(()).ruling == "undecided"


@pytest.mark.parametrize("difference", [1.5, -2.0, math.nan, math.inf])
def test_what_is_no_difference_is_refused(difference: float) -> None:
    with pytest.raises(front.WhetError, match="must be between -1 and 1"):
        front.judge([0.5, difference])


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    with pytest.raises(front.WhetError, match="alpha must be between"):
        front.judge([1.0], alpha=0)
    with pytest.raises(front.WhetError, match="for a table"):
        front.judge([1.0], base="old")
    with pytest.raises(front.WhetError, match="cannot be read"):
        front.judge(tmp_path / "nowhere.csv")
