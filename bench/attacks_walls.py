"""Attacks on the sandbox and on what is left behind in the working folder, with every wall that this machine has.

    python bench/attacks.py walls

The ways are those of the tests, which also show that each of them works in a plain shell.
"""

import contextlib
import os
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
from agent.tools.plants import (  # noqa: E402
    ASKED,
    PLANTS,
    REPORTED,
    Plant,
    filled,
    has_run,
    planting,
    prepare,
    written,
)  # fmt: skip
from agent.tools.rooms import SECRET, Room, ask_for, walls_here  # noqa: E402
from agent.tools.test_file_escapes import READ, WRITTEN, everything, fill, prepared  # noqa: E402
from agent.tools.test_secret_places import MARK, OWN  # noqa: E402
from agent.tools.test_secret_places import fill as keep_secrets  # noqa: E402
from agent.tools.test_sockets import OTHERS, made  # noqa: E402
from proving.test_own_command import answer, done, serving  # noqa: E402
from whet.agent.tools.sandbox import Wall, Walls  # noqa: E402
from whet.agent.tools.situation import Terminal  # noqa: E402
from whet.own.runs.settings import Sandbox  # noqa: E402
from whet.proving.executing import AgentAccess  # noqa: E402

sys.path[:] = HERE

from attack_sample import sampled  # noqa: E402

ESCAPES, PLANTS = sampled(ESCAPES), sampled(PLANTS)
OFFERED, BUILT = sampled(ASKED), sampled(REPORTED)
OUTSIDE, INSIDE = sampled(WRITTEN), sampled(READ)
Row = tuple[str, str, int, int]
AREA = "The sandbox"
PATIENCE_SECONDS = 60
# What people and other agents keep where no list of secret places knows of it.
KEPT = (
    "other/.env", "other/.env.local", "other/config/master.key", "work2/secrets.yml", "Documents/passwords.txt",
    "Desktop/notes.txt", "Downloads/export.csv", ".unknown/credentials", ".unknownrc", ".config/unknown/token",
    ".config/unknown/config.toml", ".local/share/unknown/session", ".local/state/unknown/log", ".cache/unknown/token",
    ".claude/projects/x/session.jsonl", ".codex/sessions/2026/01/01/rollout.jsonl", ".gemini/tmp/x/chats/session.json",
    ".local/share/opencode/opencode.db", ".hermes/state.db", ".cursor/chats/x", ".config/Code/User/workspaceStorage/x",
    ".continue/sessions/x.json", ".aider.chat.history.md", ".cline/tasks/x/api.json", ".local/share/goose/sessions/x",
)  # fmt: skip
# Ways out of a network that has one proxy and one port of this machine: `{0}` is allowed, `{1}` is not.
ASKED_OF_PROXY = (
    "CONNECT 127.0.0.1:{1} HTTP/1.1", "CONNECT localhost:{1} HTTP/1.1", "CONNECT [::1]:{1} HTTP/1.1",
    "CONNECT 0.0.0.0:{1} HTTP/1.1", "CONNECT 127.1:{1} HTTP/1.1", "CONNECT 2130706433:{1} HTTP/1.1",
    "CONNECT 127.0.0.1:{0}@127.0.0.1:{1} HTTP/1.1", "CONNECT 127.0.0.1:{1}#127.0.0.1:{0} HTTP/1.1",
    "connect 127.0.0.1:{1} HTTP/1.1", "CONNECT  127.0.0.1:{1} HTTP/1.1", "CONNECT 127.0.0.1.:{1} HTTP/1.1",
    "GET http://127.0.0.1:{1}/ HTTP/1.1", "GET http://localhost:{1}/ HTTP/1.1",
    "GET http://127.0.0.1:{0}@127.0.0.1:{1}/ HTTP/1.1", "GET http://127.0.0.1:{1}?http://127.0.0.1:{0}/ HTTP/1.1",
    "GET HTTP://127.0.0.1:{1}/ HTTP/1.1", "GET / HTTP/1.1\r\nHost: 127.0.0.1:{1}",
    "GET http://127.0.0.1:{1}/ HTTP/1.0", "POST http://127.0.0.1:{1}/ HTTP/1.1",
    "GET http://0x7f000001:{1}/ HTTP/1.1",
)  # fmt: skip
DIALLED = ("127.0.0.1", "localhost", "::1", "0.0.0.0", "127.0.0.2", "host.docker.internal")
PROBE = r"""{python} - <<'END'
import os, socket
proxy = int(os.environ["HTTP_PROXY"].rpartition(":")[2])
for line in {lines!r}:
    try:
        with socket.create_connection(("127.0.0.1", proxy), 3) as asked:
            asked.sendall((line + "\r\nHost: 127.0.0.1\r\n\r\n").encode())
            asked.settimeout(2)
            if b" 200 " in asked.recv(4096):
                asked.sendall(b"GET / HTTP/1.0\r\n\r\n")
                asked.recv(4096)
    except OSError:
        pass
for host in {hosts!r}:
    try:
        with socket.create_connection((host, {port}), 2) as asked:
            asked.sendall(b"GET / HTTP/1.0\r\n\r\n")
            asked.recv(100)
    except OSError:
        pass
END"""
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
        for route, attempts, through in (*_of_commands(walls), *_of_agents(walls)):
            yield AREA, f"{route} ({name})", attempts, through
    with room_behind(Walls(Wall.NONE)) as room:
        offered = "terminal" in room.box(sandbox=Sandbox()).names
    yield AREA, "commands where no sandbox works", 1, int(offered)


