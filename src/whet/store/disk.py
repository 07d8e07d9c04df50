"""What systems do differently with open files: making sure that they are on the disk, and where they lie."""

import contextlib
import fcntl
import os
from pathlib import Path

from whet.errors import WhetError

OPENED = "/proc/self/fd"
LONGEST_PATH = 1_024  # of macOS
MOST_GIVEN_BYTES = 100_000_000


def sync(descriptor: int) -> None:
    """Have a file or folder on the disk for good. On macOS `fsync` leaves it in the drive's cache, which power ends."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        with contextlib.suppress(OSError):  # network and foreign file systems have no such order
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def place_of(descriptor: int, otherwise: Path) -> Path:
    """Where an open file really lies, spelled as on the disk as far as the system tells."""
    try:
        if hasattr(fcntl, "F_GETPATH"):  # macOS
            told = fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(LONGEST_PATH))
            return Path(os.fsdecode(told.rstrip(b"\0")))
        return Path(os.readlink(f"{OPENED}/{descriptor}"))
    except OSError:
        return Path(os.path.realpath(otherwise))


def spelled(path: Path) -> Path:
    """An existing path as it is spelled on the disk: where the file system ignores case, a name has many spellings."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return Path(os.path.realpath(path))
    try:
        return place_of(descriptor, path)
    finally:
        os.close(descriptor)


def read_given(path: Path, *, advice: str, most: int = MOST_GIVEN_BYTES) -> bytes:
    """What a file that a person named holds. It may be a pipe; raises WhetError for what has no end in sight."""
    try:
        with path.open("rb") as file:
            body = file.read(most + 1)
    except OSError as error:
        raise WhetError(f"{path} cannot be read: {error.strerror}.", advice=advice) from error
    if len(body) > most:
        raise WhetError(f"{path} is larger than {most // 1_000_000} MB.", advice=advice)
    return body


def text_given(path: Path, *, advice: str, most: int = MOST_GIVEN_BYTES) -> str:
    """The same as text."""
    try:
        return read_given(path, advice=advice, most=most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WhetError(f"{path} is not UTF-8 text.", advice=advice) from error
