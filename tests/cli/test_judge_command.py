"""What a person and a program see of a verdict."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from command import Whet

KEYS = {"verdict", "effect", "interval", "evidence_help", "evidence_harm", "cases", "attempts", "stopped_at"}


def rows(cases: int, *, gained: int, lost: int, seeds: int = 1) -> Iterator[str]:
    yield "case,seed,arm,passed"
    for case in range(cases):
        before = int(gained <= case < gained + lost)
        after = int(case < gained)
        for seed in range(seeds):
            yield f"task-{case},{seed},base,{before}"
            yield f"task-{case},{seed},new,{after}"


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    path = tmp_path / "outcomes.csv"
    path.write_text("\n".join(rows(60, gained=20, lost=3)))
    return path


def test_a_better_arm_is_accepted(whet: Whet, outcomes: Path) -> None:
    found = whet("judge", str(outcomes), "--json").json
    assert set(found) >= KEYS
    assert found["verdict"] == "accept"
    assert found["effect"] == pytest.approx(17 / 60)
    assert 0 < found["interval"][0] < found["effect"] < found["interval"][1]
    assert found["evidence_help"] >= 20 > found["evidence_harm"]
    assert (found["cases"], found["attempts"]) == (60, 120)
    assert 0 < found["stopped_at"] <= 60
    said = whet("judge", str(outcomes))
    assert said.code == 0
    assert "Accept: new is better than base." in said.out
    assert "+28.3 points" in said.out


def test_no_number_of_first_cases_is_said_to_be_enough_that_is_not(whet: Whet, tmp_path: Path) -> None:
    lines = (Path(__file__).parents[2] / "examples" / "outcomes.csv").read_text().splitlines()
    (tmp_path / "all.csv").write_text("\n".join(lines))
    (tmp_path / "first.csv").write_text("\n".join(lines[:17]))
    assert whet("judge", str(tmp_path / "first.csv"), "--json").json["verdict"] == "undecided"
    said = whet("judge", str(tmp_path / "all.csv")).out
    assert said.startswith("Accept")
    assert "enough" not in said


def test_the_other_way_round_it_is_rejected(whet: Whet, outcomes: Path) -> None:
    done = whet("judge", str(outcomes), "--base", "new", "--candidate", "base", "--exit-code")
    assert done.code == 4
    assert "Reject: base is worse than new." in done.out


def test_too_little_evidence_is_undecided_and_says_what_it_takes(whet: Whet) -> None:
    done = whet("judge", "-", "--exit-code", stdin="\n".join(rows(30, gained=4, lost=1)))
    assert done.code == 3
    assert "Undecided" in done.out
    assert "would decide" in done.out
    assert whet("judge", "-", stdin="\n".join(rows(30, gained=4, lost=1))).code == 0
    assert "Too few cases to decide" in whet("judge", "-", stdin="\n".join(rows(2, gained=1, lost=0))).out


def test_one_look_is_sharper(whet: Whet) -> None:
    table = "\n".join(rows(60, gained=13, lost=3))
    assert whet("judge", "-", "--growing", "--json", stdin=table).json["verdict"] == "undecided"
    assert whet("judge", "-", "--json", stdin=table).json["verdict"] == "accept"


def test_details_add_the_customary_figures(whet: Whet, outcomes: Path) -> None:
    found = whet("judge", str(outcomes), "--details", "--json").json
    assert (found["wins"], found["losses"]) == (20, 3)
    assert found["mcnemar_p"] == pytest.approx(0.000488, rel=0.01)
    assert found["bootstrap"][0] > 0
    assert "exact McNemar" in whet("judge", str(outcomes), "--details").out


def test_other_tables_are_read_too(whet: Whet, tmp_path: Path) -> None:
    table = "Task\tModel\tScore\n" + "".join(f"{case}\tcontrol\t20\n{case}\ttuned\t75\n" for case in range(40))
    (tmp_path / "wide.tsv").write_bytes(table.encode("utf-16"))
    found = whet("judge", "wide.tsv", "--bounds", "0", "100", "--json").json
    assert (found["verdict"], found["base"], found["candidate"]) == ("accept", "control", "tuned")
    assert found["effect"] == pytest.approx(0.55)


def test_what_was_left_out_is_said(whet: Whet) -> None:
    table = "case;seed;variant;score\n1;1;x;0.5\n1;1;y;0.75\n1;2;y;1\n2;1;x;\n"
    assert "Choose two" in whet("judge", "-", stdin=table).err
    done = whet("judge", "-", "--base", "x", stdin=table)
    assert "1 attempt that the other arm lacks" in done.out
    assert "1 row without an outcome" in done.out


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("", "no column for"),
        ("case,arm,passed\n1,a,1\n1,a,1\n", "Line 3 repeats line 2"),
        ("case,arm,score\n1,a,7\n", "Line 2: 7 is not between 0 and 1"),
        ("case,arm,passed\n1,a,1\n2,b,1\n", "No case was run in both arms"),
        ("case,arm,passed\n1,a,1\n", "two arms"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(whet: Whet, table: str, complaint: str) -> None:
    done = whet("judge", "-", stdin=table)
    assert done.code == 1
    assert complaint in done.err
    assert "Traceback" not in done.err


def test_a_missing_file_and_wrong_bounds_are_refused(whet: Whet, outcomes: Path) -> None:
    assert "cannot be read" in whet("judge", "nowhere.csv").err
    assert "lower and a higher" in whet("judge", str(outcomes), "--bounds", "1", "0").err
    assert whet("judge", str(outcomes), "--alpha", "0").code == 2
