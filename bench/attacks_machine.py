"""The person's machine: databases without end, pipes and devices in place of files, agents' shells, the page.

An attempt gets through when a command hangs or fails with a traceback, when an agent's shell counts as the person, when
a space passes for a plain one, or when the page's token stands where others can read it.
"""

import contextlib
import itertools
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import apsw

from attack_sample import sampled
from whet.agents.formats.source import Source, Unreadable
from whet.agents.recognising import recognise
from whet.agents.registry import agents
from whet.cli.acting import ANY_AGENT
from whet.intake.arrivals import take_spool
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.hooks.events import END, put_in_spool
from whet.text.showing import shown

AREA = "The machine"
WHET = str(Path(sys.executable).with_name("whet"))
SECONDS = 60
DEVICES = ("/dev/zero", "/dev/urandom", "/dev/full", "link")
COMMANDS = (
    ("judge", "{}"), ("restore", "{}"), ("restore", "{}", "--replace"), ("try", "{}", "--cases", "."),
    ("migrate", "hermes", "{}"), ("run", "--system", "{}", "hello"),
)  # fmt: skip
ENDLESS = "WITH RECURSIVE t(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM t) SELECT {} FROM t"
HUGE = "hex(zeroblob(400000000))"
TABLES = {
    "opencode": {
        "session": "id time_created",
        "message": "id session_id data time_created",
        "part": "id message_id session_id data",
    },
    "goose": {
        "sessions": "id working_dir created_at extension_data",
        "messages": "id session_id role content_json created_timestamp",
    },
    "hermes": {
        "sessions": "id source started_at end_reason parent_session_id",
        "messages": "id session_id role content tool_calls timestamp",
    },
}
PATHS = (
    *("a" * length for length in (256, 300, 1_024, 4_091, 4_096, 5_000, 70_000)),
    *("/" + "b" * length for length in (255, 256, 4_090, 4_095, 9_000)),
    *("/" + "c/" * length for length in (2_045, 2_047, 2_048, 4_000)),
    "/tmp/\0x", "\0", "", "/" + "é" * 200 + ".jsonl",
    "/dev/zero", "/dev/stdin", "/proc/self/mem", "/tmp", "~/x", ".", "//",
)  # fmt: skip


def rows() -> Iterator[tuple[str, str, int, int]]:
    for route, attempts in ROUTES.items():
        found = list(attempts())
        yield AREA, route, len(found), sum(found)


@contextlib.contextmanager
def limited(seconds: int = SECONDS) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def hangs(command: list[str], folder: Path, **variables: str) -> bool:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "WHET_HOME": str(folder / "home"), **variables}
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            capture_output=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return b"Traceback" in done.stderr


