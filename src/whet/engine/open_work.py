"""How much work is open, asked of the engine's own table: loading the engine to count would take a second."""

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from whet.engine.life import is_alive
from whet.engine.system import FILE, damaged
from whet.store.database import Database
from whet.store.home import Home

SQL = """SELECT status, attributes, executor_id FROM {table}
    WHERE name = 'carry_out' AND status IN ('ENQUEUED', 'DELAYED', 'PENDING')"""


class OpenWork(NamedTuple):
    """Orders that are queued, that run, and that wait for another day; `until` is when the next of those goes on.

    What a worker had begun that is no more is queued: it waits for another.
    """

    queued: int = 0
    running: int = 0
    postponed: int = 0
    until: float = 0.0


def count_open_work(home: Home, database: Database, *, now: float) -> OpenWork:
    """What is open at this moment; nothing where no work was ever given."""
    found = list(_rows(home, database))
    waits = [each.until for each in found if each.is_begun and each.until > now]
    workers = Counter(each.worker for each in found if each.is_begun and each.until <= now)
    running = sum(number for name, number in workers.items() if is_alive(home, name, database))
    return OpenWork(len(found) - running - len(waits), running, len(waits), min(waits, default=0.0))


class _OpenRow(NamedTuple):
    is_begun: bool
    until: float
    worker: str


def _rows(home: Home, database: Database) -> Iterator[_OpenRow]:
    for status, attributes, worker in _on_server(database) if home.database_url else _in_file(home):
        known = msgspec.json.decode(attributes) if isinstance(attributes, str) and attributes else attributes
        yield _OpenRow(status == "PENDING", float((known or {}).get("waits", 0)), worker or "")


def _in_file(home: Home) -> list[Any]:
    path = home.folder / FILE
    if not path.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute(SQL.format(table="workflow_status")).fetchall()
        except sqlite3.OperationalError:  # made, and without tables yet
            return []
        except sqlite3.DatabaseError as error:
            raise damaged(path, error) from error


def _on_server(database: Database) -> list[Any]:
    [(schema,)] = database.query("SELECT current_schema()")
    name = "whet_engine" if schema == "public" else f"{schema}_engine"
    if not database.query("SELECT to_regclass(?)", (f"{name}.workflow_status",))[0][0]:
        return []
    return database.query(SQL.format(table=f"{name}.workflow_status"))
