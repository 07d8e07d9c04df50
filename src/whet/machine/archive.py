"""The file of a backup: a zip with a manifest that names every file in it, with its size and digest.

Nothing in it is believed: what no backup contains is refused before anything is unpacked.
"""

import contextlib
import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.store.database import Dialect
from whet.store.files import beneath
from whet.store.folders import sync
from whet.values import Value

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
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
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
