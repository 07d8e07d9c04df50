"""A restored backup: the home afterwards is the old one or the new one, never half of each."""

import contextlib
import ctypes
import errno
import fcntl
import glob
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.machine.archive import (
    DATABASES,
    HOME,
    TABLE_ENDING,
    TABLES,
    Manifest,
    OpenArchive,
    Progress,
    damaged,
    reading,
)
from whet.machine.backup import CARRIED
from whet.store.folders import explained, locking, settle
from whet.store.home import Home
from whet.store.opening import FIRST, MIGRATIONS, NEWEST, connect
from whet.store.sqlite import DamagedDatabase, SQLite, file_faults, programs_in
from whet.work.life import held, is_any_alive

SPARE_BYTES = 64 << 20
LOCKED_SECONDS = 60.0
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
AT_CURRENT = -100
EXCHANGE = 2
UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


class RestoreReport(NamedTuple):
    """What was restored, and where the home lies that was replaced; empty where there was none."""

    manifest: Manifest
    replaced: str


def is_empty(home: Home) -> bool:
    """Whether nothing would be lost: no file in the home, no row on the server."""
    return not _has_files(home) and not _has_rows(home)


def _has_files(home: Home) -> bool:
    return home.folder.is_dir() and any(home.folder.iterdir())


def _has_rows(home: Home) -> bool:
    if not home.database_url:
        return False
    from whet.machine.tables import has_rows  # noqa: PLC0415 - the driver is an extra

    # Asked without the folder, which a connection would make.
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(connect(home._replace(folder=Path(folder)))) as it:
        return has_rows(it)


def read_manifest(path: Path, home: Home) -> Manifest:
    """What a backup holds; raises WhetError where it cannot be restored here."""
    with reading(path) as archive:
        _expect_fitting(archive, home)
        return archive.manifest


def restore(path: Path, home: Home, *, replace: bool, progress: Progress) -> RestoreReport:
    """Put a backup in the place of an empty home, or of any where that is wanted."""
    if not replace:
        _expect_empty(home)
    parent = home.folder.parent
    with explained(parent), reading(path) as archive:
        _expect_fitting(archive, home)
        parent.mkdir(parents=True, exist_ok=True)
        if archive.manifest.size + SPARE_BYTES > shutil.disk_usage(parent).free:
            raise WhetError(
                f"The disk has no room for {archive.manifest.size:,} bytes. Nothing was restored.",
                advice="Free some space.",
            )
        with working_folder(parent, f".{home.folder.name}.restoring-") as work:
            new = work / "home"
            _unpack(archive, new, progress)
            _carry_over(home.folder, new)
            with excluded(home):
                aside = _put(archive, home, new)
    return RestoreReport(archive.manifest, str(aside or ""))


