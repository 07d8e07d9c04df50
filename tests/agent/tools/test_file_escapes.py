"""File tools keep to the working folder by themselves, with or without a sandbox."""

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.tools.rooms import KEY, SECRET, Room, ask_for
from whet.errors import WhetError
from whet.own.runs.settings import Sandbox
from whet.sessions.transcripts import ToolResult


def fill(text: str, room: Room) -> str:
    places = {"outside": room.outside, "home": room.home.folder, "person": room.person, "work": room.work}
    for name, path in places.items():
        text = text.replace(f"{{{name}}}", str(path))
    return text


def prepared(room: Room) -> None:
    (room.work / "to_file").symlink_to(room.victim)
    (room.work / "to_folder").symlink_to(room.outside)
    (room.work / "to_nothing").symlink_to(room.outside / "new")
    (room.work / "to_home").symlink_to(room.home.folder)
    (room.work / "inside").mkdir()
    (room.work / "to_inside").symlink_to(room.work / "inside")
    (room.work / "key").symlink_to(room.person / ".ssh" / "id_rsa")
    (room.work / ".git" / "hooks").mkdir(parents=True)
    os.mkfifo(room.work / "pipe")


WRITTEN = (
    "{outside}/victim",
    "../outside/victim",
    "inside/../../outside/victim",
    "{work}/../outside/victim",
    "{work}/inside/../../outside/victim",
    "to_file",
    "to_folder/victim",
    "to_folder/new",
    "to_nothing",
    "to_home/settings.toml",
    "to_inside/../../outside/victim",
    "{home}/settings.toml",
    "{home}/memory.md",
    "{home}/whet.db",
    "{home}/skills/known/helper.sh",
    "{person}/.bashrc",
    "{person}/.ssh/authorized_keys",
    "/proc/self/cwd/x",
    "/proc/self/root{outside}/victim",
    "~/.bashrc",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "inside/.git/config",
    "",
    "\0",
    "pipe",
    ".",
    "..",
    "/",
)


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize("tool", ["write_file", "edit"])
def test_nothing_is_written_outside(room: Room, tool: str, path: str) -> None:
    prepared(room)
    before = everything(room)
    changes = {"content": "evil"} if tool == "write_file" else {"old": "o", "new": "evil"}
    answer = ask_for(room.box(), tool, path=fill(path, room), **changes)
    assert answer.result.error is True
    assert everything(room) == before


READ = (
    "{home}/whet.db",
    "{home}/settings.toml",
    "{home}/../home/whet.db",
    "to_home/whet.db",
    "key",
    "{person}/.ssh/id_rsa",
    "{person}/./.ssh//id_rsa",
    "/proc/self/environ",
    "/proc/self/root{home}/whet.db",
    "/proc/self/fd/0",
    "/dev/zero",
    "/etc/shadow",
)


@pytest.mark.parametrize("path", READ)
def test_secrets_are_not_read(room: Room, path: str) -> None:
    prepared(room)
    answer = ask_for(room.box(), "read_file", path=fill(path, room))
    assert answer.result.error is True
    assert SECRET not in answer.result.text
    assert KEY.splitlines()[1] not in answer.result.text


def test_other_files_outside_are_read_only_where_the_settings_say_so(room: Room) -> None:
    assert "sandbox.readable" in ask_for(room.box(), "read_file", path=str(room.victim)).result.text
    box = room.box(sandbox=Sandbox(readable=(str(room.outside),)))
    assert ask_for(box, "read_file", path=str(room.victim)).result.text == "old"


def test_the_scripts_of_skills_are_read(room: Room) -> None:
    path = room.home.folder / "skills" / "known" / "helper.sh"
    assert ask_for(room.box(), "read_file", path=str(path)).result.text == "echo helped"


def test_a_hard_link_to_a_file_outside_is_not_written_through(room: Room) -> None:
    os.link(room.victim, room.work / "hard")
    assert ask_for(room.box(), "write_file", path="hard", content="evil").result.error is False
    assert room.victim.read_text() == "old\n"


@contextlib.contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    """Two names that change places all the time, each time in one step."""
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            assert exchange(-100, bytes(one), -100, bytes(other), 2) == 0

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def seen_in_both_states(is_refused: Callable[[int], bool | None], times: int) -> None:
    """Try so often, and on until it was both refused and not: who is let in when is the machine's to say."""
    answers: set[bool | None] = set()
    for number in range(1000 * times):
        answers.add(is_refused(number))
        if number >= times and len(answers) == 2:
            return
    raise AssertionError(f"it was only seen as {answers}")


@pytest.mark.skipif(sys.platform != "linux", reason="names change places in one step on Linux only")
def test_a_folder_swapped_for_a_link_meanwhile_leads_nowhere(room: Room) -> None:
    (room.work / "place").mkdir()
    (room.work / "link").symlink_to(room.outside)
    box = room.box()
    with swapping(room.work / "place", room.work / "link"):
        seen_in_both_states(
            lambda number: ask_for(box, "write_file", path=f"place/evil{number}", content="evil").result.error, 300
        )
        seen_in_both_states(lambda _: ask_for(box, "write_file", path="place/victim", content="evil").result.error, 300)
    assert everything_in(room.outside) == {"victim": b"old\n"}


@pytest.mark.skipif(sys.platform != "linux", reason="names change places in one step on Linux only")
def test_a_file_swapped_for_a_link_meanwhile_shows_no_secret(room: Room) -> None:
    (room.work / "place").write_text("good")
    (room.work / "link").symlink_to(room.home.folder / "whet.db")
    box = room.box()
    with swapping(room.work / "place", room.work / "link"):
        answers: list[ToolResult] = []

        def look(_: int) -> bool | None:
            answers.append(ask_for(box, "read_file", path="place").result)
            return answers[-1].error

        seen_in_both_states(look, 500)
    assert not any(SECRET in answer.text for answer in answers)


@pytest.mark.parametrize("arguments", [{"pattern": "sk-live|MIIB"}, {"pattern": "sk-live|MIIB", "path": ".."}])
def test_a_search_sees_no_secret(room: Room, arguments: dict[str, str]) -> None:
    prepared(room)
    (room.work / "own").write_text("sk-live here too")
    for path in (room.environment["PATH"], "/nowhere"):
        room.environment["PATH"] = path
        box = room.box(sandbox=Sandbox(readable=(str(room.base),)))
        text = ask_for(box, "search_files", **arguments).result.text
        assert "own:1" in text
        assert SECRET not in text
        assert "id_rsa" not in text


@pytest.mark.parametrize("path", ["{home}", "{person}/.ssh", "to_home", "/proc/self"])
def test_hidden_places_are_not_searched(room: Room, path: str) -> None:
    prepared(room)
    assert ask_for(room.box(), "search_files", pattern=".", path=fill(path, room)).result.error is True


def test_the_agent_does_not_work_in_whets_home(room: Room) -> None:
    room.work = room.home.folder
    with pytest.raises(WhetError, match="may not work"):
        room.box()


def everything_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def everything(room: Room) -> dict[str, bytes]:
    return everything_in(room.base)
