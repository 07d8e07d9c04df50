"""Where the engine keeps its work: a file of its own in the home, or a schema of its own beside the team's store."""

from typing import NamedTuple

from whet.engine.orders import Queue
from whet.store.home import Home, prepare_home
from whet.store.ledger import identity_of
from whet.store.opening import connect

FILE = "engine.db"
NAME = "whet"
# Work that an older Whet left must be taken up by a newer one, so the version stands still while the steps do.
VERSION = "1"
CLOCK = "clock"  # the kind of order that the schedule of the engine gives, once a minute
WATCH = "watch"  # the kind of order that the clock gives, once an hour
# Work on a home's own files: only a worker of that home can do it, and others that share the database must not.
OWN = (Queue.REVIEWS, Queue.JOBS, Queue.CHORES)


class System(NamedTuple):
    """The engine's database."""

    url: str
    schema: str = "whet_engine"  # of no meaning in a file


def system_of(home: Home) -> System:
    """Two stores in two schemas of one server have two engines."""
    if not home.database_url:
        prepare_home(home)
        return System(f"sqlite:///{home.folder / FILE}")
    database = connect(home)
    try:
        [(schema,)] = database.query("SELECT current_schema()")
    finally:
        database.close()
    return System(home.database_url) if schema == "public" else System(home.database_url, f"{schema}_engine")


def queue_name(home: Home, queue: Queue) -> str:
    """What the engine calls a queue: work on a home's own files waits in queues of that home."""
    identity = identity_of(home) if queue in OWN else ""
    return f"{queue.value}@{identity}" if identity else queue.value