@contextlib.contextmanager
def working_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder to work in, gone afterwards. What a killed process left of such goes too: nobody holds its lock."""
    for left in parent.glob(f"{glob.escape(prefix)}*"):
        _remove_left_behind(left)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as made, locking(os.open(made, FOLDER)):
        yield Path(made)


def _remove_left_behind(folder: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, FOLDER)
        status = os.fstat(descriptor)
        # One that was made a moment ago may not have its lock yet.
        is_old = status.st_uid == os.getuid() and status.st_mtime < time.time() - LOCKED_SECONDS
        with locking(descriptor) as is_free:
            if is_free and is_old:
                shutil.rmtree(folder, ignore_errors=True)


def _expect_empty(home: Home) -> None:
    if _has_files(home):
        raise WhetError(
            f"The home {home.folder} is not empty. Nothing was restored.",
            advice="Set WHET_HOME to an empty folder, or replace the home with --replace.",
        )
    if _has_rows(home):
        raise WhetError(
            "The database on the server is not empty. Nothing was restored.",
            advice="Restore into an empty schema, or replace the rows of all members with --replace.",
        )


def _put(archive: OpenArchive, home: Home, new: Path) -> Path | None:
    """Exchange the folders, and the tables on the server; where the server refuses at last, the folders go back."""
    aside = _aside(home.folder) if _has_files(home) else None
    with contextlib.ExitStack() as back:
        with _loaded(archive, home):
            swap(new, home.folder, aside)
            back.callback(swap_back, new, home.folder, aside)
        back.pop_all()
    return aside


@contextlib.contextmanager
def _loaded(archive: OpenArchive, home: Home) -> Iterator[None]:
    """The tables on the server are those of the archive if the block ends well, and else as they were."""
    if not home.database_url:
        yield
        return
    from whet.machine.tables import load_tables  # noqa: PLC0415
    from whet.store.postgres import Postgres  # noqa: PLC0415 - the driver is an extra

    tables = [file for file in archive.manifest.files if file.name.startswith(f"{TABLES}/")]
    copied = {
        file.name.removeprefix(f"{TABLES}/").removesuffix(TABLE_ENDING): (file.columns, partial(archive.pieces, file))
        for file in tables
    }
    with contextlib.closing(Postgres(home.database_url)) as database, database.writing():
        load_tables(copied, database, steps=archive.manifest.steps)
        yield


def _expect_fitting(archive: OpenArchive, home: Home) -> None:
    manifest = archive.manifest
    if manifest.steps > NEWEST:
        raise WhetError(
            f"The backup was written by a newer Whet ({manifest.whet}, schema {manifest.steps};"
            f" this one knows {NEWEST}). Nothing was restored.",
            advice="Upgrade Whet.",
        )
    if 0 < manifest.steps < FIRST:
        raise WhetError(
            f"The backup was written by an older Whet ({manifest.whet}, schema {manifest.steps};"
            f" this one needs {FIRST}). Nothing was restored.",
            advice="Import the sessions again: `whet import`.",
        )
    here = "postgres" if home.database_url else "sqlite"
    if manifest.dialect != here:
        wanted = "Set" if manifest.dialect == "postgres" else "Unset"
        raise WhetError(
            f"The backup is of a home with a {manifest.dialect} database; this one uses {here}. Nothing was restored.",
            advice=f"{wanted} WHET_DATABASE_URL.",
        )


def _unpack(archive: OpenArchive, folder: Path, progress: Progress) -> None:
    """Write the home to a new folder, and check its databases there."""
    folder.mkdir(mode=0o700)
    for file in archive.manifest.files:
        first, _, name = file.name.partition("/")
        if first in (HOME, DATABASES):
            archive.unpack(file, folder / name, progress)
        if first == DATABASES and (faults := file_faults(folder / name) or _own_programs(folder / name)):
            raise damaged(archive.path, f"{name}: {faults[0]}")
    for parent, _, _ in os.walk(folder):
        settle(Path(parent))


def _own_programs(path: Path) -> tuple[str, ...]:
    """What a database would do by itself that no step of the schema asked for, such as approve whatever is proposed."""
    steps = [statement for step in MIGRATIONS for statement in (*step.shared, *step.sqlite)]
    known = {" ".join(each.split()) for each in steps}
    found = ((kind, name) for kind, name, made_by in programs_in(path) if " ".join(made_by.split()) not in known)
    return tuple(f"it has a {kind} that Whet did not make, {name!a}" for kind, name in found)


def _carry_over(old: Path, new: Path) -> None:
    """What no backup holds, a home that is replaced hands on: keys are copied, models are linked."""
    for name in CARRIED:
        if (old / name).is_dir():
            shutil.copytree(old / name, new / name, symlinks=True, copy_function=_linked)
        elif (old / name).is_file():
            shutil.copy2(old / name, new / name)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a disk without links
        shutil.copy2(source, target, follow_symlinks=False)


def _aside(folder: Path) -> Path:
    stem = f"{folder.name}.replaced-{time.strftime('%Y%m%d')}"
    names = (f"{stem}-{number}" if number else stem for number in itertools.count())
    return next(path for name in names if not (path := folder.with_name(name)).exists())


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
