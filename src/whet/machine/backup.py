"""A backup: everything that a home holds, of one moment, in one file."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Set
from pathlib import Path
from typing import IO, NamedTuple

from whet import __version__
from whet.agent.providers.local_weights import FOLDER as MODELS
from whet.errors import WhetError
from whet.machine.archive import (
    CHUNK_BYTES,
    DATABASES,
    FORMAT,
    HOME,
    TABLE_ENDING,
    TABLES,
    VERSION,
    ArchiveWriter,
    Manifest,
    Progress,
    writing,
)
from whet.machine.services import KEYS_FILE
from whet.store.database import Database
from whet.store.files import beneath
from whet.store.folders import OPENED, explained, settle, sync
from whet.store.home import DATABASE_NAME, Home
from whet.store.opening import connect, steps_taken
from whet.store.sqlite import SQLite, copy_file
from whet.work.life import FOLDER as WORKERS
from whet.work.system import FILE as ENGINE

PREFIX = ".whet-backup-"
# Locks of workers that live now, and the databases, which are copied in a way of their own.
PASSING = (WORKERS, *(f"{name}{end}" for name in (DATABASE_NAME, ENGINE) for end in ("", "-wal", "-shm", "-journal")))
# In no backup; a home that is replaced hands them on.
CARRIED = {KEYS_FILE: "API keys are not copied", MODELS: "models can be downloaded again"}


class Uncopied(NamedTuple):
    """A file or folder that a backup does not hold, and why."""

    name: str
    reason: str


class BackupReport(NamedTuple):
    """What was backed up, and what was not."""

    manifest: Manifest
    size: int  # of the file
    left_out: tuple[Uncopied, ...]


def back_up(home: Home, target: Path, *, now: float, progress: Progress) -> BackupReport:
    """Write a backup to a new file, for its owner only: wholly, or not at all. Others may use the home meanwhile."""
    if not home.folder.is_dir():
        raise WhetError(f"There is no home in {home.folder}.", advice="Set WHET_HOME to the one to back up.")
    if target.exists() or target.is_symlink():
        raise WhetError(f"{target} already exists.", advice="Choose another name, or move it away first.")
    if target.absolute().is_relative_to(home.folder):
        raise WhetError("The backup would be a part of the home.", advice="Choose a file outside it.")
    with explained(target), _unnamed(target.parent) as (file, source):
        with writing(file, progress) as archive:
            manifest, left_out = _add_all(archive, home, target.parent, now)
        file.flush()
        sync(file.fileno())
        size = os.fstat(file.fileno()).st_size
        os.link(source, target, src_dir_fd=file.fileno())  # which a full path needs not, and a link is followed by
        settle(target.parent)
    return BackupReport(manifest, size, left_out)


@contextlib.contextmanager
def _unnamed(folder: Path) -> Iterator[tuple[IO[bytes], str]]:
    """A new file without a name, of which a sudden end leaves nothing, and where it can be linked from.

    Where the system has no such files, it has a name that is taken away at the end.
    """
    name = ""
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (AttributeError, OSError):
        descriptor, name = tempfile.mkstemp(prefix=PREFIX, dir=folder)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file, name or f"{OPENED}/{descriptor}"
    finally:
        if name:
            os.unlink(name)


def _add_all(archive: ArchiveWriter, home: Home, beside: Path, now: float) -> tuple[Manifest, tuple[Uncopied, ...]]:
    manifest = Manifest(FORMAT, VERSION, __version__, now, "sqlite", 0)
    if not home.database_url and not home.database_path.exists():
        left_out = tuple(_add_files(archive, home.folder))
        return archive.finish(manifest), left_out
    with contextlib.closing(connect(home)) as reader, contextlib.ExitStack() as snapshot:
        with contextlib.ExitStack() as unchanging:
            if not (isinstance(reader, SQLite) and reader.is_alone):  # nobody changes the store or the files meanwhile
                writer = unchanging.enter_context(contextlib.closing(connect(home)))
                unchanging.enter_context(writer.writing())
            snapshot.enter_context(reader.reading())
            steps = steps_taken(reader)
            counted = "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM entries)"
            [(sessions, entries)] = reader.query(counted) if steps else [(0, 0)]
            left_out = tuple(_add_files(archive, home.folder))
            has_engine = not home.database_url and (home.folder / ENGINE).exists()
            engine = copy_file(home.folder / ENGINE, beside) if has_engine else None
        _add_database(archive, reader, beside)
    if engine is not None:
        archive.add(f"{DATABASES}/{ENGINE}", _pieces(engine))
    manifest = Manifest(FORMAT, VERSION, __version__, now, reader.dialect, steps, sessions, entries)
    return archive.finish(manifest), left_out


def _add_files(archive: ArchiveWriter, folder: Path) -> Iterator[Uncopied]:
    """Add every file of a home that belongs in a backup; gives what does not."""
    yield from (Uncopied(name, reason) for name, reason in CARRIED.items() if (folder / name).exists())
    yield from _add_within(archive, folder, (), skipped={*PASSING, *CARRIED})


def _add_within(
    archive: ArchiveWriter, folder: Path, names: tuple[str, ...], skipped: Set[str] = frozenset()
) -> Iterator[Uncopied]:
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
            yield from _add_within(archive, folder, inner)
        elif stat.S_ISREG(status.st_mode):
            opened = os.open(each.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            pieces = _pieces(os.fdopen(opened, "rb", buffering=0))
            archive.add("/".join((HOME, *inner)), pieces, is_program=bool(status.st_mode & stat.S_IXUSR))
        else:
            yield Uncopied("/".join(inner), "not an ordinary file")


def _pieces(opened: IO[bytes]) -> Iterator[bytes]:
    """What a file holds, piece by piece; it is closed at the end."""
    with opened as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece


def _add_database(archive: ArchiveWriter, database: Database, beside: Path) -> None:
    if not isinstance(database, SQLite):
        from whet.machine.tables import copied_tables  # noqa: PLC0415 - the driver is an extra
        from whet.store.postgres import Postgres  # noqa: PLC0415

        assert isinstance(database, Postgres)
        for name, columns, pieces in copied_tables(database):
            archive.add(f"{TABLES}/{name}{TABLE_ENDING}", pieces, columns=columns)
        return
    faults = database.faults(with_indexes=False)
    if faults:
        raise WhetError(
            f"The database is damaged, so no backup was made: {faults[0]}.",
            advice="Run `whet doctor`; keep the backups that you have.",
        )
    archive.add(f"{DATABASES}/{DATABASE_NAME}", _pieces(database.copied(beside)))
