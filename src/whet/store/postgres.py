"""The team database: the same store on Postgres."""

import contextlib
from collections.abc import Iterable, Iterator

from whet.errors import WhetError
from whet.store.database import Dialect, Parameters, Row

try:
    import psycopg
except ModuleNotFoundError as missing:
    raise WhetError(
        "A Postgres database is set, but its driver is not installed.",
        advice="pip install 'whet[postgres]', or unset WHET_DATABASE_URL.",
    ) from missing

WRITERS_LOCK = 0x57486574  # one advisory lock for all writers of a store: short transactions, no deadlocks


class Postgres:
    """A connection to the store's schema on a Postgres server."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str) -> None:
        self._member = ""
        with _explained():
            self._connection = psycopg.connect(url, autocommit=True, application_name="whet")

    @property
    def member(self) -> str:
        if not self._member:
            [(self._member,)] = self.query("SELECT session_user::text")
        return self._member

    def query(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        with _explained():
            cursor = self._connection.execute(_translated(sql), tuple(parameters))
            return cursor.fetchall() if cursor.description else []

    def execute(self, sql: str, parameters: Parameters = ()) -> None:
        self.query(sql, parameters)

    def many(self, sql: str, rows: Iterable[Parameters]) -> None:
        values = [tuple(row) for row in rows]
        if not values:
            return
        with _explained(), self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql), values)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        if self._in_transaction:  # an inner transaction is part of the outer one
            yield
            return
        with _explained(), self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITERS_LOCK,))
            yield

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        if self._in_transaction:
            yield
            return
        with _explained(), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    def close(self) -> None:
        self._connection.close()

    @property
    def _in_transaction(self) -> bool:
        return self._connection.info.transaction_status is not psycopg.pq.TransactionStatus.IDLE


def _translated(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Say what a person can do where the server is at fault; the old state stands."""
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise WhetError("The server's disk is full; nothing was changed.", advice="Free some space there.") from error
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise WhetError(
            "The Postgres server is read-only.", advice="Point WHET_DATABASE_URL to its primary."
        ) from error
    except psycopg.OperationalError as error:
        raise WhetError(
            f"The Postgres server cannot be reached: {str(error).strip()}",
            advice="Check WHET_DATABASE_URL and that the server runs.",
        ) from error
