"""Profiles for the sandbox of macOS, read back as its language is described. The kernel that obeys them is not here."""

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tools.rooms import Room, ask_for
from agent.tools.seatbelt_rules import allows, rules_of
from whet.agent.tools.guard import CommandBounds, Guard, guard_of
from whet.agent.tools.sandbox import Wall, Walls, advice, holds_network, launch, note, probe
from whet.agent.tools.seatbelt import as_spelled, holds, profile

WORK, PERSON, TEMPORARY = Path("/Users/ann/work"), Path("/Users/ann"), Path("/private/var/folders/x/T/whet-1")
GUARD = Guard(WORK, frozenset({PERSON / ".ssh", PERSON / ".whet"}), (PERSON / ".whet" / "skills",))
BOUNDS = CommandBounds(
    GUARD,
    TEMPORARY,
    writable=(PERSON / "cache",),
    repositories=(WORK / ".git", WORK / "vendor" / "part" / ".git"),
    pointers=(WORK / "module" / ".git",),
)
PARTS = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
NAMES = PARTS.filter(lambda text: text not in (".", ".."))


def may(operation: str, value: object, bounds: CommandBounds = BOUNDS) -> bool:
    return allows(rules_of(profile(bounds)), operation, str(value))


def test_only_the_folders_and_the_temporary_folder_are_written() -> None:
    for place in (WORK / "a", TEMPORARY / "a", PERSON / "cache" / "a", WORK / ".git" / "index", "/dev/null"):
        assert may("file-write-create", place), place
    for place in (PERSON / ".zshrc", PERSON / "workshop", "/private/tmp/a", "/etc/hosts", "/dev/ttys001", "/dev/disk0"):
        assert not may("file-write-create", place), place


def test_everything_is_read_but_what_is_hidden() -> None:
    for place in ("/usr/lib/libSystem.B.dylib", PERSON / ".zshrc", PERSON / ".whet" / "skills" / "a" / "SKILL.md"):
        assert may("file-read-data", place), place
    for place in (PERSON / ".ssh" / "id_rsa", PERSON / ".whet" / "whet.db", PERSON / ".whet", "/dev/ttys001"):
        assert not may("file-read-data", place), place
    assert not may("file-write-data", PERSON / ".whet" / "skills" / "a" / "SKILL.md")


def test_a_path_to_what_is_readable_can_be_looked_up_and_not_listed() -> None:
    assert may("file-read-metadata", PERSON / ".whet")
    assert not may("file-read-data", PERSON / ".whet")
    assert not may("file-read-metadata", PERSON / ".whet" / "whet.db")


@pytest.mark.parametrize(
    "name", ["hooks/pre-commit", "hooks", "config", "config.worktree", "commondir", "HOOKS/x", "Config"]
)
def test_a_repository_keeps_its_settings_and_hooks_in_any_case(name: str) -> None:
    for repository in BOUNDS.repositories:
        assert not may("file-write-create", repository / name)
        assert may("file-read-data", repository / name)


def test_neither_a_repository_nor_a_folder_around_it_is_moved_away() -> None:
    for place in (
        WORK / ".git",
        WORK,
        WORK / "vendor",
        WORK / "vendor" / "part",
        WORK / "module",
        WORK / "module" / ".git",
    ):
        assert not may("file-write-unlink", place), place
    assert may("file-write-unlink", WORK / "vendor" / "other")


def test_what_is_hidden_in_a_writable_folder_is_not_written() -> None:
    inner = BOUNDS._replace(guard=Guard(PERSON, GUARD.hidden))
    assert may("file-write-data", PERSON / ".zshrc", inner)
    assert not may("file-write-data", PERSON / ".ssh" / "config", inner)
    assert not may("file-write-data", PERSON / ".SSH" / "config", inner)


def test_the_network_is_closed_unless_it_is_wanted() -> None:
    closed, opened = rules_of(profile(BOUNDS)), rules_of(profile(BOUNDS._replace(network=True)))
    about = [each for each in closed if any(word.startswith(("network", "system-socket")) for word in each.operations)]
    assert about == []
    assert allows(opened, "network-outbound", "/private/var/run/mDNSResponder")
    assert not allows(opened, "network-outbound", "/var/run/docker.sock")


@pytest.mark.parametrize(
    "service", ["com.apple.SecurityServer", "com.apple.coreservices.launchservicesd", "com.apple.appleeventsd"]
)
def test_no_service_starts_a_program_or_opens_a_keychain(service: str) -> None:
    assert not may("mach-lookup", service, BOUNDS._replace(network=True))


def test_other_processes_variables_are_not_read() -> None:
    assert may("sysctl-read", "kern.osrelease")
    assert not may("sysctl-read", "kern.procargs2")