def databases() -> Iterator[bool]:
    """Every table of three agents as a view, a recursive one, a huge one, a virtual table, and computed columns."""
    ways = (_endless, _huge, _nested, _generated, _virtual)
    computed_tables = ((tables, name) for tables in TABLES.values() for name in tables)
    for (tables, computed), make in sampled(itertools.product(computed_tables, ways)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.db"
            with contextlib.closing(apsw.Connection(str(path))) as connection:
                for table, own in tables.items():
                    plain = f"CREATE TABLE {table} ({','.join(own.split())})"
                    connection.execute(make(table, own.split()) if table == computed else plain)
            yield _is_endless(path)


def _endless(table: str, columns: list[str]) -> str:
    return f"CREATE VIEW {table} AS {ENDLESS.format(', '.join(f'x AS {name}' for name in columns))}"


def _huge(table: str, columns: list[str]) -> str:
    return f"CREATE VIEW {table} AS SELECT {', '.join(f'{HUGE} AS {name}' for name in columns)}"


def _nested(table: str, columns: list[str]) -> str:
    shown_columns = ", ".join(f"x AS {name}" for name in columns)
    inner = f"CREATE VIEW inner_{table} AS {ENDLESS.format('x')}"
    return f"{inner}; CREATE VIEW {table} AS SELECT {shown_columns} FROM inner_{table}"


def _generated(table: str, columns: list[str]) -> str:
    rest = ", ".join(f"{name} GENERATED ALWAYS AS ({HUGE}) VIRTUAL" for name in columns)
    return f"CREATE TABLE {table} (n, {rest}); INSERT INTO {table} (n) VALUES (1)"


def _virtual(table: str, columns: list[str]) -> str:
    made = f"CREATE VIRTUAL TABLE {table} USING fts5({', '.join(columns)})"
    return f"{made}; INSERT INTO {table} ({columns[0]}) VALUES ('s')"


def _is_endless(path: Path) -> bool:
    try:
        with limited(20):
            source = Source(path)
            found = recognise(source)
            for _ in found.read(source) if found else ():
                pass
    except Unreadable:
        return False
    except (TimeoutError, MemoryError):
        return True
    return False


def repositories() -> Iterator[bool]:
    """A pipe, a device or a folder where git keeps a file, seen by the commands that name projects."""
    places = ("logs/HEAD", "config", "commondir", "HEAD", "../.git")
    for name, kind in sampled(itertools.product(places, ("pipe", "device", "folder", "link"))):
        with tempfile.TemporaryDirectory() as base:
            folder = Path(base)
            (folder / "shop" / ".git" / "logs").mkdir(parents=True)
            place = folder / "shop" / ".git" / name
            if name == "../.git":
                os.rename(folder / "shop" / ".git", folder / "other")
                place = folder / "shop" / ".git"
            if kind == "pipe":
                os.mkfifo(place)
            elif kind == "folder":
                place.mkdir()
            else:
                place.symlink_to("/dev/zero" if kind == "device" else place)
            code = f"from whet.telling.targets.known_projects import name_of_project as n; n({str(folder / 'shop')!r})"
            yield hangs([sys.executable, "-c", code], folder)


def events() -> Iterator[bool]:
    """Events of a host that name records where none can be, beside one that can be taken in."""
    for path in sampled(PATHS):
        with tempfile.TemporaryDirectory() as base:
            home = Home(Path(base) / "home")
            home.folder.mkdir(mode=0o700)
            put_in_spool(str(home.folder), END, "claude-code", "s1", path=path, folder="/x")
            try:
                with limited(), opened(home) as database:
                    taken = [take_spool(home, database, secrets=None, now=now) for now in (0.0, 0.0, 1e12)]
            except (OSError, ValueError, TimeoutError):
                yield True
                continue
            yield bool(taken[0].report.imported)


def endless() -> Iterator[bool]:
    for command, device in sampled(itertools.product(COMMANDS, DEVICES)):
        with tempfile.TemporaryDirectory() as base:
            folder = Path(base)
            (folder / "link").symlink_to("/dev/zero")
            yield hangs([WHET, *(word.format(device) for word in command)], folder)


def shells() -> Iterator[bool]:
    """Shells with the marks of agents, and without any mark below a process of theirs."""
    if not _is_person([WHET, "memory", "add", "--yes", "x"]):
        raise ValueError("A shell without marks should be the person's; run this outside of an agent.")
    marks = (*ANY_AGENT, *(name for agent in agents() for name in agent.shell))
    yield from (_is_person([WHET, "memory", "add", "--yes", "x"], **{name: "1"}) for name in sampled(marks))
    programs = [name for agent in agents() for name in agent.programs]
    for program, session in sampled(itertools.product(programs, ("", "setsid -w "))):
        line = f"{session}sh -c '{WHET} memory add --yes x; true'; true"
        yield _is_person(["bash", "-c", f"exec -a {program} bash -c {shlex.quote(line)}"])


def _is_person(command: list[str], **variables: str) -> bool:
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        (folder / "home").mkdir(mode=0o700)
        (folder / "home" / "settings.toml").write_text("[trust]\ncommands = true\n")
        hangs(command, folder, **variables)
        return (folder / "home" / "memory.md").exists()


def spaces() -> Iterator[bool]:
    odd = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Zs" and chr(code) != " "]
    yield from (space in shown(text) for space in odd for text in (f"rm -rf{space}/", f"{space}x", f"x{space}"))


def tokens() -> Iterator[bool]:
    """How browsers are started, under several masks: what others could read, and what is left afterwards."""
    masks, forms = ("0", "022", "077", "027"), ("%s", "-u %s", "--new-window %s", "%s &", "")
    for mask, form in sampled(itertools.product(masks, forms)):
        with tempfile.TemporaryDirectory() as base:
            folder = Path(base)
            browser = folder / "browser"
            browser.write_text(
                f'#!/bin/sh\nfor last; do :; done\necho "$*" > {folder}/said\n'
                f'stat -c %a "${{last#file://}}" > {folder}/mode\n'
                f'stat -c %a "$(dirname "${{last#file://}}")" >> {folder}/mode\n: > {folder}/done\n'
            )
            browser.chmod(0o755)
            yield _is_told(folder, mask, f"{browser} {form}".strip())


def _is_told(folder: Path, mask: str, browser: str) -> bool:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "WHET_HOME": str(folder / "home"),
        "BROWSER": browser,
    }
    # Started in the background of a script, it would not hear Ctrl-C.
    command = ["env", "--default-signal=INT", "sh", "-c", f"umask {mask}; exec {WHET} page --port {port}"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    ) as process:
        with contextlib.suppress(TimeoutError), limited():
            while not (folder / "done").exists() and process.poll() is None:
                signal.sigtimedwait([], 0.05)
        process.send_signal(signal.SIGINT)
    said = (folder / "said").read_text() if (folder / "said").exists() else "token"
    modes = (folder / "mode").read_text().split() if (folder / "mode").exists() else []
    return "token" in said or modes != ["600", "700"] or Path(said.split()[-1].removeprefix("file://")).exists()


ROUTES = {
    "databases that compute without end": databases,
    "pipes and devices in a repository": repositories,
    "events of a host with impossible paths": events,
    "commands on files without an end": endless,
    "shells that an agent opened": shells,
    "spaces that pass for plain ones": spaces,
    "the page's token in reach of others": tokens,
}