def _of_tools() -> Iterator[Row]:
    through = sum(_tool_writes(tool, path) for tool in ("write_file", "edit") for path in OUTSIDE)
    yield AREA, "file tools: writing outside of the folder", 2 * len(OUTSIDE), through
    yield AREA, "file tools: reading Whet's home, keys and processes", len(INSIDE), sum(map(_tool_reads, INSIDE))
    with room_behind() as room:
        box = room.box()
        files = keep_secrets(room.person, OWN)
        read = sum(MARK in ask_for(box, "read_file", path=str(path)).result.text for path in files)
    yield AREA, "file tools: reading what known programs keep secret", len(files), read
    yield AREA, "file tools: writing what runs on its own, unasked", len(OFFERED), sum(map(_tool_plants, OFFERED))
    yield AREA, "file tools: writing what builds run, unreported", len(BUILT), sum(map(_tool_hides, BUILT))


def _of_commands(walls: Walls) -> Iterator[tuple[str, int, int]]:
    name = walls.wall.value
    known = [escape for escape in ESCAPES if name in escape.walls]
    count = sum(_gets_out(walls, escape.make) for escape in known)
    yield "commands: reaching out by files, processes, sockets and variables", len(known), count
    grown = sum(_grows(walls, plant) for plant in PLANTS)
    yield "commands: leaving what the person's git runs", len(PLANTS), grown
    grown = sum(_grows(walls, plant, running=True) for plant in PLANTS)
    yield "commands: the same while they still run", len(PLANTS), grown
    yield "commands: leaving what runs on its own, unasked", len(OFFERED), sum(_left(walls, path) for path in OFFERED)
    hidden = sum(_left(walls, path, reported=True) for path in BUILT)
    yield "commands: leaving what builds run, unreported", len(BUILT), hidden
    with room_behind(walls) as room:
        files = keep_secrets(room.person, OWN)
        (room.work / "list").write_text("".join(f"{path}\0" for path in files))
        read = ask_for(room.box(), "terminal", command="xargs -0 cat < list 2>/dev/null").result.text.count(MARK)
    yield "commands: reading what known programs keep secret", len(files), read
    with room_behind(walls) as room:
        room.environment |= dict.fromkeys(STEERING, "planted-value")
        seen = ask_for(room.box(), "terminal", command="env").result.text.count("planted-value")
    yield "commands: variables that steer programs or are nobody's business", len(STEERING), seen
    with room_behind(walls) as room:
        sockets = made(room, network=True)
    yield "commands: sockets of families that no build needs", len(OTHERS), sum(not sockets[each] for each in OTHERS)