@given(NAMES, NAMES, NAMES)
def test_whatever_stands_in_a_path_the_profile_reads_back_as_it_was(folder: str, hidden: str, name: str) -> None:
    work, place = Path("/w", folder), Path("/h", hidden)
    rules = rules_of(profile(CommandBounds(Guard(work, frozenset({place})), TEMPORARY)))
    assert allows(rules, "file-write-create", str(work / name))
    assert not allows(rules, "file-read-data", str(place / name))
    assert not allows(rules, "file-write-create", f"{work}-{name}")


def test_bounds_are_spelled_as_on_the_disk(room: Room) -> None:
    (room.base / "link").symlink_to(room.work)
    guard = guard_of(room.base / "link", room.home, room.environment)
    found = as_spelled(CommandBounds(guard, room.base, writable=(room.base / "link",)))
    assert found.guard.folder == room.work
    assert found.writable == (room.work,)
    assert room.person / ".ssh" in found.guard.hidden
    assert room.person / ".gnupg" not in found.guard.hidden  # nothing is there


def stand_in(folder: Path, script: str) -> str:
    """A program in the place of sandbox-exec."""
    program = folder / "sandbox-exec"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o700)
    return str(program)


@pytest.mark.parametrize(
    "script",
    [
        'shift 2; exec "$@"',  # holds nothing back
        "exit 71",  # cannot be used, as within another sandbox
        "exit 0",  # runs nothing
    ],
)
def test_a_program_that_does_not_hold_a_command_back_is_no_wall(tmp_path: Path, script: str) -> None:
    program = stand_in(tmp_path, script)
    assert not holds(program)
    assert probe("/nowhere", platform="darwin", program=program).wall is Wall.NONE


def test_a_missing_program_is_no_wall(tmp_path: Path) -> None:
    assert probe("/nowhere", platform="darwin", program=str(tmp_path / "missing")).wall is Wall.NONE


# Bubblewrap in the place of macOS's kernel: what it is told for each thing that the trial tries.
HELD = {
    "outside": '--ro-bind "$outside" "$outside"',
    "hidden": '--tmpfs "$hidden"',
    "git": '--ro-bind "$inside/.git" "$inside/.git"',
    "network": "$net",
}


def held_by_bubblewrap(folder: Path, held: Iterable[str]) -> str:
    script = f"""
    profile=$2 inside=$9 outside=${{10}} hidden=${{11}}
    case "$profile" in *network-outbound*) net= ;; *) net=--unshare-net ;; esac
    mkdir "$inside/.git"
    shift 2
    exec bwrap --bind / / --dev /dev {" ".join(HELD[each] for each in held)} -- "$@"
    """
    return stand_in(folder, script)


@pytest.mark.skipif(probe().wall is not Wall.BUBBLEWRAP, reason="bubblewrap does not work on this machine")
def test_a_wall_is_what_closes_every_way_that_is_tried(tmp_path: Path) -> None:
    program = held_by_bubblewrap(tmp_path, HELD)
    assert probe(platform="darwin", program=program) == Walls(Wall.SEATBELT, program)
    for left_out in HELD:
        assert not holds(held_by_bubblewrap(tmp_path, HELD.keys() - {left_out})), left_out


def test_a_command_is_started_with_its_profile(room: Room) -> None:
    bounds = CommandBounds(guard_of(room.work, room.home, room.environment), room.base / "temporary")
    walls = Walls(Wall.SEATBELT, "/usr/bin/sandbox-exec")
    started = launch(walls, bounds, ("/bin/sh", "-c", ":"), folder=room.work, environment={})
    assert started.program[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert rules_of(started.program[2])
    assert started.rest == ("/bin/sh", "-c", ":")
    assert holds_network(walls, network=False)
    assert not holds_network(walls, network=True)


def test_the_terminal_works_with_commands_that_are_started_so(room_folder: Path, tmp_path: Path) -> None:
    room = Room(room_folder, Walls(Wall.SEATBELT, stand_in(tmp_path, 'shift 2; exec "$@"')))
    try:
        box = room.box()
        answer = ask_for(box, "terminal", command="mkdir a; cd a; echo out; exit 3")
        assert (answer.result.exit_code, answer.result.text) == (3, "out\n[exit code 3]")
        assert ask_for(box, "terminal", command="pwd").result.text == str(room.work / "a")
    finally:
        room.leave()


def test_what_it_does_not_hold_is_told() -> None:
    assert "session of its own" in note(Walls(Wall.SEATBELT, "/usr/bin/sandbox-exec"), network=False)
    assert "bubblewrap" in advice("linux")
    assert "bubblewrap" not in advice("darwin")


@pytest.mark.skipif(sys.platform != "darwin", reason="the sandbox of macOS")
def test_the_sandbox_of_this_mac_holds() -> None:
    assert holds()
