"""whet cases add, import and export, as people and programs use it."""

import os
from pathlib import Path

import pytest

from command import Whet
from proving.repository_scenes import PLAIN, adding, commit, new_repository, test_of
from whet.agent.tools.sandbox import Wall, probe

sandboxed = pytest.mark.skipif(probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="no sandbox here")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = new_repository(tmp_path / "calc")
    commit(folder, "Begin", {"calc.py": adding("a - b")})
    commit(folder, "Add instead of subtracting", {"calc.py": adding("a + b"), "tests/test_add.py": test_of("add", 5)})
    commit(folder, "Tell of it", {"README.md": "It adds."})
    return folder


@sandboxed
def test_a_repository_becomes_cases_and_the_rest_is_counted(whet: Whet, repository: Path) -> None:
    ways = ("--test", PLAIN, "--env", "PYTHONPATH=.")
    shown = whet("cases", "add", str(repository), "--dry-run", *ways)
    assert "1 commit left out: no tests changed." in shown.out
    assert "1 case of 3 commits" in shown.out
    assert whet("cases", "--json").json == []
    made = whet("cases", "add", str(repository), *ways, "--json").json
    [name] = made["cases"]
    assert made["left_out"] == {"no tests changed": 1, "nothing before it": 1}
    [listed] = whet("cases", "--json").json
    assert (listed["name"], listed["task"], listed["checks"]) == (name, "Add instead of subtracting", ["command"])
    again = whet("cases", "add", str(repository), *ways)
    assert again.code == 0, "a case that is there stays as it is"


def test_what_cannot_be_done_is_said(whet: Whet, repository: Path, tmp_path: Path) -> None:
    assert "not in a git repository" in whet("cases", "add", str(tmp_path)).err
    assert "NAME=VALUE" in whet("cases", "add", str(repository), "--env", "colour").err
    none = whet("cases", "add", str(repository), "--last", "1")
    assert none.code == 1
    assert "No case." in none.out


@sandboxed
def test_a_commit_whose_tests_cannot_run_is_listed_with_the_reason(whet: Whet, repository: Path) -> None:
    shown = whet("cases", "add", str(repository), "--dry-run", "--test", "no-such-program {files}")
    assert "Add instead of subtracting" in shown.out
    assert "the tests could not be run" in shown.out
