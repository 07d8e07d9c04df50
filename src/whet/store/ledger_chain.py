"""The chain of hashes through the ledger: each entry's covers its row and all before it.

A home notes the newest entry that it has seen. So an entry that was changed, moved or cut off in the database is found,
and a database that was put in the place of a newer one as well.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.store.database import Database, Row
from whet.store.decoding import blob

COLUMNS = "number, step, form, name, home, ends, at, body, maker, seal"  # what a hash covers
CHAINED = ("ALTER TABLE entries ADD COLUMN hash {bytes}",)  # none where an older Whet wrote: the next one covers it too
HEAD = "ledger.head"
HASH_BYTES = 16
DIGITS = 12
NOTE = re.compile(rb"(\d{%d}) ([0-9a-f]{%d})\n" % (DIGITS, 2 * HASH_BYTES))


class Head(NamedTuple):
    """An entry of the ledger by its number and its hash."""

    number: int = 0
    hash: bytes = b""


def linked(before: bytes, row: Row) -> bytes:
    """The hash of a row, and of all before it by the hash of the one before."""
    number, step, form, name, home, ends, at, body, maker, seal = row
    covered = msgspec.json.encode((number, step, form, name, home, ends, float(at), blob(body), maker, seal))
    return hashlib.blake2b(before + covered, digest_size=HASH_BYTES).digest()


def chained(before: bytes, rows: Iterable[Row]) -> Iterator[Row]:
    """New rows, each with its hash at its end."""
    for row in rows:
        before = linked(before, row)
        yield (*row, before)


def newest(database: Database) -> Head:
    """The end of the chain. Where an older Whet wrote it, its hash is computed."""
    found = database.query("SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1")
    if not found:
        return Head()
    [(number, stored)] = found
    return Head(number, blob(stored)) if stored else Head(number, _walked(_rows(database)))


def broken(database: Database) -> Iterator[str]:
    """Every entry whose hash is not its own."""
    before, is_chained = b"", False
    for *row, stored in _rows(database):
        own = linked(before, tuple(row))
        if (stored or is_chained) and blob(stored or b"") != own:
            yield f"entry {row[0]} is not as it was entered"
        before, is_chained = blob(stored) if stored else own, is_chained or bool(stored)


def lost(database: Database, folder: Path) -> str:
    """What of the ledger this home has seen and the database has no more."""
    seen = noted(folder)
    if seen is None or has(database, seen):
        return ""
    last = newest(database).number
    if last < seen.number:
        missing = f"entries {last + 1} to {seen.number} are" if last + 1 < seen.number else f"entry {seen.number} is"
        return f"{missing} missing, which this home has seen"
    return f"entry {seen.number} is not the one that this home has seen"


def has(database: Database, head: Head) -> bool:
    """Whether the ledger of a database has this very entry, and so all that were before it."""
    found = database.query("SELECT hash FROM entries WHERE number = ?", (head.number,))
    return bool(found) and blob(found[0][0] or b"") == head.hash


def noted(folder: Path) -> Head | None:
    """The newest entry that a home has seen; None where it noted nothing that can be read."""
    try:
        text = (folder / HEAD).read_bytes()
    except OSError:
        return None
    found = NOTE.fullmatch(text)
    return Head(int(found[1]), bytes.fromhex(found[2].decode())) if found else None


def note(folder: Path, head: Head) -> None:
    """Remember the newest entry. A disk on which that cannot be done keeps nobody from working.

    The note has one length and is written in one piece over the old one: an older note says less, and nothing wrong,
    so the disk is not waited for.
    """
    known = noted(folder)
    if known is not None and known.number >= head.number:
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder / HEAD, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, f"{head.number:0{DIGITS}} {head.hash.hex()}\n".encode())
        finally:
            os.close(descriptor)


def _rows(database: Database) -> list[Row]:
    return database.query(f"SELECT {COLUMNS}, hash FROM entries ORDER BY number")


def _walked(rows: Iterable[Row]) -> bytes:
    before = b""
    for *row, stored in rows:
        before = blob(stored) if stored else linked(before, tuple(row))
    return before
