"""How much of Whet has a hand in three things that it does: files in which a function is called, traced as it works.

`pytest -s tests/test_reach.py` prints the counts.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from agent.loopback import Play, Received, playing
from cli.chat.answers import calls, settings_for, words
from command import environment
from proving.trial_scenes import SECRET, TOLD, declare_shop, failing
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep

SESSIONS, CASES = 11, 9  # two of the sessions it takes to write the rule
SLACK = 5
TESTS = Path(__file__).parent


class Ceiling(NamedTuple):
    """How many files a command may call functions in, and how many it should."""

    command: str
    files: int
    aim: int


CEILINGS = (Ceiling("try", 161, 120), Ceiling("run", 85, 80), Ceiling("lessons", 89, 60))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_improve_with_one_idea_and_nine_cases(home: Home, person: Path) -> None:
    with playing(does_as_told) as server:
        settings_for(home.folder, server.base_url)
        declare_shop(home)
        with opened(home) as database:
            for number in range(1, SESSIONS + 1):
                keep(database, prepare(failing(number)), Provenance("", float(number), float(number)))
        out = hold(home, person, "try", "--most", "1", "--no-placebo", "--json")
    [outcome] = json.loads(out)["outcomes"]
    assert (outcome["became"], outcome["verdict"]["cases"]) == ("canary", CASES)


def test_a_run_with_one_call(home: Home, person: Path) -> None:
    with playing(calls("terminal", command="echo greenhouse"), words("One file.")) as server:
        settings_for(home.folder, server.base_url)
        assert hold(home, person, "run", "List the files.") == "One file.\n"


def test_lessons_of_the_example_sessions(home: Home, person: Path, examples: Path) -> None:
    traced(home, person, "import", str(examples))
    assert json.loads(hold(home, person, "lessons", "--json"))["lessons"]


def hold(home: Home, person: Path, *command: str) -> str:
    """What a command prints; it calls functions in as many files as its ceiling says, or a few less."""
    out, files = traced(home, person, *command)
    ceiling = next(each for each in CEILINGS if each.command == command[0])
    count = f"`whet {command[0]}` calls functions in {len(files)} files"
    said = f"{count}; the ceiling is {ceiling.files}, the aim {ceiling.aim}."
    sys.stdout.write(f"{said}\n")
    assert len(files) <= ceiling.files, f"{said} Do it with fewer: {', '.join(files)}"
    assert len(files) >= ceiling.files - SLACK, f"{said} Well done: lower the ceiling to {len(files)} in CEILINGS."
    return out


def traced(home: Home, person: Path, *command: str) -> tuple[str, list[str]]:
    """What a command prints, and the files in which it calls a function."""
    path = home.folder.parent / "files.json"
    variables = {**environment(home.folder, person), "PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [sys.executable, "-m", "reach", str(path), *command],
        env=variables, cwd=person, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(path.read_text())


def does_as_told(request: Received) -> Play:
    """Makes the call that failed, or with a rule against it the one that worked."""
    text = request.body.decode()
    number = text.split(f"Build {SECRET}-")[1].split(".")[0]
    program = "bun" if json.dumps(TOLD)[1:-1] in text or TOLD in text else "rtk bun"
    return calls("Bash", command=f"{program} build {SECRET}-{number}")
