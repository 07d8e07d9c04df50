"""whet audit, as a person and as CI run it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import Whet
from whet.cli.deciding import budget_lines
from whet.ledger.patches import Action, Form, Patch

RULE = Patch(Form.RULE, Action.ADD, "tidy", "Remove unused imports before you commit.")
TEXT = "# Work\n\n- Settings are in `conf.yml`.\n- Be kind.\n"


def project(folder: Path) -> str:
    folder.mkdir(parents=True)
    (folder / "CLAUDE.md").write_text(TEXT)
    (folder / "conf.yaml").write_text("")
    return str(folder)


def test_the_check_fails_on_what_is_wrong_and_needs_no_home(whet: Whet, tmp_path: Path) -> None:
    folder = project(tmp_path / "a project")
    done = whet("audit", folder, "--check")
    assert done.code == 1
    assert "CLAUDE.md:3" in done.out
    assert "wrong: there is no `conf.yml`; there is `conf.yaml`" in done.out
    assert "2 statements in 1 file: 1 wrong, 1 cannot be told." in done.out
    Path(folder, "CLAUDE.md").write_text(TEXT.replace("conf.yml", "conf.yaml"))
    assert whet("audit", folder, "--check").code == 0


def test_of_many_faults_the_first_ones_are_shown(whet: Whet, tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    Path(folder, "CLAUDE.md").write_text("".join(f"- Part {number} is in `conf.yml`.\n" for number in range(80)))
    few, every = whet("audit", folder).out, whet("audit", folder, "--all").out
    assert "20 more statements with a fault: --all shows every one." in few
    assert "CLAUDE.md:60 " in few
    assert "CLAUDE.md:61 " not in few
    assert "CLAUDE.md:80 " in every


def test_programs_get_every_statement_with_its_findings(whet: Whet, tmp_path: Path) -> None:
    found = whet("audit", project(tmp_path / "p"), "--json").json
    assert found["counts"] == {"wrong": 1, "cannot be told": 1}
    assert found["statements"][0]["findings"][0]["instead"] == "conf.yaml"
    assert found["lessons"][0]["origin"]["writer"] == "person"


def test_without_any_file_it_says_so(whet: Whet, tmp_path: Path) -> None:
    done = whet("audit", str(tmp_path))
    assert done.code == 0
    assert "No file that agents read" in done.out


def test_a_rule_past_the_budget_is_shown_with_what_it_could_replace(tmp_path: Path) -> None:
    folder = Path(project(tmp_path / "p"))
    subprocess.run(["git", "init", "-q", folder], check=True)
    shown = "tokens are read at every start"
    assert shown not in "\n".join(budget_lines(RULE, folder, None))
    long = "".join(f"- Rule {number} is about part {number} of the whole system here.\n" for number in range(800))
    (folder / "CLAUDE.md").write_text(TEXT + long)
    told = "\n".join(budget_lines(RULE, folder, None))
    assert shown in told
    assert "take the place of CLAUDE.md:3 (wrong)" in told


# Stands for an agent's program: it says of each line that it is shown what its script says.
PROGRAM = """#!{python}
import json, sys
asked = sys.stdin.read()
line = {line!r}
usage = {{"input_tokens": len(asked) // 4, "output_tokens": 50}}
print(json.dumps({{"result": line, "is_error": False, "usage": usage}}))
"""
SAID = {
    "op": "wrong",
    "at": "CLAUDE.md:4",
    "quote": "Be kind",
    "why": "the code is cruel",
    "evidence": [{"file": "code.py", "words": "cruel = True"}],
    "instead": "Be cruel",
}


@pytest.fixture
def reader(tmp_path: Path) -> dict[str, str]:
    """An environment in which an agent reads by a script."""
    place = tmp_path / "programs"
    place.mkdir()
    (place / "claude").write_text(PROGRAM.format(python=sys.executable, line=json.dumps(SAID)))
    (place / "claude").chmod(0o755)
    return {"PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}


def test_what_a_reader_says_stands_in_the_list_and_waits(whet: Whet, tmp_path: Path, reader: dict[str, str]) -> None:
    folder = project(tmp_path / "p")
    Path(folder, "code.py").write_text("cruel = True\n")
    done = whet("audit", folder, "--with", "claude", "--yes", "--propose", variables=reader)
    assert done.code == 0
    assert "wrong to a reader: the code is cruel [claude-code says; found: code.py “cruel = True”]" in done.out
    assert "claude-code: 1 statement wrong, each with evidence that code found. 1 call" in done.out
    assert "correct CLAUDE.md:4: pending as" in done.out
    found = whet("audit", folder, "--with", "claude", "--yes", "--json", variables=reader).json
    assert found["counts"] == {"wrong": 1, "wrong to a reader": 1, "cannot be told": 0}
    assert (found["read"]["statements"], found["read"]["dropped"]) == (1, [])


def test_a_reader_needs_a_yes_and_is_no_part_of_a_check(whet: Whet, tmp_path: Path, reader: dict[str, str]) -> None:
    folder = project(tmp_path / "p")
    asked = whet("audit", folder, "--with", "claude", variables=reader)
    assert asked.code == 1
    assert "Nobody is here to agree to what claude-code will spend" in asked.err
    assert whet("audit", folder, "--check", "--with", "claude", variables=reader).code == 2
