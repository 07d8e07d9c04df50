"""The rows of a damaged SQLite file that can still be read, copied into a new one."""

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from whet.store.migrations import MIGRATIONS, migrate, steps_taken, take_steps
from whet.store.sqlite import DamagedDatabase, SQLite

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
