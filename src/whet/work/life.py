"""Whether a worker is alive: it holds a lock that its death lets go of, so no clock is needed to tell.

A lock on a server is lost without a death when the server restarts. It is taken again then, and a second sign is asked
for before anybody counts as dead: the lock on a file of the same machine, or a silence that lasts.
"""

import contextlib
import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from pathlib import Path
from threading import Event

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.folders import explained, locking
from whet.store.home import Home, prepare_home
from whet.store.opening import borrowed, connect

FOLDER = "workers"
LAST = "last"  # touched by each worker while it lives
BEAT_SECONDS = 1.0
SILENCE_SECONDS = 30.0
ALL_HELD = """SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
HELD = f"{ALL_HELD} AND pid = pg_backend_pid()"
RUN = "run-"  # how the names of programs begin that make a run of their own, and are no workers

Tell = Callable[[str], None]


class LifeSign(StrEnum):
    """What the locks of a name say about who held them. Silence is no proof: the server may have restarted."""

    ALIVE = "alive"
    SILENT = "silent"
    DEAD = "dead"


class HeldName:
    """A name that this process holds while it lives. `losses` counts how often its server forgot that."""

    def __init__(self, home: Home, name: str, tell: Tell = lambda _: None) -> None:
        self.losses = 0
        self._tell = tell
        self.trouble = ""
        self._home = home
        self._name = name
        self._taking = threading.Lock()
        self._database: Database | None = None
        self._key = 0

    def confirm(self) -> bool:
        """Whether the name is held at this moment. A lock that was lost is taken again; False where that fails."""
        if not self._home.database_url:
            return True
        with self._taking:
            try:
                is_held = self._take()
            except WhetError as error:
                self.let_go()
                self._note(f"{error.message} {error.advice}".strip())
                return False
            self._note("")
            return is_held

    def _note(self, trouble: str) -> None:
        if trouble != self.trouble:
            self.trouble = trouble
            self._tell(f"{trouble} Waiting for it." if trouble else "The server is back.")

    def let_go(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _take(self) -> bool:
        if self._database is None:
            self._database = connect(self._home, is_patient=False)
            self._key = _key(self._database, self._name)
        if (self._key,) in self._database.query(HELD):
            return True
        self.losses += 1
        self._database.expect_session()
        [(is_held,)] = self._database.query("SELECT pg_try_advisory_lock(?)", (self._key,))
        return bool(is_held)


@contextlib.contextmanager
def held(home: Home, how: int) -> Iterator[bool]:
    """Hold the folder of the workers' locks for the time of the block; False where that cannot be.

    Every worker shares it (LOCK_SH) before it touches anything else; whoever replaces the home has it alone (LOCK_EX).
    """
    folder = home.folder / FOLDER
    with explained(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with locking(descriptor, how) as is_held:
        is_there = folder.exists() and os.path.samestat(os.fstat(descriptor), folder.stat())
        yield is_held and is_there  # else the home was replaced before it was held


@contextlib.contextmanager
def occupied(home: Home) -> Iterator[None]:
    """Keep a home from being replaced while a worker is in it."""
    prepare_home(home)
    with held(home, fcntl.LOCK_SH) as is_held:
        if not is_held:
            raise WhetError("This home is being restored, so no worker starts.", advice="Start it again afterwards.")
        yield


@contextlib.contextmanager
def living(home: Home, name: str, tell: Tell = lambda _: None) -> Iterator[HeldName]:
    """Hold a name for the time of the block. `tell` is told why the server is away, and that it is back."""
    prepare_home(home)
    life, stop = HeldName(home, name, tell), Event()
    with _on_machine(home.folder / FOLDER, name):
        if not home.database_url:
            yield life
            return
        if not life.confirm():
            raise WhetError(life.trouble or f"Another process holds the name {name}.", advice="Try again.")

        def confirm() -> None:
            while not stop.wait(BEAT_SECONDS):
                life.confirm()

        beat = threading.Thread(target=confirm, daemon=True)
        beat.start()
        try:
            yield life
        finally:
            stop.set()
            beat.join()
            life.let_go()


def quiet(home: Home, names: Collection[str]) -> list[str]:
    """Those of the names whose lock nobody holds on the server, by one question; in a file's case all of them."""
    if not home.database_url or not names:
        return sorted(names)
    with borrowed(home) as database:
        held = database.query(ALL_HELD)
        return sorted(name for name in names if (_key(database, name),) not in held)


