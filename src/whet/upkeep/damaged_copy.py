"""A copy of a damaged SQLite file that SQLite can open: its header says again what Whet's files say there."""

import shutil
from pathlib import Path

from whet.store.sqlite import SQLite

HEADER_BYTES = 100
PAGE_BYTES = 16_384  # of the files that Whet makes
PAGE_SIZES = {1 if size == 65_536 else size: size for size in (1 << power for power in range(9, 17))}
# What is the same in all files of Whet's, by its place in the header (https://sqlite.org/fileformat.html).
FIXED = (
    (0, b"SQLite format 3\0"),
    (18, bytes((2, 2, 0, 64, 32, 32))),  # a log, no room reserved, three fixed shares
    (44, (4).to_bytes(4)),  # the form of the schema
    (52, bytes(4)),  # no vacuum by itself
    (56, (1).to_bytes(4)),  # UTF-8
    (64, bytes(4)),
)
# The schema too may be damaged: SQLite is to read it nevertheless, and to run nothing that it says.
TOLERANT = ("writable_schema = ON", "trusted_schema = OFF", "temp_store = MEMORY")


def open_copy(damaged: Path, target: Path) -> SQLite:
    """Copy a file with its log, and open the copy; raises DamagedDatabase where that cannot be."""
    for end in ("", "-wal"):
        if Path(f"{damaged}{end}").exists():
            shutil.copyfile(f"{damaged}{end}", f"{target}{end}")
    size = target.stat().st_size
    with target.open("r+b") as file:
        header = file.read(HEADER_BYTES)
        file.seek(0)
        file.write(mended(header, size))
    return SQLite(target, TOLERANT)


def mended(header: bytes, size: int) -> bytes:
    """A header for a file of some size: a file that lost its end has fewer pages than it says."""
    made = bytearray(header.ljust(HEADER_BYTES, b"\0"))
    for at, value in FIXED:
        made[at : at + len(value)] = value
    page = PAGE_SIZES.get(int.from_bytes(made[16:18]), 0)
    if not page:
        page = PAGE_BYTES
        made[16:18] = page.to_bytes(2)
    made[28:32] = (-(-size // page)).to_bytes(4)
    made[92:96] = made[24:28]  # the number of pages counts where these two are the same
    return bytes(made)
