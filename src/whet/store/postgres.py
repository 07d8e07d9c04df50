"""The team database: the same store on Postgres."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from whet.errors import WhetError
from whet.shipped.extras import how_to_add
from whet.store.database import DENIED, NO_SCHEMA, CannotWrite, Dialect, Parameters, Row, Unreachable, missing_right

try:
    import psycopg
    import psycopg.conninfo
except ModuleNotFoundError as missing:
    raise WhetError(
        "A Postgres database is set, but its driver is not installed.",
        advice=f"Run `{how_to_add('postgres')}`, or unset WHET_DATABASE_URL.",
    ) from missing

WRITERS_LOCK = 0x57486574  # one advisory lock for all writers of a store: short transactions, no deadlocks
LOST_SECONDS = 60.0  # how long a server that was there may be away, as when it restarts
STATEMENT_MODE = "statement pooling mode"  # how PgBouncer says that it ended a transaction
REFUSAL = "FATAL:"  # how the server itself begins where it ends a connection
RETRY_SECONDS = 0.5
# A text vector comes as bytes in the server's own form.
TYPES = (
    "SELECT attname, CASE atttypid WHEN 'tsvector'::regtype THEN 'bytea' ELSE format_type(atttypid, NULL) END"
    " FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0"
)
READS = ("SELECT", "WITH")
SESSION_LOOKS = 5  # at a pooler; others may use the connection that gives it away
WHERE = "SELECT coalesce(current_schema(), split_part(current_setting('search_path'), ',', -1))"


class Postgres:
    """A connection to the store's schema on a Postgres server. One that is lost between transactions is made again."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str, *, lost_seconds: float = LOST_SECONDS) -> None:
        self._url = url
        self._lost_seconds = lost_seconds
        self._in_transaction = False
        self._afterwards: list[Callable[[], None]] = []
        self._member = ""
        self._column_types: dict[str, dict[str, str]] = {}
        with self._explained():
            self._connection = _connected(url)

    @property
    def member(self) -> str:
        if not self._member:
            [(self._member,)] = self.query("SELECT session_user::text")
        return self._member

    def query(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        with self._explained():
            self._expect_connection(is_read=sql.lstrip().startswith(READS))
            try:
                return self._ask(sql, parameters)
            except psycopg.OperationalError:
                if self._in_transaction or not self._connection.broken or not sql.lstrip().startswith(READS):
                    raise
                self._renew()
                return self._ask(sql, parameters)

    def execute(self, sql: str, parameters: Parameters = ()) -> None:
        self.query(sql, parameters)

    def many(self, sql: str, rows: Iterable[Parameters]) -> None:
        values = [tuple(row) for row in rows]
        if not values:
            return
        with self._explained():
            self._expect_connection()
            with self._connection.cursor() as cursor:
                cursor.executemany(_translated(sql), values)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Parameters]) -> None:
        with self._explained():
            self._expect_connection()
            types = [self._types(table)[column] for column in columns]
            statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)".encode()
            with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
                copy.set_types(types)
                for row in rows:
                    copy.write_row(row)

    def _types(self, table: str) -> dict[str, str]:
        """What each column is sent as, asked of the server once."""
        if table not in self._column_types:
            self._column_types[table] = dict(self._ask(TYPES, (table,)))
        return self._column_types[table]

    def copied_out(self, table: str, columns: Sequence[str]) -> Iterator[bytes]:
        """The rows of a table in Postgres' own notation, piece by piece."""
        statement = f"COPY {table} ({', '.join(columns)}) TO STDOUT (ENCODING 'UTF8')".encode()
        with self._explained(), self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            yield from (bytes(piece) for piece in copy)

    def copy_in(self, table: str, columns: Sequence[str], pieces: Iterable[bytes]) -> None:
        """Add rows in Postgres' own notation."""
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (ENCODING 'UTF8')".encode()
        with self._explained(), self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for piece in pieces:
                copy.write(piece)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        if self._in_transaction:  # an inner transaction is part of the outer one
            yield
            return
        with self._explained(), self._transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITERS_LOCK,))
            self._afterwards.clear()
            yield
        while self._afterwards:
            self._afterwards.pop(0)()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        if self._in_transaction:
            yield
            return
        with self._explained(), self._transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    def afterwards(self, action: Callable[[], None]) -> None:
        if self._in_transaction:
            self._afterwards.append(action)
        else:
            action()

    def expect_session(self) -> None:
        with self._explained():
            for _ in range(SESSION_LOOKS if _is_pooled(self._connection) else 0):
                with _connected(self._url) as other:
                    backends = [_backend(each) for each in (self._connection, other, self._connection)]
                if len({*backends}) != 2 or backends[0] != backends[2]:
                    raise WhetError(
                        "The pooler in front of the Postgres server is in transaction mode, where locks do not hold.",
                        advice="Set pool_mode = session there, or point WHET_DATABASE_URL to the server itself.",
                    )

    def close(self) -> None:
        self._connection.close()

    def _ask(self, sql: str, parameters: Parameters) -> list[Row]:
        cursor = self._connection.execute(_translated(sql), tuple(parameters))
        return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._connection.transaction())
            except psycopg.OperationalError:
                if not self._connection.broken:
                    raise
                self._renew()
                stack.enter_context(self._connection.transaction())
            self._in_transaction = True
            try:
                yield
            finally:
                self._in_transaction = False

    def _expect_connection(self, *, is_read: bool = False) -> None:
        """A statement that changes something by itself is not sent twice: ask first whether the server is there."""
        if not self._in_transaction and not is_read:
            self.query("SELECT 1")

    def _renew(self) -> None:
        """Wait for the server to come back."""
        self._connection.close()
        deadline = time.monotonic() + self._lost_seconds
        while True:
            try:
                self._connection = _connected(self._url)
                return
            except psycopg.OperationalError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(RETRY_SECONDS)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what a person can do where the server is at fault; the old state stands."""
        try:
            yield
        except psycopg.errors.DiskFull as error:
            raise CannotWrite(
                "The server's disk is full; this change was not stored.", advice="Free some space there."
            ) from error
        except psycopg.errors.ReadOnlySqlTransaction as error:
            raise CannotWrite(
                "The Postgres server is read-only.", advice="Point WHET_DATABASE_URL to its primary."
            ) from error
        except psycopg.OperationalError as error:
            said = _said(self._url, error)
            if REFUSAL in said and STATEMENT_MODE not in said:
                raise Unreachable(
                    f"The Postgres server refused the connection: {said}",
                    advice="Check the user, the password and the database in WHET_DATABASE_URL.",
                ) from error
            raise _unreachable(said) from error
        except psycopg.ProgrammingError as error:
            if error.sqlstate not in (DENIED, NO_SCHEMA):
                raise
            raise _denied(self._url, error) from error


def _unreachable(said: str) -> Unreachable:
    """Why there is no server; a pooler that allows no transactions is one that answers."""
    if STATEMENT_MODE in said:
        return Unreachable(
            f"The pooler in front of the Postgres server is in statement mode, which allows no transactions: {said}",
            advice="Set pool_mode = session for this database (docs/team.md), or connect to the server itself.",
        )
    return Unreachable(
        f"The Postgres server cannot be reached: {said}",
        advice="Check WHET_DATABASE_URL, and that the server is running.",
    )


def _connected(url: str) -> "psycopg.Connection[Row]":
    before_host = url.partition("://")[2].rpartition("@")[0]
    try:
        if set(before_host) & set("@/"):  # a part of the password would pass for the host
            raise psycopg.ProgrammingError
        # In UTF-8 whatever the server's own is: text vectors carry their words so.
        connection = psycopg.connect(url, autocommit=True, application_name="whet", client_encoding="UTF8")
    except psycopg.ProgrammingError:  # it quotes the address, and with it the password
        raise WhetError(
            "WHET_DATABASE_URL cannot be read.",
            advice="It looks like postgresql://user@host/name; in a password, write % as %25, @ as %40 and / as %2F.",
        ) from None
    if _is_pooled(connection):  # the next statement may be another server process, which has prepared none of ours
        connection.prepare_threshold = None
    return connection


def _is_pooled(connection: "psycopg.Connection[Row]") -> bool:
    """Whether another program stands between: it names itself as the process that serves this connection."""
    return _backend(connection) != connection.info.backend_pid


def _backend(connection: "psycopg.Connection[Row]") -> int:
    [found] = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    return int(found)


def _said(url: str, error: psycopg.Error) -> str:
    """The server's words, or the driver's, without the password."""
    text = str(error).strip()
    password = psycopg.conninfo.conninfo_to_dict(url).get("password")
    return "its answer contains the password and is not shown." if password and str(password) in text else text


def _denied(url: str, error: psycopg.Error) -> WhetError:
    """Asked on a connection of its own: the one at fault may be in the middle of a transaction."""
    with _connected(url) as connection:
        [schema] = connection.execute(WHERE).fetchone() or ("",)
        why = str(error).strip().partition("\n")[0]
        return missing_right(connection.info.user, str(schema).strip(' "'), why)


def _translated(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()
