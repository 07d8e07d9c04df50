"""A damaged SQLite store made anew from what can be read; the damaged file is kept.

A copy of a damaged SQLite file that SQLite can open: its header says again what Whet's files say there.

The rows of a damaged SQLite file that can still be read, copied into a new one.
"""

import contextlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw

from whet.errors import WhetError
from whet.sessions.example_marks import places
from whet.store.adding import index_words, row_of
from whet.store.database import Database
from whet.store.folders import explained
from whet.store.home import DATABASE_NAME, Home
from whet.store.migrations import MIGRATIONS, migrate, steps_taken, take_steps
from whet.store.rows import Session
from whet.store.sessions import messages
from whet.store.sqlite import DamagedDatabase, SQLite
from whet.upkeep.chains import ChainFault, chain_faults, id_at, stored_sessions
from whet.upkeep.swapping import excluded, settle

PAGE = 200
NEAR = 10_000  # more rows than a page can hold
BEYOND_ALL = 1 << 62
# A damaged row may claim any length.
UNREADABLE = (DamagedDatabase, apsw.SQLError, apsw.TooBigError, UnicodeDecodeError)
REBUILT = "message_index"
TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    f" AND name NOT LIKE '{REBUILT}%' AND name <> 'schema_steps'"
)


class SavedTable(NamedTuple):
    """How many rows of a table were saved, and whether all could be read."""

    name: str
    rows: int
    is_whole: bool


def save_rows(source: SQLite, target: SQLite) -> tuple[SavedTable, ...]:
    """Make the tables of the source in an empty target, with every row that can be read; then bring it up to date."""
    target.execute("PRAGMA foreign_keys = OFF")
    with target.writing():
        take_steps(target, _steps(source))
        triggers = target.query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        for name, _ in triggers:  # the ledger refuses an entry after a gap
            target.execute(f"DROP TRIGGER {name}")
        names = [name for (name,) in target.query(TABLES)]
        saved = tuple(_save(source, target, name) for name in names)
        while orphans := target.query("PRAGMA foreign_key_check"):
            target.many(f"DELETE FROM {orphans[0][0]} WHERE rowid = ?", _of_one(orphans))
        for _, statement in triggers:
            target.execute(statement)
    migrate(target)
    return saved


def count_again(database: SQLite, tables: tuple[SavedTable, ...]) -> tuple[SavedTable, ...]:
    """The tables with as many rows as they have now."""
    return tuple(each._replace(rows=_count(database, each.name)) for each in tables)


def _count(database: SQLite, table: str) -> int:
    [(count,)] = database.query(f"SELECT count(*) FROM {table}")
    return int(count)


def _steps(source: SQLite) -> int:
    try:
        return min(steps_taken(source) or len(MIGRATIONS), len(MIGRATIONS))
    except DamagedDatabase:
        return len(MIGRATIONS)


def _of_one(orphans: list[tuple[str, int]]) -> set[tuple[int]]:
    return {(row[1],) for row in orphans if row[0] == orphans[0][0]}


def _save(source: SQLite, target: SQLite, table: str) -> SavedTable:
    columns = [name for _, name, *_ in target.query(f"PRAGMA table_info({table})")]
    statement = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    is_whole = True
    for rows in _pages(source, table, ", ".join(columns)):
        if rows is None:
            is_whole = False
        else:
            target.many(statement, rows)
    return SavedTable(table, _count(target, table), is_whole)


def _pages(source: SQLite, table: str, columns: str) -> Iterator[list[tuple[object, ...]] | None]:
    """The rows, some at a time, and None for each gap."""
    start, size = 0, PAGE
    while start < BEYOND_ALL:
        try:
            rows = _read(source, table, columns, start, size)
        except UNREADABLE:
            if size == 1:
                yield None
                start = _beyond(source, table, columns, start)
            size = 1 if size > 1 else PAGE
            continue
        if not rows:
            return
        yield [row[1:] for row in rows]
        start = max(start, rows[-1][0]) + 1  # in a damaged page a number may be any


def _read(source: SQLite, table: str, columns: str, start: int, size: int) -> list[tuple[int, ...]]:
    sql = f"SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT ?"
    return source.query(sql, (start, size))


def _beyond(source: SQLite, table: str, columns: str, start: int) -> int:
    """The next number from which on rows can be read again: a damaged page hides a range of them."""
    for near in range(start + 1, start + NEAR):
        if _is_readable(source, table, columns, near):
            return near
    low, step = start + NEAR - 1, NEAR
    while not _is_readable(source, table, columns, start + step):
        low, step = start + step, step * 2
        if step >= BEYOND_ALL:
            return BEYOND_ALL
    high = start + step
    while high - low > 1:
        middle = (low + high) // 2
        if _is_readable(source, table, columns, middle):
            high = middle
        else:
            low = middle
    return high


def _is_readable(source: SQLite, table: str, columns: str, start: int) -> bool:
    try:
        _read(source, table, columns, start, 1)
    except UNREADABLE:
        return False
    return True


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