def is_worker_alive(folder: Path) -> bool:
    """Whether a worker of this machine lives in a home."""
    return any(_is_held(path) for path in _locks(folder) if not path.name.startswith(RUN))


def is_any_alive(folder: Path) -> bool:
    """Whether a worker or a run of this machine lives in a home: it holds its lock."""
    return any(_is_held(path) for path in _locks(folder))


def is_alive(home: Home, name: str, database: Database) -> bool:
    """Whether a name is held, here or on another machine of the team. It takes no lock, and leaves all as it is."""
    path = home.folder / FOLDER / f"{name}.lock"
    if not home.database_url or path.exists():
        return _is_held(path)
    return (_key(database, name),) in database.query(ALL_HELD)


def note_life(home: Home) -> None:
    """Leave the time of now, for whoever asks later when a worker last ran."""
    (home.folder / FOLDER / LAST).touch(mode=0o600)


def last_life(home: Home) -> float | None:
    """When a worker of this machine last ran; None where none ever did."""
    try:
        return (home.folder / FOLDER / LAST).stat().st_mtime
    except OSError:
        return None


def _locks(folder: Path) -> Iterator[Path]:
    return (folder / FOLDER).glob("*.lock")


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    with locking(descriptor, fcntl.LOCK_SH) as is_free:
        return not is_free


@contextlib.contextmanager
def sign_of(home: Home, name: str) -> Iterator[LifeSign]:
    """What can be told of a name; its locks are held for the time of the block, so that only one acts on it."""
    if not home.database_url:
        with _on_machine(home.folder / FOLDER, name) as is_free:
            yield LifeSign.DEAD if is_free else LifeSign.ALIVE
        return
    is_here = (home.folder / FOLDER / f"{name}.lock").exists()
    with contextlib.ExitStack() as locks:
        if not locks.enter_context(_on_server(home, name)):
            yield LifeSign.ALIVE
        elif not is_here:
            yield LifeSign.SILENT
        else:
            yield LifeSign.DEAD if locks.enter_context(_on_machine(home.folder / FOLDER, name)) else LifeSign.ALIVE


class Silences:
    """How long names have been silent, as one observer sees it."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._losses = 0

    def is_dead(self, name: str, sign: LifeSign, *, losses: int) -> bool:
        """Whether this sign is enough. An observer whose own lock was lost begins to count anew."""
        if losses != self._losses:
            self._since.clear()
            self._losses = losses
        if sign is not LifeSign.SILENT:
            self._since.pop(name, None)
            return sign is LifeSign.DEAD
        now = time.monotonic()
        return now - self._since.setdefault(name, now) >= SILENCE_SECONDS


@contextlib.contextmanager
def _on_machine(folder: Path, name: str) -> Iterator[bool]:
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{name}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with locking(descriptor) as is_free:
        yield is_free
        if is_free:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _on_server(home: Home, name: str) -> Iterator[bool]:
    """Locks of the session die with its connection."""
    database = connect(home)
    try:
        [(is_held,)] = database.query("SELECT pg_try_advisory_lock(?)", (_key(database, name),))
        yield bool(is_held)
    finally:
        database.close()


def _key(database: Database, name: str) -> int:
    """The name is hashed with the schema's, for locks are server-wide."""
    [(schema,)] = database.query("SELECT current_schema()")
    return int.from_bytes(hashlib.blake2b(f"{schema}\0{name}".encode(), digest_size=8).digest(), signed=True)
