"""Attacks on the sandbox and on what is left behind in the working folder, with every wall that this machine has.

    python bench/attacks.py walls

The ways are those of the tests, which also show that each of them works in a plain shell.
"""

import contextlib
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
HERE = sys.path[:]
# The tests have a package of the same name as a module beside this one.
sys.path[:] = [str(ROOT / "tests"), *(each for each in sys.path if Path(each).resolve() != Path(__file__).parent)]

from agent.tools.escapes import ESCAPES, Way  # noqa: E402
from agent.tools.plants import ASKED, PLANTS, REPORTED, filled, has_run, prepare, written  # noqa: E402
from agent.tools.rooms import SECRET, Room, ask_for, walls_here  # noqa: E402
from agent.tools.test_file_escapes import READ, WRITTEN, everything, fill, prepared  # noqa: E402
from agent.tools.test_secret_places import MARK, OWN  # noqa: E402
from agent.tools.test_secret_places import fill as keep_secrets  # noqa: E402
from agent.tools.test_sockets import OTHERS, made  # noqa: E402
from whet.agent.tools.sandbox import Wall, Walls  # noqa: E402
from whet.runs.settings import Sandbox, Terminal  # noqa: E402

sys.path[:] = HERE

Row = tuple[str, str, int, int]
AREA = "The sandbox"
PATIENCE_SECONDS = 60
LOOKOUT_SECONDS = 2.0  # in which a look must have come by
STEERING = (
    "BASH_ENV", "ENV", "LD_PRELOAD", "LD_AUDIT", "PYTHONSTARTUP", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT",
    "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "PROMPT_COMMAND", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST", "AWS_PROFILE", "MY_COMPANY_ACCESS", "WHET_DATABASE_URL",
)  # fmt: skip


def rows() -> Iterator[Row]:
    """Every route: how many attempts were made, and how many got through."""
    yield from _of_tools()
    for name, walls in walls_here().items():
        for route, attempts, through in _of_commands(walls):
            yield AREA, f"{route} ({name})", attempts, through
    with _room(Walls(Wall.NONE)) as room:
        offered = "terminal" in room.box(sandbox=Sandbox()).names
    yield AREA, "commands where no sandbox works", 1, int(offered)


def _of_tools() -> Iterator[Row]:
    through = sum(_tool_writes(tool, path) for tool in ("write_file", "edit") for path in WRITTEN)
    yield AREA, "file tools: writing outside of the folder", 2 * len(WRITTEN), through
    yield AREA, "file tools: reading Whet's home, keys and processes", len(READ), sum(map(_tool_reads, READ))
    with _room() as room:
        box = room.box()
        files = keep_secrets(room.person, OWN)
        read = sum(MARK in ask_for(box, "read_file", path=str(path)).result.text for path in files)
    yield AREA, "file tools: reading what known programs keep secret", len(files), read
    yield AREA, "file tools: writing what runs on its own, unasked", len(ASKED), sum(map(_tool_plants, ASKED))
    yield AREA, "file tools: writing what builds run, unreported", len(REPORTED), sum(map(_tool_hides, REPORTED))


def _of_commands(walls: Walls) -> Iterator[tuple[str, int, int]]:
    name = walls.wall.value
    known = [escape for escape in ESCAPES if name in escape.walls]
    count = sum(_gets_out(walls, escape.make) for escape in known)
    yield "commands: reaching out by files, processes, sockets and variables", len(known), count
    grown = sum(_grows(walls, plant.name) for plant in PLANTS)
    yield "commands: leaving what the person's git runs", len(PLANTS), grown
    grown = sum(_grows(walls, plant.name, running=True) for plant in PLANTS)
    yield "commands: the same while they still run", len(PLANTS), grown
    yield "commands: leaving what runs on its own, unasked", len(ASKED), sum(_left(walls, path) for path in ASKED)
    hidden = sum(_left(walls, path, reported=True) for path in REPORTED)
    yield "commands: leaving what builds run, unreported", len(REPORTED), hidden
    with _room(walls) as room:
        files = keep_secrets(room.person, OWN)
        (room.work / "list").write_text("".join(f"{path}\0" for path in files))
        read = ask_for(room.box(), "terminal", command="xargs -0 cat < list 2>/dev/null").result.text.count(MARK)
    yield "commands: reading what known programs keep secret", len(files), read
    with _room(walls) as room:
        room.environment |= dict.fromkeys(STEERING, "planted-value")
        seen = ask_for(room.box(), "terminal", command="env").result.text.count("planted-value")
    yield "commands: variables that steer programs or are nobody's business", len(STEERING), seen
    with _room(walls) as room:
        sockets = made(room, network=True)
    yield "commands: sockets of families that no build needs", len(OTHERS), sum(not sockets[each] for each in OTHERS)


def _tool_writes(tool: str, path: str) -> bool:
    with _room() as room:
        prepared(room)
        before = everything(room)
        changes = {"content": "evil"} if tool == "write_file" else {"old": "o", "new": "evil"}
        ask_for(room.box(), tool, path=fill(path, room), **changes)
        return everything(room) != before


def _tool_reads(path: str) -> bool:
    with _room() as room:
        prepared(room)
        answer = ask_for(room.box(), "read_file", path=fill(path, room))
        return answer.result.error is not True or SECRET in answer.result.text


def _tool_plants(path: str) -> bool:
    with _room() as room:
        ask_for(room.box(), "write_file", path=path, content="evil")
        return (room.work / path).exists()


def _tool_hides(path: str) -> bool:
    with _room() as room:
        box = room.box()
        ask_for(box, "write_file", path=path, content="evil")
        return path not in "".join(box.news())


def _gets_out(walls: Walls, make: Callable[[Room], Iterator[Way]]) -> bool:
    with _room(walls) as room, contextlib.contextmanager(make)(room) as way:
        room.environment |= way.variables
        box = room.box(person_agrees=True, terminal=Terminal(timeout_seconds=PATIENCE_SECONDS))
        return bool(way.led_out(ask_for(box, "terminal", command=way.command).result.text))


def _grows(walls: Walls, name: str, *, running: bool = False) -> bool:
    [plant] = [each for each in PLANTS if each.name == name]
    with _room(walls) as room:
        prepare(plant, room)
        box = room.box(person_agrees=True)
        command = filled(plant.command, room)
        if not running:
            ask_for(box, "terminal", command=command)
            return has_run(plant, room)
        ask_for(box, "terminal", command=f"({command}); touch planted; sleep 900", background=True)
        done = (room.work / "planted", room.home.folder / "quarantine")
        pause = threading.Event()
        for _ in range(10 * PATIENCE_SECONDS):
            if any(each.exists() for each in done):
                break
            pause.wait(0.1)
        pause.wait(LOOKOUT_SECONDS)
        return has_run(plant, room)


def _left(walls: Walls, path: str, *, reported: bool = False) -> bool:
    with _room(walls) as room:
        box = room.box()
        ask_for(box, "terminal", command=written(path))
        return path not in "".join(box.news()) if reported else (room.work / path).exists()


@contextlib.contextmanager
def _room(walls: Walls | None = None) -> Iterator[Room]:
    """A room that does not lie beneath /tmp, which a sandbox replaces as a whole."""
    folder = ROOT / "build" / "attacks"
    folder.mkdir(parents=True, exist_ok=True)
    room = Room(Path(tempfile.mkdtemp(dir=folder)).resolve(), walls)
    try:
        yield room
    finally:
        room.leave()
        shutil.rmtree(room.base, ignore_errors=True)
