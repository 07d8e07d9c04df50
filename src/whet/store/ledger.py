"""The ledger's entries in the database, which refuses to change or remove one."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.errors import WhetError
from whet.ledger.entries import DECISIONS, Entry, State
from whet.ledger.folding import fold, seen_from
from whet.store.database import Database
from whet.store.home import Home
from whet.store.owner import identity_of


class Ledger(NamedTuple):
    """The one ledger, as one home sees it. `home` is empty where the database lies in the home itself."""

    database: Database
    home: str = ""

    def entries(self) -> list[Entry]:
        """Every entry, the oldest first."""
        return [_decoder.decode(body) for (body,) in self.database.query("SELECT body FROM entries ORDER BY number")]

    def state(self) -> State:
        """What is in force: the rules, which all homes share, and what is in this home's files."""
        return seen_from(self.home, fold(self.entries()))

    def entry(self, number: int) -> Entry:
        rows = self.database.query("SELECT body FROM entries WHERE number = ?", (number,))
        if not rows:
            raise WhetError(f"The ledger has no entry {number}.", advice="`whet ledger` lists them.")
        return _decoder.decode(rows[0][0])

    def is_unfinished(self) -> bool:
        """Whether something was begun in this home and neither confirmed nor abandoned."""
        return bool(self.database.query(UNFINISHED, (self.home,)))

    def waiting(self, *, since: float) -> int:
        """How many changes that were proposed since then wait for a person's decision."""
        return int(self.database.query(WAITING, (self.home, since))[0][0])

    def append(self, entries: Iterable[Entry], *, as_batch: bool = False) -> tuple[Entry, ...]:
        """Add entries at the end, all or none, and give them their numbers; a batch has that of its first."""
        added: list[Entry] = []
        with self.database.writing():
            last = int(self.database.query("SELECT coalesce(max(number), 0) FROM entries")[0][0])
            for number, entry in enumerate(entries, start=last + 1):
                batch = last + 1 if as_batch else entry.batch
                added.append(replace(entry, number=number, batch=batch))
            self.database.many(INSERT, [_row(entry) for entry in added])
        return tuple(added)


INSERT = "INSERT INTO entries (number, step, form, name, home, ends, at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
UNFINISHED = """
    SELECT 1 FROM entries AS e WHERE e.step = 'begun' AND e.home = ?
    AND NOT EXISTS (SELECT 1 FROM entries AS later WHERE later.ends = e.number) LIMIT 1
"""
WAITING = """
    SELECT count(*) FROM entries AS e WHERE e.step = 'proposed' AND (e.home = '' OR e.home = ?) AND e.at > ?
    AND NOT EXISTS (SELECT 1 FROM entries AS later WHERE later.ends = e.number)
"""


def _row(entry: Entry) -> tuple[object, ...]:
    body = _encoder.encode(entry)
    kind = (entry.step.value, entry.patch.form.value, entry.patch.name)
    ends = entry.begun or (entry.about if entry.step in DECISIONS else 0)
    return (entry.number, *kind, entry.home, ends, entry.at, body)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)


def ledger_of(home: Home, database: Database) -> Ledger:
    """The ledger as this home sees it. A home that shares its database with others has an identity of its own."""
    return Ledger(database, identity_of(home))
