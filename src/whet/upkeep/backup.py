"""A backup: everything that a home holds, of one moment, in one file."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from whet import __version__
from whet.engine.system import FILE as ENGINE
from whet.errors import WhetError
from whet.store.database import Database
from whet.store.disk import sync
from whet.store.folders import explained
from whet.store.home import DATABASE_NAME, Home
from whet.store.migrations import steps_taken
from whet.store.opening import connect
from whet.store.sqlite import SQLite, copy_file, file_faults
from whet.upkeep.archive import (
    DATABASES,
    FORMAT,
    HOME,
    VERSION,
    ArchiveWriter,
    Manifest,
    Progress,
    working_folder,
    writing,
)
from whet.upkeep.home_files import HomeFile, Uncopied, home_files, pieces_of

PREFIX = ".whet-backup-"


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
    with explained(target), working_folder(target.parent, PREFIX) as work:
        made = work / "made"
        with made.open("xb") as file:
            made.chmod(0o600)
            with writing(file, progress) as archive:
                manifest, left_out = _add_all(archive, home, work, now)
            file.flush()
            sync(file.fileno())
        size = made.stat().st_size
        made.rename(target)
    return BackupReport(manifest, size, left_out)


def _add_all(archive: ArchiveWriter, home: Home, work: Path, now: float) -> tuple[Manifest, tuple[Uncopied, ...]]:
    if not home.database_url and not home.database_path.exists():
        left_out = _add_files(archive, home)
        return archive.finish(Manifest(FORMAT, VERSION, __version__, now, "sqlite", 0)), left_out
    with _connected(home) as reader, contextlib.ExitStack() as snapshot:
        with _unchanging(home, reader):
            snapshot.enter_context(reader.reading())
            steps = steps_taken(reader)
            [(sessions,)] = reader.query("SELECT count(*) FROM sessions") if steps else [(0,)]
            [(entries,)] = reader.query("SELECT count(*) FROM entries") if steps else [(0,)]
            left_out = _add_files(archive, home)
            engine = _copied_engine(home, work)
        _add_database(archive, reader, work)
    if engine is not None:
        archive.add(f"{DATABASES}/{ENGINE}", pieces_of(engine))
    manifest = Manifest(
        FORMAT, VERSION, __version__, now, reader.dialect, steps, sessions=int(sessions), entries=int(entries)
    )
    return archive.finish(manifest), left_out


@contextlib.contextmanager
def _unchanging(home: Home, reader: Database) -> Iterator[None]:
    """Nobody changes the store or the files in the block: other writers wait, where there can be any."""
    if isinstance(reader, SQLite) and reader.is_alone:
        yield
        return
    with _connected(home) as database, database.writing():
        yield


@contextlib.contextmanager
def _connected(home: Home) -> Iterator[Database]:
    with contextlib.closing(connect(home)) as database:
        yield database


def _add_files(archive: ArchiveWriter, home: Home) -> tuple[Uncopied, ...]:
    left_out = []
    for found in home_files(home.folder):
        if isinstance(found, HomeFile):
            archive.add("/".join((HOME, *found.names)), pieces_of(found.path), is_program=found.is_program)
        else:
            left_out.append(found)
    return tuple(left_out)


def _copied_engine(home: Home, work: Path) -> Path | None:
    source = home.folder / ENGINE
    if home.database_url or not source.exists():
        return None
    copy_file(source, work / ENGINE)
    return work / ENGINE


def _add_database(archive: ArchiveWriter, database: Database, work: Path) -> None:
    if not isinstance(database, SQLite):
        from whet.store.postgres import Postgres  # noqa: PLC0415 - the driver is an extra
        from whet.upkeep.tables import add_tables  # noqa: PLC0415

        assert isinstance(database, Postgres)
        add_tables(archive, database)
        return
    copy = work / DATABASE_NAME
    database.copy_to(copy)
    faults = file_faults(copy)
    if faults:
        raise WhetError(
            f"The database is damaged, so no backup was made: {faults[0]}.",
            advice="Run `whet doctor`; keep the backups that you have.",
        )
    archive.add(f"{DATABASES}/{DATABASE_NAME}", pieces_of(copy))
