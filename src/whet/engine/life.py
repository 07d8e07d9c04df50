"""Whether a worker is alive: it holds a lock that its death lets go of, so no clock is needed to tell."""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from whet.store.home import Home
from whet.store.opening import connect

FOLDER = "workers"


@contextlib.contextmanager
def held(home: Home, name: str) -> Iterator[bool]:
    """Hold a worker's lock for the time of the block; False where its worker lives."""
    locked = _on_server(home, name) if home.database_url else _on_machine(home.folder / FOLDER, name)
    with locked as is_held:
        yield is_held


@contextlib.contextmanager
def _on_machine(folder: Path, name: str) -> Iterator[bool]:
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{name}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _on_server(home: Home, name: str) -> Iterator[bool]:
    """Locks of the session die with its connection. The name is hashed with the schema's, for locks are server-wide."""
    database = connect(home)
    try:
        [(schema,)] = database.query("SELECT current_schema()")
        digest = hashlib.blake2b(f"{schema}\0{name}".encode(), digest_size=8).digest()
        [(is_held,)] = database.query("SELECT pg_try_advisory_lock(?)", (int.from_bytes(digest, signed=True),))
        yield bool(is_held)
    finally:
        database.close()
