"""The tables of a store on a Postgres server: copied out as they are at one moment, and copied in, all or none."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.opening import MIGRATIONS, migrate, steps_taken, take_steps
from whet.store.postgres import Postgres

COLUMNS = (
    "SELECT column_name::text FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position"
)
Columns = tuple[str, ...]


def stored_tables(database: Database) -> dict[str, Columns]:
    """The columns of the tables of the store that are there, in the order in which they refer to each other."""
    made = (re.match(r"CREATE TABLE (\w+)", text) for step in MIGRATIONS for text in (*step.shared, *step.postgres))
    names = dict.fromkeys(found[1] for found in made if found)
    found = {name: tuple(column for (column,) in database.query(COLUMNS, (name,))) for name in names}
    return {name: columns for name, columns in found.items() if columns}


def has_rows(database: Database) -> bool:
    """Whether anything is stored at all."""
    return any(database.query(f"SELECT 1 FROM {table} LIMIT 1") for table in stored_tables(database))


def copied_tables(database: Postgres) -> Iterator[tuple[str, Columns, Iterator[bytes]]]:
    """Every table with its columns and rows; within a transaction that reads, all are of one moment."""
    for name, columns in stored_tables(database).items():
        yield name, columns, database.copied_out(name, columns)


def load_tables(
    copied: Mapping[str, tuple[Columns, Callable[[], Iterator[bytes]]]], database: Postgres, *, steps: int
) -> None:
    """Put copied tables in the place of those that are there; for a transaction that writes."""
    version = steps_taken(database)
    if version not in (0, steps):
        raise WhetError(
            f"The backup has schema {steps}, the server {version}. Nothing was restored.",
            advice="Restore it into an empty schema, which is then brought up to date.",
        )
    take_steps(database, steps)
    tables = stored_tables(database)
    for name, (columns, _) in copied.items():
        if not set(columns) <= set(tables.get(name, ())):
            raise WhetError(f"Whet does not know the backup's table {name} or its columns.", advice="Upgrade Whet.")
    # The ledger refuses to shrink, and rows name who writes them: neither holds for rows that come back.
    _set_triggers(database, tables, "DISABLE")
    database.execute(f"TRUNCATE {', '.join(tables)}")
    for name in tables:
        if name in copied:
            columns, pieces = copied[name]
            database.copy_in(name, columns, pieces())
    _set_triggers(database, tables, "ENABLE")
    for name, columns in tables.items():
        if "no" in columns:  # the numbers that the server gives follow those that came back
            last = f"(SELECT coalesce(max(no), 0) + 1 FROM {name})"
            database.query(f"SELECT setval(pg_get_serial_sequence(?, 'no'), {last}, false)", (name,))
    migrate(database)


def _set_triggers(database: Database, tables: Iterable[str], state: str) -> None:
    for name in tables:
        database.execute(f"ALTER TABLE {name} {state} TRIGGER USER")
