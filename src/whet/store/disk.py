"""What systems do differently with open files: making sure that they are on the disk, and where they lie."""

import contextlib
import fcntl
import os
from pathlib import Path

OPENED = "/proc/self/fd"
LONGEST_PATH = 1_024  # of macOS


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
