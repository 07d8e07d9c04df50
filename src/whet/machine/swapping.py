"""Two folders exchanged in one step, where the system can.

Whether a home is in use.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from whet.errors import WhetError
from whet.store.folders import sync
from whet.store.home import Home
from whet.store.sqlite import DamagedDatabase, SQLite
from whet.work.life import held, is_any_alive


@contextlib.contextmanager
def excluded(home: Home) -> Iterator[SQLite | None]:
    """Nobody else uses a home in the block; raises WhetError where somebody does.

    It gives the home's database, locked; None where there is none, or none that can be opened.
    """
    if not home.folder.is_dir() or not any(home.folder.iterdir()):
        yield None
        return
    with held(home, fcntl.LOCK_EX) as is_held:
        if not is_held or is_any_alive(home.folder):
            raise WhetError("A worker is running in this home; nothing was changed.", advice="Stop it, then try again.")
        with _locked(home) as database:
            yield database


@contextlib.contextmanager
def _locked(home: Home) -> Iterator[SQLite | None]:
    if home.database_url or not home.database_path.exists():
        yield None
        return
    try:
        database = SQLite(home.database_path)
    except DamagedDatabase:
        yield None
        return
    with contextlib.closing(database):
        with contextlib.suppress(DamagedDatabase):
            database.exclude_others()
        yield database


AT_CURRENT = -100
EXCHANGE = 2
UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def swap(new: Path, place: Path, aside: Path | None) -> None:
    """Put a folder in its place, and what is there aside; None where nothing is."""
    try:
        if aside is None:
            new.rename(place)  # over an empty folder too
        elif _exchange(new, place):
            _set_aside(new, place, aside)
        else:
            _swap_in_turn(new, place, aside)
    except OSError as error:
        raise WhetError(
            f"{place} cannot be replaced: {error.strerror}. Nothing was restored.",
            advice="Restore into another folder with WHET_HOME: one on which no disk is mounted.",
        ) from error
    settle(place.parent)


def swap_back(new: Path, place: Path, aside: Path | None) -> None:
    """Undo a swap."""
    place.rename(new)
    if aside is not None:
        aside.rename(place)
    settle(place.parent)


def _set_aside(old: Path, place: Path, aside: Path) -> None:
    try:
        old.rename(aside)
    except OSError:
        _exchange(old, place)
        raise


def _swap_in_turn(new: Path, place: Path, aside: Path) -> None:
    place.rename(aside)
    try:
        new.rename(place)
    except OSError:
        aside.rename(place)
        raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders; False where the system has no such step."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(AT_CURRENT, os.fsencode(one), AT_CURRENT, os.fsencode(other), ctypes.c_uint(EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in UNABLE:
        return False
    raise OSError(number, os.strerror(number))


def settle(folder: Path) -> None:
    """Make sure of the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)
