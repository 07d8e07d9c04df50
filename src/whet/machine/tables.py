"""The tables of a store on a Postgres server: copied out as they are at one moment, and copied in, all or none."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from whet.errors import WhetError
from whet.machine.archive import TABLES, ArchivedFile, ArchiveWriter, OpenArchive
from whet.store.database import Database
from whet.store.opening import MIGRATIONS, migrate, steps_taken, take_steps
from whet.store.postgres import Postgres

STEPS = "schema_steps"  # written by the steps themselves
ENDING = ".copy"
COLUMNS = (
    "SELECT column_name::text FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position"
)


class StoredTable(NamedTuple):
    """A table of the store with its columns."""

    name: str
    columns: tuple[str, ...]


def stored_tables(database: Database) -> Iterator[StoredTable]:
    """The tables of the store that are there, in the order in which they refer to each other."""
    for name in _made():
        columns = tuple(column for (column,) in database.query(COLUMNS, (name,)))
        if columns:
            yield StoredTable(name, columns)


def has_rows(database: Database) -> bool:
    """Whether anything is stored at all."""
    return any(database.query(f"SELECT 1 FROM {table.name} LIMIT 1") for table in stored_tables(database))


def add_tables(archive: ArchiveWriter, database: Postgres) -> None:
    """Add every table to an archive; within a transaction that reads, all are of one moment."""
    for table in stored_tables(database):
        pieces = database.copied_out(table.name, table.columns)
        archive.add(f"{TABLES}/{table.name}{ENDING}", pieces, columns=table.columns)


def load_tables(archive: OpenArchive, database: Postgres) -> None:
    """Put the tables of an archive in the place of those that are there; for a transaction that writes."""
    files = {_table_of(file): file for file in archive.manifest.files if file.name.startswith(f"{TABLES}/")}
    if not set(files) <= set(_made()):
        raise WhetError("The backup holds tables that Whet does not know.", advice="Upgrade Whet.")
    version = steps_taken(database)
    if version not in (0, archive.manifest.steps):
        raise WhetError(
            f"The backup has schema {archive.manifest.steps}, the server {version}. Nothing was restored.",
            advice="Restore it into an empty schema, which is then brought up to date.",
        )
    take_steps(database, archive.manifest.steps)
    tables = {table.name: table for table in stored_tables(database)}
    # The ledger refuses to shrink, and rows name who writes them: neither holds for rows that come back.
    _set_triggers(database, tables, "DISABLE")
    database.execute(f"TRUNCATE {', '.join(tables)}")
    for name in _made():
        if name in files:
            database.copy_in(name, _known(tables[name], files[name]), archive.pieces(files[name]))
    _set_triggers(database, tables, "ENABLE")
    for table in tables.values():
        _count_on(database, table)
    migrate(database)


def _made() -> tuple[str, ...]:
    made = (re.match(r"CREATE TABLE (\w+)", text) for step in MIGRATIONS for text in (*step.shared, *step.postgres))
    return tuple(dict.fromkeys(found[1] for found in made if found))


def _table_of(file: ArchivedFile) -> str:
    return file.name.removeprefix(f"{TABLES}/").removesuffix(ENDING)


def _known(table: StoredTable, file: ArchivedFile) -> tuple[str, ...]:
    if not set(file.columns) <= set(table.columns):
        raise WhetError(f"The backup's table {table.name} has columns that Whet does not know.", advice="Upgrade Whet.")
    return file.columns


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
