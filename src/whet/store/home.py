"""The home folder: what people edit and where the embedded database lies; connections kept in reserve."""

import os
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.store.database import Database

MOST_KEPT = 4
DATABASE_NAME = "whet.db"


class Reserve:
    """Some open connections of one process to one server. None of them is in a transaction."""

    def __init__(self) -> None:
        self._kept: deque[Database] = deque()  # its ends can be used by several threads

    def take(self) -> Database | None:
        """The connection that was used last, which is the least likely to have been lost."""
        try:
            return self._kept.pop()
        except IndexError:
            return None

    def give_back(self, database: Database) -> None:
        if len(self._kept) < MOST_KEPT:
            self._kept.append(database)
        else:
            database.close()

    def close(self) -> None:
        while (database := self.take()) is not None:
            database.close()


class Home(NamedTuple):
    """Where Whet keeps its things, and the address of its database: empty for the embedded one.

    A process that opens the store again and again has a reserve of connections.
    """

    folder: Path
    database_url: str = ""
    reserve: Reserve | None = None

    @property
    def database_path(self) -> Path:
        return self.folder / DATABASE_NAME


def find_home(environment: Mapping[str, str]) -> Home:
    """The home folder that the environment names, or `.whet` in the person's own."""
    named = environment.get("WHET_HOME", "")
    folder = Path(os.path.expanduser(named)) if named else Path.home() / ".whet"
    if folder.parts[:1] and folder.parts[0].startswith("~"):
        raise WhetError(f"Nobody here is called {folder.parts[0]}.", advice="Set WHET_HOME to the path of a folder.")
    if folder.exists() and not folder.is_dir():
        raise WhetError(f"The home {folder} is not a folder.", advice="Set WHET_HOME to a folder, or move it away.")
    return Home(folder.absolute(), environment.get("WHET_DATABASE_URL", ""))


def prepare_home(home: Home) -> None:
    """Make the folder if it is not there, for its owner's eyes only."""
    try:
        home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.folder.stat().st_mode & 0o077:
            home.folder.chmod(0o700)
    except OSError as error:
        raise WhetError(
            f"The home folder {home.folder} cannot be used: {error.strerror or error}.",
            advice="Set WHET_HOME to a folder that you can write to.",
        ) from error


def holds(home: Home, path: Path) -> bool:
    """Whether a path is a file of Whet's own database, told without opening it.

    Opening and closing the live file, even to read it, would drop the locks that this process holds on it.
    """
    try:
        found = path.stat()
    except OSError:
        return False
    for name in (DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"):
        try:
            own = (home.folder / name).stat()
        except OSError:
            continue
        if os.path.samestat(found, own):
            return True
    return False
