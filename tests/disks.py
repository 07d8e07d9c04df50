"""Disks for tests: a fast one in memory, where there is one with room, and small ones that are soon full."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
ROOM_BYTES = 1 << 30  # containers often have a few megabytes only


def fast_folder() -> Path | None:
    """Where temporary files are written fastest; None for the usual place."""
    is_there = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    return MEMORY if is_there and shutil.disk_usage(MEMORY).free > ROOM_BYTES else None


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A small file system of its own at a folder, where this user may make one."""
    folder.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"a file system cannot be mounted here: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


def fill_up(folder: Path) -> None:
    """Write until the disk has no room for one more byte."""
    with (folder / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
