"""Connections to a server that are kept for whoever needs one next: a new one costs the server a process."""

from collections import deque

from whet.store.database import Database

MOST_KEPT = 4


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
