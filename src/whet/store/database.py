"""What the store needs of a database, the same for SQLite and Postgres."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from whet.errors import WhetError

Dialect = Literal["sqlite", "postgres"]
Row = tuple[Any, ...]
Parameters = Sequence[object]
OF_A_MEMBER = "SELECT, INSERT, UPDATE, DELETE"
DENIED = "42501"  # the server's code for a right that is missing
NO_SCHEMA = "3F000"  # and for a schema that a role may not see


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


def missing_right(role: str, schema: str, why: str) -> WhetError:
    """The error for a role that may not do something; the server's words say what, the advice which commands allow it.

    Rights on rows are all that a member needs. Who owns the tables can do more, and brings them up to date.
    """
    if "must be owner" in why:
        return WhetError(
            f"The database role {role} may not migrate the tables in {schema}: {why}.",
            advice="Run any command of this version once as the role that owns the tables.",
        )
    name, place = _quoted(role), _quoted(schema)
    return WhetError(
        f"The database role {role} lacks a right in the schema {schema}: {why}.",
        advice=f"The owner of the schema can grant it: GRANT USAGE ON SCHEMA {place} TO {name};"
        f" GRANT {OF_A_MEMBER} ON ALL TABLES IN SCHEMA {place} TO {name};"
        f" (and CREATE ON SCHEMA {place} where there are no tables yet).",
    )


def _quoted(name: str) -> str:
    plain = name.replace("_", "").isalnum() and name == name.lower() and not name[:1].isdigit()
    return name if plain else '"{}"'.format(name.replace('"', '""'))
