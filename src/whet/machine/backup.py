"""A backup: everything that a home holds, of one moment, in one file.

It is a zip with a manifest that names every file in it, with its size and digest.
"""

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import stat
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from whet import __version__
from whet.agent.providers.local_weights import FOLDER as MODELS
from whet.errors import WhetError
from whet.machine.services import KEYS_FILE
from whet.store.database import Database, Dialect
from whet.store.files import beneath
from whet.store.folders import OPENED, explained, sync
from whet.store.home import DATABASE_NAME, Home
from whet.store.opening import connect, steps_taken
from whet.store.sqlite import SQLite, copy_file
from whet.values import Value
from whet.work.life import FOLDER as WORKERS
from whet.work.system import FILE as ENGINE

FORMAT = "whet backup"
VERSION = 1
MANIFEST = "manifest.json"
HOME, DATABASES, TABLES = "home", "databases", "tables"  # the folders within
TABLE_ENDING = ".copy"
CHUNK_BYTES = 1 << 20
MOST_FILES = 100_000
MOST_MANIFEST_BYTES = 64 << 20
MOST_TIMES = 100  # what a file may grow by when it is unpacked, beyond the slack
SLACK_BYTES = 256 << 20
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LEVEL = 1  # which takes seven eighths of the time of 3, for files that are a twenty-fifth larger
LOCKED_SECONDS = 60.0

Progress = Callable[[int], None]


class ArchivedFile(Value, frozen=True):
    """A file of an archive; `columns` are those of a table."""

    name: str
    size: int
    digest: str
    is_program: bool = False
    columns: tuple[str, ...] = ()


class Manifest(Value, frozen=True):
    """What a backup holds, and of what it was made."""

    format: str
    version: int
    whet: str
    created: float
    dialect: Dialect
    steps: int  # of the schema
    sessions: int = 0
    entries: int = 0
    files: tuple[ArchivedFile, ...] = ()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


