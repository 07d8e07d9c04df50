"""whet cases add, import and export, as people and programs use it."""

import os
from pathlib import Path

import pytest

from command import Whet
from proving.repository_scenes import PLAIN, adding, commit, new_repository, test_of
from whet.agent.tools.sandbox import Wall, probe
from whet.proving.judged_work import judge_work
from whet.proving.workspace import laid_out, situation_for
from whet.store.case_files import load_case
from whet.store.home import Home, prepare_home

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


@sandboxed
def test_a_case_goes_to_harbor_and_comes_back_with_a_check_that_still_tells(
    whet: Whet, repository: Path, tmp_path: Path
) -> None:
    [name] = whet("cases", "add", str(repository), "--test", PLAIN, "--env", "PYTHONPATH=.", "--json").json["cases"]
    done = whet("cases", "show", name, "--format", "harbor", "--to", f"{tmp_path}/tasks", "--json").json
    assert Path(done["cases"][name], "tests/test.sh").stat().st_mode & 0o111
    back = whet("cases", "add", f"{tmp_path}/tasks", "--format", "harbor", "--folder", f"{tmp_path}/back", "--json")
    case = load_case(tmp_path / "back", name)
    assert back.json["cases"] == {name: f"{tmp_path}/back/{name}.toml"}
    home = Home(tmp_path / "home")
    prepare_home(home)
    codes = []
    for solved in (False, True):
        with laid_out(home, case) as work:
            if solved:
                (work / "calc.py").write_text(adding("a + b"))
            codes.append(judge_work(situation_for(home, case, work), case).exit_code)
    assert codes == [1, 0]


def test_an_eval_suite_is_imported_and_what_is_left_out_is_said(whet: Whet, tmp_path: Path) -> None:
    folder = tmp_path / "plugin/evals/greet"
    folder.mkdir(parents=True)
    graders = (
        "graders: [{type: regex, name: hello, pattern: hello}, {type: tool_order, name: order, before: A, after: B}]"
    )
    (folder / "case.yaml").write_text(
        f'schema_version: "1.0"\nname: greet\nexecution: {{prompt: Say hello.}}\n{graders}\n'
    )
    done = whet("cases", "add", f"{tmp_path}/plugin", "--format", "claude-eval")
    assert "greet, left out: grader order: there is no such check here." in done.out
    assert "1 case of 1 imported" in done.out
    out = whet("cases", "show", "greet", "--format", "claude-eval", "--to", f"{tmp_path}/out", "--json").json
    assert Path(out["cases"]["greet"], "case.yaml").exists()
    assert whet("cases", "show", "greet", "--format", "harbor", "--to", f"{tmp_path}/h").code == 1
    assert "contains no harbor case" in whet("cases", "add", str(folder), "--format", "harbor").err