def _of_agents(walls: Walls) -> Iterator[tuple[str, int, int]]:
    """What commands and other agents in trials see of a person's machine, and what such agents reach of the network."""
    with room_behind(walls) as room:
        files = keep_secrets(room.person, [*KEPT, *(f"../outside/{each}" for each in KEPT[:4])])
        (room.work / "list").write_text("".join(f"{path}\0" for path in files))
        box = room.box()
        read = ask_for(box, "terminal", command="xargs -0 cat < list 2>/dev/null").result.text.count(MARK)
        yield "commands: reading what no list of secrets knows", len(files), read
        read = sum(MARK in ask_for(box, "read_file", path=str(path)).result.text for path in files)
        yield "file tools: reading what no list of secrets knows", len(files), read
        script = "".join(f"cat '{path}' 2>/dev/null; " for path in files) + "true"
        seen = answer(done(room.base / "trial", script, AgentAccess({"HOME": str(room.person)}, walls=walls)))
        yield "agents in trials: reading outside of the workspace", len(files), seen.count(MARK)
    if walls.wall is Wall.BUBBLEWRAP:
        yield "agents in trials: reaching more than their endpoint", len(ASKED_OF_PROXY) + len(DIALLED), _reached(walls)


def _reached(walls: Walls) -> int:
    with room_behind(walls) as room, serving() as model, serving() as other:
        lines = [line.format(model.port, other.port) for line in ASKED_OF_PROXY]
        python = os.path.realpath(sys.executable)
        script = PROBE.format(python=python, lines=lines, hosts=DIALLED, port=other.port)
        answer(done(room.base / "trial", script, AgentAccess({}, endpoints=(model.url,), walls=walls), seconds=300.0))
        return other.hits


def _tool_writes(tool: str, path: str) -> bool:
    with room_behind() as room:
        prepared(room)
        before = everything(room)
        changes = {"content": "evil"} if tool == "write_file" else {"old": "o", "new": "evil"}
        ask_for(room.box(), tool, path=fill(path, room), **changes)
        return everything(room) != before


def _tool_reads(path: str) -> bool:
    with room_behind() as room:
        prepared(room)
        answer = ask_for(room.box(), "read_file", path=fill(path, room))
        return answer.result.error is not True or SECRET in answer.result.text


def _tool_plants(path: str) -> bool:
    with room_behind() as room:
        ask_for(room.box(), "write_file", path=path, content="evil")
        return (room.work / path).exists()


def _tool_hides(path: str) -> bool:
    with room_behind() as room:
        box = room.box()
        ask_for(box, "write_file", path=path, content="evil")
        return path not in "".join(box.news())


def _gets_out(walls: Walls, make: Callable[[Room], Iterator[Way]]) -> bool:
    with room_behind(walls) as room, contextlib.contextmanager(make)(room) as way:
        room.environment |= way.variables
        box = room.box(person_agrees=True, terminal=Terminal(timeout_seconds=PATIENCE_SECONDS))
        return bool(way.led_out(ask_for(box, "terminal", command=way.command).result.text))


def _grows(walls: Walls, plant: Plant, *, running: bool = False) -> bool:
    with room_behind(walls) as room:
        prepare(plant, room)
        box = room.box(person_agrees=True, sandbox=planting(room))
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
    with room_behind(walls) as room:
        box = room.box()
        ask_for(box, "terminal", command=written(path))
        return path not in "".join(box.news()) if reported else (room.work / path).exists()


@contextlib.contextmanager
def room_behind(walls: Walls | None = None) -> Iterator[Room]:
    """A room that does not lie beneath /tmp, which a sandbox replaces as a whole."""
    folder = ROOT / "build" / "attacks"
    folder.mkdir(parents=True, exist_ok=True)
    room = Room(Path(tempfile.mkdtemp(dir=folder)).resolve(), walls)
    try:
        yield room
    finally:
        room.leave()
        shutil.rmtree(room.base, ignore_errors=True)
