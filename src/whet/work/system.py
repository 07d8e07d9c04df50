"""Where the engine keeps its work, a file in the home or a schema beside the team's store, and how much is open."""

import contextlib
import os
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.opening import UNSHARED, Owner, connect, owner_of
from whet.work.life import is_alive
from whet.work.orders import Queue

FILE = "engine.db"
IN_FILE = "sqlite:///"  # how the address of a file begins
NAME = "whet"
# Work that an older Whet left must be taken up by a newer one, so the version stands still while the steps do.
VERSION = "1"
CLOCK = "clock"  # what a worker does once a minute
WATCH = "watch"  # the kind of order that the clock gives, once an hour
ARRIVALS = "arrivals"  # the kind of order that the clock gives when a hook has left something
# Work that only the home that ordered it carries out. The attempts of trials are for all machines of a member.
OWN = (Queue.REVIEWS, Queue.JOBS, Queue.CHORES, Queue.TRIALS)
SQL = """SELECT status, attributes, executor_id FROM {table}
    WHERE name = 'carry_out' AND status IN ('ENQUEUED', 'DELAYED', 'PENDING')"""


class System(NamedTuple):
    """The engine's database, and who uses it: which home, and as which member of the team."""

    url: str
    schema: str = "whet_engine"  # of no meaning in a file
    owner: Owner = UNSHARED
    member: str = ""

    def queue(self, queue: Queue) -> str:
        """What the engine calls a queue, where others share it: one of this home, or of this member."""
        if not self.owner.id:
            return queue.value
        return f"{queue.value}@{self.owner.id if queue in OWN else self.member}"


def system_of(home: Home) -> System:
    """Two stores in two schemas of one server have two engines."""
    if not home.database_url:
        prepare_home(home)
        _create(home)
        return System(f"{IN_FILE}{quote(str(home.folder / FILE))}")
    database = connect(home)
    try:
        database.expect_session()  # the engine's own locks and notes are a session's
        return System(home.database_url, _schema(database), owner_of(home), database.member)
    finally:
        database.close()


def _schema(database: Database) -> str:
    [(schema,)] = database.query("SELECT current_schema()")
    return "whet_engine" if schema == "public" else f"{schema}_engine"


def damaged(path: Path, why: object) -> WhetError:
    """The error for an engine's file that cannot be read."""
    return WhetError(
        f"{path} is damaged: {why}.",
        advice=f"Stop the worker and move {path} away: queued work is lost, jobs and their runs are not.",
    )


def _create(home: Home) -> None:
    """Make the file for its owner only, before SQLite gives its own mode to it and to its journal.

    One that is there is not opened: to close it again would drop the locks that this process holds on it.
    """
    path = home.folder / FILE
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if path.stat().st_mode & 0o077:  # one that an older Whet made
            path.chmod(0o600)
    except OSError as error:
        raise WhetError(
            f"The engine's database {path} cannot be used: {error.strerror}.",
            advice="Check the folder's permissions and free space, or set WHET_HOME to another folder.",
        ) from error


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
    found = _on_server(database) if home.database_url else _in_file(home)
    begun: Counter[str] = Counter()
    waits: list[float] = []
    for status, attributes, worker in found:
        known = msgspec.json.decode(attributes) if isinstance(attributes, str) and attributes else attributes
        until = float((known or {}).get("waits", 0))
        if status == "PENDING" and until > now:
            waits.append(until)
        elif status == "PENDING":
            begun[worker or ""] += 1
    running = sum(number for name, number in begun.items() if is_alive(home, name, database))
    return OpenWork(len(found) - running - len(waits), running, len(waits), min(waits, default=0.0))


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
    name = _schema(database)
    if not database.query("SELECT to_regclass(?)", (f"{name}.workflow_status",))[0][0]:
        return []
    return database.query(SQL.format(table=f"{name}.workflow_status"))
