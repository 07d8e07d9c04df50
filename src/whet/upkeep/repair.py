"""A damaged SQLite store made anew from what can be read; the damaged file is kept."""

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.sessions.example_marks import places
from whet.store.adding import index_words, row_of
from whet.store.database import Database
from whet.store.folders import explained
from whet.store.home import DATABASE_NAME, Home
from whet.store.migrations import steps_taken
from whet.store.rows import Session
from whet.store.sessions import messages
from whet.store.sqlite import DamagedDatabase, SQLite
from whet.upkeep.chains import ChainFault, chain_faults, id_at, stored_sessions
from whet.upkeep.damaged_copy import open_copy
from whet.upkeep.salvage import SavedTable, count_again, save_rows
from whet.upkeep.swapping import settle
from whet.upkeep.workers import excluded

COMPANIONS = ("", "-wal", "-shm")
SHOWN = 8  # letters of an id


class RepairReport(NamedTuple):
    """What was saved, which sessions lost their end or went, and where the damaged file is kept."""

    tables: tuple[SavedTable, ...]
    shortened: tuple[str, ...]
    removed: tuple[str, ...]
    kept: str

    def count(self, table: str) -> int:
        return next((each.rows for each in self.tables if each.name == table), 0)


def repair(home: Home) -> RepairReport:
    """Put a new database in the place of a damaged one, with everything that can be read and is whole."""
    if home.database_url:
        raise WhetError(
            "Only the embedded database can be repaired.",
            advice="On Postgres, restore a backup, or `whet forget` damaged sessions and import them again.",
        )
    if not home.database_path.exists():
        raise WhetError("There is no database to repair.", advice="To make one, run `whet import`.")
    with explained(home.folder), tempfile.TemporaryDirectory(prefix=".whet-repairing-", dir=home.folder) as work:
        path = Path(work) / DATABASE_NAME
        with excluded(home) as old, _readable(home, old, Path(work)) as source:
            if old is not None and _is_intact(old):
                raise WhetError("The database is intact; nothing was changed.", advice="For the rest: `whet doctor`.")
            with contextlib.closing(SQLite(path)) as new:
                tables = save_rows(source, new)
                if not any(each.rows for each in tables):
                    raise _lost(home)
                shortened, removed = _mend(new)
                _index(new)
                tables = count_again(new, tables)
            kept = _put(home, path)
    return RepairReport(tables, shortened, removed, str(kept))


@contextlib.contextmanager
def _readable(home: Home, old: SQLite | None, work: Path) -> Iterator[SQLite]:
    """The database itself, or a copy with another header where it cannot be opened."""
    if old is not None:
        yield old
        return
    try:
        copy = open_copy(home.database_path, work / "copy.db")
    except DamagedDatabase as error:
        raise _lost(home) from error
    with contextlib.closing(copy):
        yield copy


def _lost(home: Home) -> WhetError:
    return WhetError(
        f"Nothing could be read from {home.database_path}; it was left as it is.",
        advice="Restore a backup: `whet restore FILE --replace`. Or move the file away and run `whet import`.",
    )


def _is_intact(database: SQLite) -> bool:
    return not database.faults() and steps_taken(database) > 0 and not any(True for _ in chain_faults(database))


def _mend(database: SQLite) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Leave of each session what its hashes vouch for: the messages before the first that is wrong."""
    shortened: dict[str, None] = {}
    removed: dict[str, None] = {}
    database.execute("PRAGMA foreign_keys = OFF")
    with database.writing():
        while faults := list(chain_faults(database)):
            for fault in faults:
                named = shortened if _shorten(database, fault) else removed
                named[fault.session.id[:SHOWN]] = None
        while orphans := database.query("PRAGMA foreign_key_check"):
            for table, rowid, *_ in orphans:
                database.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
    return tuple(each for each in shortened if each not in removed), tuple(removed)


def _shorten(database: Database, fault: ChainFault) -> bool:
    """Cut a session before its fault; False where nothing is left of it."""
    session, end = fault.session, fault.position
    database.execute("DELETE FROM files WHERE path = ?", (session.path,))  # so that it is imported again
    database.execute("DELETE FROM analyses WHERE session = ?", (session.no,))
    database.execute("DELETE FROM messages WHERE session = ? AND position >= ?", (session.no, end))
    head = id_at(database, session.no, end - 1) if end else None
    if head is None:
        database.execute("DELETE FROM messages WHERE session = ?", (session.no,))
        database.execute("DELETE FROM sessions WHERE no = ?", (session.no,))
        return False
    database.execute(
        "UPDATE sessions SET head = ?, message_count = ?, base_count = ? WHERE no = ?",
        (head, end, min(session.base_count, end), session.no),
    )
    return True


def _index(database: Database) -> None:
    """Make every message findable again."""
    for session in stored_sessions(database):
        with database.writing():
            _index_session(database, session)


def _index_session(database: Database, session: Session) -> None:
    whole = tuple(messages(database, session))
    examples = places(whole)
    numbers = database.query(
        "SELECT no, position FROM messages WHERE session = ? AND position < ?", (session.no, session.message_count)
    )
    used = database.query(
        "SELECT u.message, u.tool FROM uses AS u JOIN messages AS m ON m.no = u.message WHERE m.session = ?",
        (session.no,),
    )
    rows = (
        (no, row_of(whole[at], b"", (tool for of, tool in used if of == no), is_example=at in examples))
        for no, at in numbers
    )
    index_words(database, rows)


def _put(home: Home, new: Path) -> Path:
    """The new file in the place of the old, which goes aside with its log: a log must not meet another file."""
    names = (f"{DATABASE_NAME}.damaged-{number}" for number in itertools.count(1))
    kept = next(path for name in names if not (path := home.folder / name).exists())
    for end in COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            os.rename(f"{home.database_path}{end}", f"{kept}{end}")
    new.rename(home.database_path)
    settle(home.folder)
    return kept
