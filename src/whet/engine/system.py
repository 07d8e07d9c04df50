"""Where the engine keeps its work: a file of its own in the home, or a schema of its own beside the team's store."""

from typing import NamedTuple

from whet.store.home import Home, prepare_home
from whet.store.opening import connect

FILE = "engine.db"
NAME = "whet"
# Work that an older Whet left must be taken up by a newer one, so the version stands still while the steps do.
VERSION = "1"


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
