"""The ledger's entries in the database, which refuses to change or remove one, and names who made it.

Where several homes share the database, entries count as follows: those on this home's own files, if this home sealed
them; those on rules, if this member made them, or one of the admins whom the settings name.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.errors import WhetError
from whet.ledger.entries import DECISIONS, Entry, State
from whet.ledger.folding import fold, seen_from
from whet.ledger.patches import Form
from whet.store.database import Database, Row
from whet.store.home import Home
from whet.store.opening import UNSHARED, Owner, owner_of
from whet.store.rows import blob
from whet.store.settings_file import load

COLUMNS = "number, step, form, name, home, ends, at, body, maker, seal"  # what a hash covers
HEAD = "ledger.head"
HASH_BYTES = 16
DIGITS = 12
NOTE = re.compile(rb"(\d{%d}) ([0-9a-f]{%d})\n" % (DIGITS, 2 * HASH_BYTES))
ENTRY = "entry"
INSERT = f"INSERT INTO entries ({COLUMNS}, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)


class EntryHead(NamedTuple):
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


def newest(database: Database) -> EntryHead:
    """The end of the chain."""
    found = database.query("SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1")
    return EntryHead(found[0][0], blob(found[0][1])) if found else EntryHead()


def _broken(rows: Iterable[Row]) -> Iterator[str]:
    """Every entry whose hash is not its own."""
    before = b""
    for *row, stored in rows:
        if blob(stored) != linked(before, tuple(row)):
            yield f"entry {row[0]} is not as it was entered"
        before = blob(stored)


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


def has(database: Database, head: EntryHead) -> bool:
    """Whether the ledger of a database has this very entry, and so all that were before it."""
    found = database.query("SELECT hash FROM entries WHERE number = ?", (head.number,))
    return bool(found) and blob(found[0][0]) == head.hash


def noted(folder: Path) -> EntryHead | None:
    """The newest entry that a home has seen; None where it noted nothing that can be read."""
    try:
        text = (folder / HEAD).read_bytes()
    except OSError:
        return None
    found = NOTE.fullmatch(text)
    return EntryHead(int(found[1]), bytes.fromhex(found[2].decode())) if found else None


def note(folder: Path, head: EntryHead) -> None:
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


class Ledger(NamedTuple):
    """The one ledger, as one home sees it. `owner` is empty where the database lies in the home itself."""

    database: Database
    owner: Owner = UNSHARED
    admins: tuple[str, ...] = ()
    folder: Path | None = None  # of the home, which notes the newest entry

    @property
    def home(self) -> str:
        return self.owner.id

    def entries(self) -> list[Entry]:
        """Every entry that counts here, the oldest first."""
        return [entry for entry, counts in self._all() if counts]

    def of_others(self) -> list[Entry]:
        """What other members decided on rules, the oldest first. It counts in their homes."""
        found = (entry for entry, counts in self._all() if not counts)
        return [entry for entry in found if entry.patch.form is Form.RULE and not entry.home]

    def state(self) -> State:
        """What is in force: the rules, and what is in this home's files."""
        return seen_from(self.home, fold(self.entries()))

    def entry(self, number: int) -> Entry:
        """One entry, whoever made it."""
        rows = self.database.query("SELECT number, maker, body FROM entries WHERE number = ?", (number,))
        found = _decoded(*rows[0]) if rows else None
        if found is None:
            raise WhetError(f"The ledger has no entry {number}.", advice="To list entries, run `whet ledger`.")
        return found

    def append(self, entries: Iterable[Entry], *, as_batch: bool = False) -> tuple[Entry, ...]:
        """Add entries at the end, all or none, and give them their numbers; a batch has that of its first."""
        added: list[Entry] = []
        with self.database.writing():
            last = newest(self.database)
            for number, entry in enumerate(entries, start=last.number + 1):
                batch = last.number + 1 if as_batch else entry.batch
                added.append(replace(entry, number=number, batch=batch, maker=self.database.member))
            rows = list(chained(last.hash, map(self._row, added)))
            self.database.many(INSERT, rows)
            if rows:
                self._note(EntryHead(added[-1].number, rows[-1][-1]))
        return tuple(added)

    def _note(self, head: EntryHead) -> None:
        """Remember the newest entry, unless the ledger is not the one that this home has seen: a check-up says so."""
        if self.folder is not None:
            seen = noted(self.folder)
            if seen is None or has(self.database, seen):
                self.database.afterwards(partial(note, self.folder, head))

    def faults(self) -> tuple[str, ...]:
        """What is wrong with the rows: a gap, an entry that cannot be read or was changed, a wrong seal or hash."""
        rows = self.database.query(f"SELECT {COLUMNS}, hash FROM entries ORDER BY number")
        found = (_fault(self.owner, place, row) for place, row in enumerate(rows, start=1))
        return tuple(each for each in found if each) or tuple(_broken(rows))

    def lost(self) -> str:
        """What this home has seen of the ledger and the database has no more; nothing where all is there."""
        return lost(self.database, self.folder) if self.folder is not None else ""

    def _all(self) -> Iterator[tuple[Entry, bool]]:
        """Every entry that can be read, and whether it counts here."""
        makers = (self.database.member, *self.admins) if self.home else ()  # whose rules count; all: ()
        rows = self.database.query("SELECT number, maker, body, seal FROM entries ORDER BY number")
        for number, maker, body, seal in rows:
            entry = _decoded(number, maker, body)
            if entry is None and not makers:
                raise WhetError(f"Entry {number} of the ledger is damaged.", advice="Restore a backup: `whet restore`.")
            if entry is not None and entry.home and entry.home == self.home:
                yield entry, self.owner.has_sealed(seal, *_sealed(number, blob(body)))
            elif entry is not None:
                yield entry, not makers or maker in makers

    def _row(self, entry: Entry) -> tuple[object, ...]:
        body = _encoder.encode(replace(entry, maker=""))  # who made it is for the database to say
        kind = (entry.step.value, entry.patch.form.value, entry.patch.name)
        ends = entry.begun or (entry.about if entry.step in DECISIONS else 0)
        seal = self.owner.seal(*_sealed(entry.number, body)) if entry.home == self.home else ""
        return (entry.number, *kind, entry.home, ends, entry.at, body, entry.maker, seal)


def ledger_of(home: Home, database: Database) -> Ledger:
    """The ledger as this home sees it. A home that shares its database with others has an identity of its own."""
    if not home.database_url:
        return Ledger(database, folder=home.folder)
    return Ledger(database, owner_of(home), load(home).team.admins, home.folder)


def _sealed(number: int, body: bytes) -> tuple[str, str, str]:
    return (ENTRY, str(number), body.decode(errors="replace"))


def _fault(owner: Owner, place: int, row: Row) -> str:
    number, step, form, name, home, _, at, body, maker, seal, _ = row
    entry = _decoded(number, maker, body)
    if number != place:
        return f"entry {place} is missing"
    if entry is None:
        return f"entry {number} cannot be read"
    if (entry.step, entry.patch.form, entry.patch.name, entry.home, entry.at) != (step, form, name, home, at):
        return f"entry {number} was changed"
    if home and home == owner.id and not owner.has_sealed(seal, *_sealed(number, blob(body))):
        return f"entry {number} has the name of this home and not its seal"
    return ""


def _decoded(number: int, maker: str, body: bytes) -> Entry | None:
    """The entry in a row; None for what a stranger wrote and nobody can read."""
    try:
        return replace(_decoder.decode(blob(body)), number=number, maker=maker)
    except msgspec.MsgspecError:
        return None
