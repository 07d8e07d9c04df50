"""The JSON members of a zip file."""

import contextlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from whet.text.loose_json import Unreadable, parse

DAMAGE = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    NotImplementedError,  # a compression that this Python does not know
    RuntimeError,  # encrypted
    ValueError,
    OverflowError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)


class Archive:
    """An open zip file whose members are taken one at a time, so that memory holds one of them."""

    def __init__(self, archive: zipfile.ZipFile, limit_bytes: int) -> None:
        self._archive = archive
        self._limit_bytes = limit_bytes
        self.names: tuple[str, ...] = tuple(dict.fromkeys(archive.namelist()))

    def read(self, name: str) -> object:
        """One member as a JSON value, or `Unreadable` with the reason."""
        if name not in self.names:
            raise Unreadable(f"{name} is missing")
        try:
            with self._archive.open(name) as member:
                body = member.read(self._limit_bytes + 1)
        except DAMAGE as error:
            raise Unreadable(f"{name} cannot be read: {error}") from error
        if len(body) > self._limit_bytes:
            raise Unreadable(f"{name} is larger than {self._limit_bytes >> 20} MiB")
        try:
            return parse(body)
        except Unreadable as error:
            raise Unreadable(f"{name}: {error}") from error


@contextlib.contextmanager
def opened(path: Path, *, limit_bytes: int) -> Iterator[Archive]:
    """A zip file, or `Unreadable` with the reason."""
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGE as error:
        raise Unreadable(f"broken zip file: {error}") from error
    with contextlib.closing(archive):
        yield Archive(archive, limit_bytes)
