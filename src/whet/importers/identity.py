"""The id of a session that has none in its file."""

import hashlib
import os
from pathlib import Path

from whet.importers.source import Source

DIGEST_BYTES = 5
END_BYTES = 16 << 10


def identity(source: Source, index: int) -> str:
    """The id of a session that has none in its file: by the file's place, or by its content if it was piped in."""
    named = _ends(source.path) if source.name == "-" else str(source.path.absolute()).encode()
    digest = hashlib.blake2b(named, digest_size=DIGEST_BYTES).hexdigest()
    return f"{digest}-{Path(source.name).stem}#{index}"


def _ends(path: Path) -> bytes:
    """Enough of a file's content to tell it from another: its size, its start and its end."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        start = file.read(END_BYTES)
        file.seek(max(0, size - END_BYTES))
        return str(size).encode() + start + file.read(END_BYTES)
