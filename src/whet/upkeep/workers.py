"""Whether a worker lives in a home, told by its lock."""

import fcntl
import os
from pathlib import Path

from whet.engine.life import FOLDER


def is_any_alive(folder: Path) -> bool:
    """Whether a worker of this machine lives in a home: it holds its lock."""
    return any(_is_held(path) for path in (folder / FOLDER).glob("*.lock"))


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
