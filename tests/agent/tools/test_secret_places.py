"""What known programs keep secret is seen by no tool and no command."""

import sys
from pathlib import Path

import pytest

from agent.tools.rooms import Room, ask_for, walls_here
from whet.agent.tools.guard import secret_places
from whet.shipped.data import secret_places as table

WALLS = walls_here()
OWN = [place for place, _ in table() if not place.startswith(("/", "$"))]
VARIABLES = [place.partition("/")[0].removeprefix("$") for place, _ in table() if place.startswith("$")]
MARK = "kept-secret-by-its-program"


def fill(folder: Path, places: list[str]) -> list[Path]:
    """A file in each place, or below it where the place is a folder for another."""
    files = []
    for place in sorted(places, key=len, reverse=True):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path = path / "inside" if path.is_dir() else path
        path.write_text(MARK)
        files.append(path)
    return files


def test_the_secrets_of_more_than_a_hundred_programs_are_known() -> None:
    assert len({program for _, program in table()}) > 100
    assert len({place for place, _ in table()}) == len(table())


def test_no_file_tool_reads_what_a_program_keeps_secret(room: Room) -> None:
    box = room.box()
    for path in fill(room.person, OWN):
        answer = ask_for(box, "read_file", path=str(path))
        assert answer.result.error is True, path
        assert MARK not in answer.result.text
    assert MARK not in ask_for(box, "search_files", pattern=MARK, path=str(room.person)).result.text


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")
def test_no_command_reads_what_a_program_keeps_secret(shell: Room) -> None:
    if shell.base.is_relative_to("/tmp"):
        pytest.skip("a clone below /tmp: a sandbox hides all of it")
    files = fill(shell.person, OWN)
    (shell.person / ".gitconfig").write_text("seen")
    (shell.person / "project").mkdir()
    (shell.person / "project" / ".env").write_text(MARK)
    (shell.work / "list").write_text("".join(f"{path}\0" for path in files))
    command = f"xargs -0 cat < list 2>/dev/null; grep -rhs {MARK} ~; cat ~/.gitconfig ~/project/.env 2>/dev/null; true"
    assert ask_for(shell.box(), "terminal", command=command).result.text == "seen"


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")
def test_what_a_variable_places_elsewhere_is_hidden_there(shell: Room) -> None:
    for name in VARIABLES:
        shell.environment[name] = str(shell.outside / name.lower())
    shell.environment |= {"XDG_CONFIG_HOME": str(shell.outside / "config")}
    files = [place for place in secret_places(shell.environment, shell.work) if place.is_relative_to(shell.outside)]
    fill(shell.outside, [str(path.relative_to(shell.outside)) for path in files])
    assert len(files) > len(VARIABLES)
    answer = ask_for(shell.box(), "terminal", command=f"grep -rls {MARK} {shell.outside}; true")
    assert answer.result.text == ""


def test_a_variable_that_names_the_working_folder_hides_nothing(room: Room) -> None:
    room.environment |= {"DOCKER_CONFIG": str(room.work), "AZURE_CONFIG_DIR": str(room.base), "HISTFILE": "/dev/null"}
    assert ask_for(room.box(), "write_file", path="x", content="y").result.error is False
    assert Path("/dev/null") not in set(secret_places(room.environment, room.work))
