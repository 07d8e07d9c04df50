"""The store, opened where the home folder says it is."""

import contextlib
from collections.abc import Iterator

from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.migrations import migrate
from whet.store.sqlite import SQLite


@contextlib.contextmanager
def opened(home: Home) -> Iterator[Database]:
    """The database of a home, up to date, closed at the end or given back to the home's reserve."""
    with borrowed(home) as database:
        migrate(database)
        yield database


@contextlib.contextmanager
def borrowed(home: Home) -> Iterator[Database]:
    """A connection for the time of the block, whatever the version of the store is."""
    database = (home.reserve.take() if home.reserve else None) or connect(home)
    try:
        yield database
    except BaseException:
        database.close()
        raise
    if home.reserve:
        home.reserve.give_back(database)
    else:
        database.close()


def connect(home: Home, *, is_patient: bool = True) -> Database:
    """A connection of its own. A patient one waits for a server that is lost meanwhile, as when it restarts."""
    prepare_home(home)
    if not home.database_url:
        return SQLite(home.database_path)
    if not home.database_url.startswith(("postgres://", "postgresql://")):
        raise WhetError(
            "WHET_DATABASE_URL is not the address of a Postgres database.",
            advice="It looks like postgresql://user@host/name; unset it to use the embedded database.",
        )
    from whet.store.postgres import LOST_SECONDS, Postgres  # noqa: PLC0415 - the driver is an extra and slow to load

    return Postgres(home.database_url, lost_seconds=LOST_SECONDS if is_patient else 0.0)
