"""Which files of a home belong in a backup."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from whet.agent.providers.local_weights import FOLDER as MODELS
from whet.engine.life import FOLDER as WORKERS
from whet.engine.system import FILE as ENGINE
from whet.errors import WhetError
from whet.setup.service_texts import KEYS_FILE
from whet.store.files import beneath
from whet.store.home import DATABASE_NAME
from whet.upkeep.archive import CHUNK_BYTES

# Locks of workers that live now, and the databases, which are copied in a way of their own.
PASSING = (WORKERS, *(f"{name}{end}" for name in (DATABASE_NAME, ENGINE) for end in ("", "-wal", "-shm", "-journal")))
CARRIED = (KEYS_FILE, MODELS)  # in no backup; a home that is replaced hands them on


class HomeFile(NamedTuple):
    """A file of a home: its names beneath it, and whether it can be run."""

    path: Path
    names: tuple[str, ...]
    is_program: bool


class Uncopied(NamedTuple):
    """A file or folder that a backup does not hold, and why."""

    name: str
    reason: str


def home_files(folder: Path) -> Iterator[HomeFile | Uncopied]:
    """Every file of a home that belongs in a backup, and what of it does not."""
    for name, reason in ((KEYS_FILE, "API keys are not copied"), (MODELS, "models can be downloaded again")):
        if (folder / name).exists():
            yield Uncopied(name, reason)
    yield from _within(folder, (), skipped={*PASSING, *CARRIED})


def _within(folder: Path, names: tuple[str, ...], skipped: set[str]) -> Iterator[HomeFile | Uncopied]:
    with os.scandir(folder.joinpath(*names)) as found:
        entries = sorted((each for each in found if each.name not in skipped), key=lambda each: each.name)
    for each in entries:
        inner = (*names, each.name)
        try:
            status = each.stat(follow_symlinks=False)
            beneath(folder, *inner)
        except FileNotFoundError:
            continue  # it went away meanwhile
        except WhetError:
            yield Uncopied(ascii("/".join(inner))[1:-1], "not a name that Whet uses")
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _within(folder, inner, set())
        elif stat.S_ISREG(status.st_mode):
            yield HomeFile(Path(each.path), inner, bool(status.st_mode & stat.S_IXUSR))
        else:
            yield Uncopied("/".join(inner), "not an ordinary file")


def pieces_of(path: Path) -> Iterator[bytes]:
    """What a file holds, piece by piece."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece
