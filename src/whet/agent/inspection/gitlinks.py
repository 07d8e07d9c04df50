"""Gitlinks: the further repositories that git enters by itself, as the index of a repository lists them."""

import os
from collections.abc import Iterator

LARGEST_INDEX = 256_000_000
HEAD, FIXED = 12, 40  # bytes before the first entry; of an entry, before its hash
MODE = 24
REPOSITORY_MODE = b"\x00\x00\xe0\x00"
EXTENDED = 0x40


def gitlinks(repository: str) -> Iterator[str]:
    """The folders in which git looks for a repository whenever it looks at this one."""
    tree = os.path.dirname(repository)
    index = _read(f"{repository}/index")
    if REPOSITORY_MODE in index:
        size = 32 if b"sha256" in _read(f"{repository}/config").lower() else 20
        yield from (os.path.normpath(f"{tree}/{os.fsdecode(name)}") for name in names_in(index, size))


def names_in(index: bytes, size: int) -> Iterator[bytes]:
    """The names of all entries that are repositories; `size` is the length of a hash."""
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    place, name = HEAD, b""
    for _ in range(count):
        if place + FIXED + size + 2 > len(index):
            return
        mode, flags = index[place + MODE : place + MODE + 4], index[place + FIXED + size]
        begin = place + FIXED + size + (4 if flags & EXTENDED else 2)
        if version == 4:
            dropped, begin = _number(index, begin)
            end = index.find(b"\0", begin)
            name = name[: len(name) - dropped] + index[begin:end]
            place = end + 1
        else:
            end = index.find(b"\0", begin)
            name = index[begin:end]
            place += (end - place + 8) // 8 * 8
        if end < 0:
            return
        if mode == REPOSITORY_MODE:
            yield name


def _number(index: bytes, place: int) -> tuple[int, int]:
    """A number as git packs it, and where it ends."""
    value = index[place] & 0x7F
    while index[place] & 0x80 and place + 1 < len(index):
        place += 1
        value = ((value + 1) << 7) | (index[place] & 0x7F)
    return value, place + 1


def _read(path: str) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(LARGEST_INDEX)
    except OSError:
        return b""
