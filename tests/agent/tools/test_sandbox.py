"""What the sandbox is told, and what people are told about it."""

import sys
from pathlib import Path

import pytest

from agent.tools.rooms import Room
from whet.agent.tools import launcher, sandbox
from whet.agent.tools.guard import CommandBounds, guard_of
from whet.agent.tools.sandbox import Wall, Walls, bubblewrap_options, landlock_rules, launch, note, probe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")


@pytest.fixture
def bounds(room: Room) -> CommandBounds:
    return CommandBounds(guard_of(room.work, room.home, room.environment), room.base / "temporary")


def test_what_is_hidden_is_mounted_after_what_is_writable(room: Room, bounds: CommandBounds) -> None:
    options = bubblewrap_options(bounds, sealed=True)
    opened = options.index(str(room.work))
    for place in (room.home.folder, room.person / ".ssh"):
        assert options[options.index(str(place)) - 1] == "--tmpfs"
        assert options.index(str(place)) > opened


def test_the_network_is_cut_unless_it_is_wanted(bounds: CommandBounds) -> None:
    assert "--unshare-net" in bubblewrap_options(bounds, sealed=True)
    assert "--unshare-net" not in bubblewrap_options(bounds._replace(network=True), sealed=True)


def test_landlock_grants_writing_beneath_the_folder_only(room: Room, bounds: CommandBounds) -> None:
    (room.base / "temporary").mkdir()
    rules = list(landlock_rules(bounds))
    writable = {path for path, access in rules if access & launcher.MAKE_REG}
    assert writable == {str(room.work), str(room.base / "temporary")}


def test_landlock_grants_no_reading_of_what_is_hidden(room: Room, bounds: CommandBounds) -> None:
    readable = [Path(path) for path, access in landlock_rules(bounds) if access & launcher.READ_FILE]
    for place in (room.home.folder / "whet.db", room.person / ".ssh" / "id_rsa", Path("/etc/shadow")):
        assert not any(each == place or each in place.parents for each in readable)
    assert not any(each in room.victim.parents for each in readable), "what no setting names is not seen"
    assert Path("/usr") in readable
    assert any(each in (room.home.folder / "skills" / "known" / "helper.sh").parents for each in readable)


def test_a_hidden_place_in_the_working_folder_is_not_writable(room: Room) -> None:
    guard = guard_of(room.base, room.home, room.environment)
    rules = landlock_rules(CommandBounds(guard, Path("/nowhere")))
    writable = [Path(path) for path, access in rules if access & launcher.WRITE_FILE and not path.startswith("/dev")]
    assert room.work in writable
    assert not any(each == room.home.folder or each in room.home.folder.parents for each in writable)


def test_without_a_sandbox_the_person_is_told() -> None:
    assert "has no terminal" in note(Walls(Wall.NONE), network=False)
    assert "wherever you can" in note(Walls(Wall.NONE), network=False, required=False)
    assert note(Walls(Wall.BUBBLEWRAP), network=False) == ""
    assert "Landlock" in note(Walls(Wall.LANDLOCK, abi=7), network=False)


@pytest.mark.parametrize(("abi", "gap"), [(1, "moved"), (2, "empty files outside"), (5, "signals")])
def test_an_older_landlock_is_told_by_what_it_leaves_open(abi: int, gap: str) -> None:
    assert gap in note(Walls(Wall.LANDLOCK, abi=abi), network=False)
    assert gap not in note(Walls(Wall.LANDLOCK, abi=abi + 1), network=False)


@pytest.mark.parametrize("abi", range(1, 8))
def test_rights_grow_with_the_version(abi: int) -> None:
    assert launcher.rights(abi) & launcher.rights(abi - 1) == launcher.rights(abi - 1)
    assert launcher.rights(7) & launcher.WRITE == launcher.WRITE


def test_a_machine_without_bubblewrap_uses_something_else() -> None:
    assert probe("/nowhere").wall in (Wall.LANDLOCK, Wall.NONE)


def test_every_wall_ends_what_it_started(room: Room, bounds: CommandBounds) -> None:
    for walls in (Walls(Wall.LANDLOCK, abi=7), Walls(Wall.NONE)):
        assert launch(walls, bounds, ("/bin/true",), folder=room.work, environment={}).leash
    bubblewrapped = launch(
        Walls(Wall.BUBBLEWRAP, "/usr/bin/bwrap"), bounds, ("/bin/true",), folder=room.work, environment={}
    )
    assert "--die-with-parent" in bubblewrapped.rest
    assert "--unshare-pid" in bubblewrapped.rest


@pytest.mark.parametrize("machine", sandbox.MACHINES)
@pytest.mark.parametrize("network", [True, False])
def test_a_filter_jumps_only_within_itself(machine: str, network: bool) -> None:
    body = sandbox.seccomp_program(network=network, machine=machine)
    steps = [(body[at], body[at + 2], body[at + 3]) for at in range(0, len(body), 8)]
    assert len(body) % 8 == 0
    for place, (code, if_so, if_not) in enumerate(steps):
        if code in (sandbox.EQUAL, sandbox.HAS_BITS):
            assert place + 1 + max(if_so, if_not) < len(steps)
    assert steps[-1][0] == sandbox.GIVE


def test_an_unknown_machine_has_no_filter() -> None:
    assert sandbox.seccomp_program(network=False, machine="pdp11") == b""
