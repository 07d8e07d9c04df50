"""What the store needs of a database, the same for SQLite and Postgres."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from whet.errors import WhetError

Dialect = Literal["sqlite", "postgres"]
Row = tuple[Any, ...]
Parameters = Sequence[object]


class Unreachable(WhetError):
    """The server does not answer, and may be back in a moment."""


class CannotWrite(WhetError):
    """The disk is full, read-only or failing: what was to be written is not stored, what is stored can be read."""


class Database(Protocol):
    """One connection. SQL is written once, with `?` for parameters, in the words that both dialects share."""

    @property
    def dialect(self) -> Dialect: ...

    @property
    def member(self) -> str:
        """Who writes here: the role that logged in to the server, or the account on this machine."""
        ...

    def query(self, sql: str, parameters: Parameters = ()) -> list[Row]: ...

    def execute(self, sql: str, parameters: Parameters = ()) -> None: ...

    def many(self, sql: str, rows: Iterable[Parameters]) -> None: ...

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Parameters]) -> None:
        """Add many rows to a table, in the quickest way that the database has."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """A transaction that excludes other writers from its start: wholly done, or not at all."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """A transaction in which every query sees the same state."""
        ...

    def afterwards(self, action: Callable[[], None]) -> None:
        """Do something once what is being written is stored, and not at all where it never is."""
        ...

    def expect_session(self) -> None:
        """Raise WhetError where locks of this connection are not its own, as behind a pooler in transaction mode."""
        ...

    def close(self) -> None: ...
