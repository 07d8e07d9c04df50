"""Whet sends nothing anywhere by itself: the commands that need no model ask for no connection but to this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from command import COMMAND, Whet, environment
from lengths import long
from no_network import NetworkWatch

# The main commands, in the order in which a new user runs them.
ALONE = (
    ("status",),
    ("import",),
    ("import", "{examples}"),
    ("sessions",),
    ("search", "no such file"),
    ("report",),
    ("lessons",),
    ("lessons", "show", "1"),
    ("report",),
    ("try", "--dry-run"),
    ("rules", "add", "read-before-edit", "Read a file before you edit it."),
    ("sync", "add", "{file}"),
    ("sync",),
    ("page", "--export", "{page}"),
    ("setup", "--dry-run"),
    ("doctor",),
    ("backup", "{backup}"),
    (),
)
SEPARATE = ["unshare", "--map-root-user", "--net"]  # a network without any other machine in it


def filled_in(command: tuple[str, ...], examples: Path, folder: Path) -> list[str]:
    made = {"file": "RULES.md", "page": "page.html", "backup": "backup.zip"}
    places = {name: str(folder / file) for name, file in made.items()}
    return [word.format(examples=examples, **places) for word in command]


def can_be_separated() -> bool:
    return shutil.which("unshare") is not None and subprocess.run([*SEPARATE, "true"], check=False).returncode == 0


@pytest.fixture
def watch(tmp_path: Path) -> NetworkWatch:
    return NetworkWatch(tmp_path / "watch")


@long
def test_the_main_commands_ask_for_no_other_machine(
    whet: Whet, watch: NetworkWatch, examples: Path, tmp_path: Path
) -> None:
    for command in ALONE:
        done = whet(*filled_in(command, examples, tmp_path), variables=watch.variables)
        assert "Traceback" not in done.err, done.err
        assert done.code == 0 or command == ("doctor",), done.err
    assert watch.asked == []


def test_a_model_elsewhere_is_the_persons_choice_and_is_seen_by_the_watch(whet: Whet, watch: NetworkWatch) -> None:
    variables = {**watch.variables, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://192.0.2.1:9/v1"}
    done = whet("run", "Hello.", "--model", "openai:some-model", variables=variables)
    assert done.code != 0
    assert watch.asked
    assert all("192.0.2.1" in line for line in watch.asked)


@pytest.mark.skipif(not can_be_separated(), reason="no network of its own can be made here")
def test_the_main_commands_work_without_a_network(person: Path, examples: Path, tmp_path: Path) -> None:
    variables = environment(tmp_path / "home", person)
    for command in (("import", "{examples}"), ("lessons",), ("report",), ("try", "--dry-run"), ("status",)):
        done = subprocess.run(
            [*SEPARATE, COMMAND, *filled_in(command, examples, tmp_path)],
            env=variables, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
