"""The tables of a store on a Postgres server: copied out as they are at one moment, and copied in, all or none."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.opening import MIGRATIONS, migrate, steps_taken, take_steps
from whet.store.postgres import Postgres

STEPS = "schema_steps"  # written by the steps themselves
COLUMNS = (
    "SELECT column_name::text FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position"
)


class StoredTable(NamedTuple):
    """A table of the store with its columns."""

    name: str
    columns: tuple[str, ...]


class CopiedTable(NamedTuple):
    """A table as it was copied out: its columns, and what gives its rows."""

    columns: tuple[str, ...]
    pieces: Callable[[], Iterator[bytes]]


def stored_tables(database: Database) -> Iterator[StoredTable]:
    """The tables of the store that are there, in the order in which they refer to each other."""
    for name in _made():
        columns = tuple(column for (column,) in database.query(COLUMNS, (name,)))
        if columns:
            yield StoredTable(name, columns)


def has_rows(database: Database) -> bool:
    """Whether anything is stored at all."""
    return any(database.query(f"SELECT 1 FROM {table.name} LIMIT 1") for table in stored_tables(database))


def copied_tables(database: Postgres) -> Iterator[tuple[StoredTable, Iterator[bytes]]]:
    """Every table with its rows; within a transaction that reads, all are of one moment."""
    for table in stored_tables(database):
        yield table, database.copied_out(table.name, table.columns)


def load_tables(copied: Mapping[str, CopiedTable], database: Postgres, *, steps: int) -> None:
    """Put copied tables in the place of those that are there; for a transaction that writes."""
    if not set(copied) <= set(_made()):
        raise WhetError("The backup holds tables that Whet does not know.", advice="Upgrade Whet.")
    version = steps_taken(database)
    if version not in (0, steps):
        raise WhetError(
            f"The backup has schema {steps}, the server {version}. Nothing was restored.",
            advice="Restore it into an empty schema, which is then brought up to date.",
        )
    take_steps(database, steps)
    tables = {table.name: table for table in stored_tables(database)}
    # The ledger refuses to shrink, and rows name who writes them: neither holds for rows that come back.
    _set_triggers(database, tables, "DISABLE")
    database.execute(f"TRUNCATE {', '.join(tables)}")
    for name in _made():
        if name in copied:
            database.copy_in(name, _known(tables[name], copied[name]), copied[name].pieces())
    _set_triggers(database, tables, "ENABLE")
    for table in tables.values():
        _count_on(database, table)
    migrate(database)


def _made() -> tuple[str, ...]:
    made = (re.match(r"CREATE TABLE (\w+)", text) for step in MIGRATIONS for text in (*step.shared, *step.postgres))
    return tuple(dict.fromkeys(found[1] for found in made if found))


def _known(table: StoredTable, copied: CopiedTable) -> tuple[str, ...]:
    if not set(copied.columns) <= set(table.columns):
        raise WhetError(f"The backup's table {table.name} has columns that Whet does not know.", advice="Upgrade Whet.")
    return copied.columns


def _set_triggers(database: Database, tables: Iterable[str], state: str) -> None:
    for name in tables:
        database.execute(f"ALTER TABLE {name} {state} TRIGGER USER")


def _count_on(database: Database, table: StoredTable) -> None:
    """Let the numbers that the server gives follow those that came back."""
    if "no" not in table.columns:
        return
    [(sequence,)] = database.query("SELECT pg_get_serial_sequence(?, 'no')", (table.name,))
    if sequence:
        sql = f"SELECT setval(CAST(? AS regclass), (SELECT coalesce(max(no), 0) + 1 FROM {table.name}), false)"
        database.query(sql, (sequence,))
