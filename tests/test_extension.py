"""The example package of docs/extending.md, installed as people install it, and used through the real command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import Done, Whet
from lengths import long

EXTENSION = Path(__file__).parents[1] / "examples" / "extension"
CASE = 'task = "Run the tests."\n[check]\ncommand = "true"\n'


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which it was installed, without a network."""
    folder = tmp_path_factory.mktemp("packages")
    command = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target")
    subprocess.run([sys.executable, *command, folder, EXTENSION], check=True, capture_output=True)
    return folder


@pytest.fixture
def extended(whet: Whet, package: Path, tmp_path: Path) -> Whet:
    """`whet` in an environment that has the package, and the program of its agent."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "scribe").write_text("#!/bin/sh\necho scribe 1.2.3\n")
    (programs / "scribe").chmod(0o755)
    path = os.pathsep.join((str(programs), os.environ["PATH"]))

    def run(*arguments: str, stdin: str = "") -> Done:
        return whet(*arguments, stdin=stdin, variables={"PYTHONPATH": str(package), "PATH": path})

    return run


@long
def test_its_agent_is_read_told_hooked_and_run_as_whets_own(extended: Whet, tmp_path: Path) -> None:
    imported = extended("import", str(EXTENSION / "session.jsonl"), "--json")
    assert (imported.json["imported"], imported.err) == (1, "")
    [session] = extended("sessions", "--source", "scribe", "--json").json["sessions"]
    assert (session["model"], session["folder"]) == ("quill-1", "/srv/shop")

    project = tmp_path / "shop"
    project.mkdir()
    extended("rules", "add", "tests", "Run the tests with make.")
    assert extended("sync", "add", "scribe", "--project", str(project)).code == 0
    assert extended("sync").code == 0
    assert "- Run the tests with make." in (project / "SCRIBE.md").read_text()

    event = json.dumps({"session_id": "s-2", "cwd": str(tmp_path), "transcript_path": "/s-2.jsonl"})
    told = extended("hook", "session-start", "--agent", "scribe", stdin=event)
    assert "- Run the tests with make." in told.json["hookSpecificOutput"]["additionalContext"]

    (tmp_path / "case.toml").write_text(CASE)
    options = ("--agent", "scribe", "--cases", str(tmp_path / "case.toml"), "--dry-run", "--json")
    planned = extended("try", "--rule", "Answer briefly.", *options)
    assert planned.json["agent"]["name"] == "scribe", planned.err
    assert planned.json["agent"]["version"] == "1.2.3"


def test_setting_up_offers_its_hooks(extended: Whet, tmp_path: Path) -> None:
    (tmp_path / "person" / ".scribe").mkdir(parents=True)
    assert ".scribe/hooks.json" in "".join(extended("setup", "--dry-run").out.split())


def test_its_trouble_and_its_command_are_there(extended: Whet) -> None:
    extended("import", str(EXTENSION / "session.jsonl"))
    assert "bare_tests" in extended("report", "--json").out
    assert "scribes" in extended("--help").out
    assert extended("scribes").out == "1 sessions of Scribe.\n"
    assert extended("scribes", "--help").code == 0


def test_its_lessons_are_listed_with_whets_own(extended: Whet) -> None:
    extended("import", str(EXTENSION / "session.jsonl"))
    [lesson] = extended("lessons", "--json").json["lessons"]
    assert (lesson["draft"], lesson["counts"]["sessions"]) == ("Run the tests with make.", 1)


def test_what_an_agent_does_in_its_shell_is_no_persons_word(whet: Whet, package: Path) -> None:
    marked = {"PYTHONPATH": str(package), "SCRIBE_SHELL": "1"}
    whet("rules", "add", "tests", "Run the tests with make.", variables=marked)
    assert whet("rules", "--json").json["rules"] == []
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 1


def test_without_the_package_whet_knows_nothing_of_it(whet: Whet) -> None:
    assert "scribe" not in whet("--help").out
    assert whet("scribes").code == 2
    assert whet("sync", "add", "scribe").code == 1