class ArchiveWriter(NamedTuple):
    """An archive that is being made."""

    zip: zipfile.ZipFile
    files: list[ArchivedFile]
    progress: Progress

    def add(
        self, name: str, pieces: Iterable[bytes], *, is_program: bool = False, columns: tuple[str, ...] = ()
    ) -> None:
        """Add a file, piece by piece."""
        digest, size = hashlib.sha256(), 0
        with self.zip.open(name, "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                digest.update(piece)
                size += len(piece)
                self.progress(len(piece))
        self.files.append(ArchivedFile(name, size, digest.hexdigest(), is_program, columns))

    def finish(self, manifest: Manifest) -> Manifest:
        """Write the manifest of what was added."""
        whole = msgspec.structs.replace(manifest, files=tuple(self.files))
        self.zip.writestr(MANIFEST, msgspec.json.encode(whole))
        return whole


@contextlib.contextmanager
def writing(file: IO[bytes], progress: Progress) -> Iterator[ArchiveWriter]:
    """An archive to be written into an open file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as packed:
        yield ArchiveWriter(packed, [], progress)


class OpenArchive(NamedTuple):
    """An archive whose manifest was read and found in order. What its files hold is checked as they are read."""

    zip: zipfile.ZipFile
    path: Path
    manifest: Manifest

    def pieces(self, file: ArchivedFile) -> Iterator[bytes]:
        """What a file holds; raises WhetError at the end where it is not what the manifest says."""
        digest, left = hashlib.sha256(), file.size
        with _explained(self.path), self.zip.open(file.name) as member:
            while piece := member.read(CHUNK_BYTES):
                left -= len(piece)
                if left < 0:
                    break
                digest.update(piece)
                yield piece
        if left or digest.hexdigest() != file.digest:
            raise damaged(self.path, f"{file.name} is not as it was written")

    def unpack(self, file: ArchivedFile, target: Path, progress: Progress) -> None:
        """Write a file to disk, for its owner only."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(target, flags, 0o700 if file.is_program else 0o600), "wb") as written:
            for piece in self.pieces(file):
                written.write(piece)
                progress(len(piece))
            written.flush()
            sync(written.fileno())


@contextlib.contextmanager
def working_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder to work in, gone afterwards. What a killed process left of such goes too: nobody holds its lock."""
    for left in parent.glob(f"{glob.escape(prefix)}*"):
        _remove_left_behind(left)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as made:
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield Path(made)
        finally:
            os.close(descriptor)


def _remove_left_behind(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        status = os.fstat(descriptor)
        # One that was made a moment ago may not have its lock yet.
        if status.st_uid == os.getuid() and status.st_mtime < time.time() - LOCKED_SECONDS:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[OpenArchive]:
    """An archive with a manifest that is in order; raises WhetError for one that is damaged or none of Whet's."""
    with contextlib.ExitStack() as stack:
        if path.exists() and not path.is_file():  # a device has no end
            raise _foreign(path)
        with _explained(path):
            packed = stack.enter_context(zipfile.ZipFile(path))
            manifest = _manifest(packed, path)
        _check(packed, path, manifest)
        yield OpenArchive(packed, path, manifest)


def damaged(path: Path, why: str) -> WhetError:
    """The error for an archive that is not as it was written."""
    return WhetError(f"{path} is damaged: {why}. Nothing was restored.", advice="Use another copy of this backup.")


def _manifest(packed: zipfile.ZipFile, path: Path) -> Manifest:
    found = [each for each in packed.infolist() if each.filename == MANIFEST]
    if len(found) != 1:
        raise _foreign(path)
    if found[0].file_size > MOST_MANIFEST_BYTES:
        raise damaged(path, "its list of files is too long")
    with packed.open(found[0]) as member:
        body = member.read(MOST_MANIFEST_BYTES + 1)
    try:
        manifest = msgspec.json.decode(body, type=Manifest)
    except msgspec.MsgspecError as error:
        raise _foreign(path) from error
    if manifest.format != FORMAT:
        raise _foreign(path)
    if manifest.version > VERSION:
        raise WhetError(f"{path} was written by a newer Whet ({manifest.whet}).", advice="Upgrade Whet.")
    return manifest


def _foreign(path: Path) -> WhetError:
    return WhetError(f"{path} is not a backup of Whet.", advice="Give a file that `whet backup` wrote.")


def _check(packed: zipfile.ZipFile, path: Path, manifest: Manifest) -> None:
    """Refuse what no backup contains, before anything is unpacked."""
    members = [each for each in packed.infolist() if each.filename != MANIFEST]
    named = {file.name: file for file in manifest.files}
    if len(members) > MOST_FILES or len({each.filename for each in members}) != len(members):
        raise damaged(path, "it has too many files, or one twice")
    if {each.filename for each in members} != named.keys() or len(named) != len(manifest.files):
        raise damaged(path, "its files are not those of its list")
    for each in members:
        _check_name(path, each.filename)
        is_plain = each.compress_type in PACKED and not each.flag_bits & 1
        if not is_plain or each.file_size != named[each.filename].size:
            raise damaged(path, f"{each.filename} is not as it was written")
    if manifest.size > MOST_TIMES * path.stat().st_size + SLACK_BYTES:
        raise damaged(path, "it claims to hold far more than its size allows")


def _check_name(path: Path, name: str) -> None:
    first, *rest = name.split("/")
    if first == DATABASES and rest in (["whet.db"], ["engine.db"]):
        return
    try:
        beneath(Path(), *rest)
    except WhetError as error:
        raise damaged(path, f"{name!r} is not the name of a file in a home") from error
    if first not in (HOME, TABLES) or any(part.startswith("engine.db") for part in rest):
        raise damaged(path, f"{name!r} is not the name of a file in a home")


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except zipfile.BadZipFile as error:
        raise WhetError(
            f"{path} is damaged, or is not a backup of Whet: {error}. Nothing was restored.",
            advice="Use another copy of this backup.",
        ) from error
    except (zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError) as error:
        raise damaged(path, str(error) or "it ends too early") from error
    except OSError as error:
        raise WhetError(f"{path} cannot be read: {error.strerror or error}.", advice="Check the path.") from error


def settle(folder: Path) -> None:
    """Make sure of the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


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


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0)


def _pieces(opened: IO[bytes]) -> Iterator[bytes]:
    """What a file holds, piece by piece; it is closed at the end."""
    with opened as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece


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
    if not home.database_url and not home.database_path.exists():
        left_out = _add_files(archive, home)
        return archive.finish(Manifest(FORMAT, VERSION, __version__, now, "sqlite", 0)), left_out
    with contextlib.closing(connect(home)) as reader, contextlib.ExitStack() as snapshot:
        with contextlib.ExitStack() as unchanging:
            if not (isinstance(reader, SQLite) and reader.is_alone):  # nobody changes the store or the files meanwhile
                writer = unchanging.enter_context(contextlib.closing(connect(home)))
                unchanging.enter_context(writer.writing())
            snapshot.enter_context(reader.reading())
            steps = steps_taken(reader)
            [(sessions,)] = reader.query("SELECT count(*) FROM sessions") if steps else [(0,)]
            [(entries,)] = reader.query("SELECT count(*) FROM entries") if steps else [(0,)]
            left_out = _add_files(archive, home)
            has_engine = not home.database_url and (home.folder / ENGINE).exists()
            engine = copy_file(home.folder / ENGINE, beside) if has_engine else None
        _add_database(archive, reader, beside)
    if engine is not None:
        archive.add(f"{DATABASES}/{ENGINE}", _pieces(engine))
    manifest = Manifest(FORMAT, VERSION, __version__, now, reader.dialect, steps, int(sessions), int(entries))
    return archive.finish(manifest), left_out


def _add_files(archive: ArchiveWriter, home: Home) -> tuple[Uncopied, ...]:
    left_out = []
    for found in home_files(home.folder):
        if isinstance(found, HomeFile):
            archive.add("/".join((HOME, *found.names)), _pieces(_opened(found.path)), is_program=found.is_program)
        else:
            left_out.append(found)
    return tuple(left_out)


def _add_database(archive: ArchiveWriter, database: Database, beside: Path) -> None:
    if not isinstance(database, SQLite):
        from whet.machine.tables import copied_tables  # noqa: PLC0415 - the driver is an extra
        from whet.store.postgres import Postgres  # noqa: PLC0415

        assert isinstance(database, Postgres)
        for table, pieces in copied_tables(database):
            archive.add(f"{TABLES}/{table.name}{TABLE_ENDING}", pieces, columns=table.columns)
        return
    faults = database.faults(with_indexes=False)
    if faults:
        raise WhetError(
            f"The database is damaged, so no backup was made: {faults[0]}.",
            advice="Run `whet doctor`; keep the backups that you have.",
        )
    archive.add(f"{DATABASES}/{DATABASE_NAME}", _pieces(database.copied(beside)))
