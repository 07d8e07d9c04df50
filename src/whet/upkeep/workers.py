"""Whether a home is in use."""

import contextlib
import fcntl
from collections.abc import Iterator

from whet.engine.life import held, is_any_alive
from whet.errors import WhetError
from whet.store.home import Home
from whet.store.sqlite import DamagedDatabase, SQLite


@contextlib.contextmanager
def excluded(home: Home) -> Iterator[SQLite | None]:
    """Nobody else uses a home in the block; raises WhetError where somebody does.

    It gives the home's database, locked; None where there is none, or none that can be opened.
    """
    if not home.folder.is_dir() or not any(home.folder.iterdir()):
        yield None
        return
    with held(home, fcntl.LOCK_EX) as is_held:
        if not is_held or is_any_alive(home.folder):
            raise WhetError("A worker is running in this home; nothing was changed.", advice="Stop it, then try again.")
        with _locked(home) as database:
            yield database


@contextlib.contextmanager
def _locked(home: Home) -> Iterator[SQLite | None]:
    if home.database_url or not home.database_path.exists():
        yield None
        return
    try:
        database = SQLite(home.database_path)
    except DamagedDatabase:
        yield None
        return
    with contextlib.closing(database):
        with contextlib.suppress(DamagedDatabase):
            database.exclude_others()
        yield database
