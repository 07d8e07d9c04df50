"""The embedded database: SQLite in write-ahead mode, safe among many processes and on a sudden stop."""

import contextlib
import errno
import os
import pwd
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import apsw

from whet.errors import WhetError
from whet.store.database import CannotWrite, Dialect, Parameters, Row

OLDEST_SAFE = (3, 51, 3)  # earlier libraries can corrupt a database whose log is reset while others write
PATIENCE_SECONDS = 120.0
MOST_FAULTS = 10
PRAGMAS = (
    "page_size = 16384",  # messages are long: larger pages waste less and are written faster
    "journal_mode = WAL",
    "synchronous = FULL",
    "fullfsync = ON",  # on macOS, past the cache of the drive; elsewhere it changes nothing
    "foreign_keys = ON",
    "cache_size = -32000",  # in KiB
    "wal_autocheckpoint = 1000",  # in pages
    "temp_store = MEMORY",
)


READING = ("cache_size = -32000", "temp_store = MEMORY")
OPEN = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
LOG_MARK = 18  # where a file says whether it has a log (https://sqlite.org/fileformat.html)
SETTLED = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


class DamagedDatabase(WhetError):
    """The file is no database any more, or is damaged within."""


class SQLite:
    """A connection to the one file. Only this class may open that file in the process."""

    dialect: Dialect = "sqlite"

    def __init__(self, path: Path, pragmas: Sequence[str] = PRAGMAS) -> None:
        version = tuple(int(number) for number in apsw.sqlite_lib_version().split("."))
        if version < OLDEST_SAFE:
            raise WhetError(
                f"The SQLite library {apsw.sqlite_lib_version()} can corrupt databases.",
                advice="Install apsw 3.51.3 or later.",
            )
        self._path = path
        self._afterwards: list[Callable[[], None]] = []
        with self._explained():
            _create(path)
            self.is_alone = True  # nobody else can use the file while it is open
            try:
                self._connection = _connected(str(path), pragmas)
                self.is_alone = False
            except (apsw.FullError, apsw.IOError):
                # A full disk has no room for the index of the log: in memory it serves one process alone.
                self._connection = _connected(str(path), ("locking_mode = EXCLUSIVE", *pragmas))
            except (apsw.ReadOnlyError, apsw.CantOpenError):
                if not _is_settled_for_good(path):
                    raise
                self._connection = _connected(f"{path.as_uri()}?immutable=1", READING, SETTLED)

    @property
    def member(self) -> str:
        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:  # an account without a name, as in a container
            return str(os.getuid())

    def query(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        with self._explained():
            return self._connection.execute(sql, tuple(parameters)).fetchall()

    def execute(self, sql: str, parameters: Parameters = ()) -> None:
        self.query(sql, parameters)

    def many(self, sql: str, rows: Iterable[Parameters]) -> None:
        with self._explained():
            self._connection.executemany(sql, rows).fetchall()

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Parameters]) -> None:
        self.many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        yield from self._transaction("BEGIN IMMEDIATE")

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        yield from self._transaction("BEGIN")

    @property
    def connection(self) -> apsw.Connection:
        """The connection itself, for what only SQLite has: its ranking functions."""
        return self._connection

    def copied(self, beside: Path) -> IO[bytes]:
        """The state that a reader sees now, in a file without a name on the disk of a folder; others may write on."""
        with self._explained():
            return _copy(self._connection, beside)

    def faults(self, *, with_indexes: bool = True) -> tuple[str, ...]:
        """What is wrong with the file and its tables, in SQLite's words; nothing where all is well.

        To compare every index with its table as well takes nearly as long again.
        """
        check = "integrity_check" if with_indexes else "quick_check"
        try:
            rows = self._connection.execute(f"PRAGMA {check}({MOST_FAULTS})").fetchall()
        except (apsw.CorruptError, apsw.NotADBError, apsw.IOError) as error:
            return (str(error),)
        return tuple(str(row[0]) for row in rows if row[0] != "ok")

    def exclude_others(self) -> None:
        """Lock the file until this connection is closed; raises WhetError where another process has it open."""
        with self._explained():
            try:
                self._connection.set_busy_handler(None)
                self._connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
                self._connection.execute("BEGIN EXCLUSIVE")
            except apsw.BusyError as error:
                raise WhetError(
                    f"Another process uses {self._path}; nothing was changed.", advice="Stop it, then try again."
                ) from error

    def afterwards(self, action: Callable[[], None]) -> None:
        if self._in_transaction():
            self._afterwards.append(action)
        else:
            action()

    def expect_session(self) -> None:
        """A file has no pooler in front of it."""

    def close(self) -> None:
        self._connection.close()

    def _in_transaction(self) -> bool:
        return self._connection.in_transaction

    def _transaction(self, begin: str) -> Iterator[None]:
        if self._in_transaction():  # an inner transaction is part of the outer one
            yield
            return
        with self._explained():
            self._connection.execute(begin)
            self._afterwards.clear()
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._in_transaction():
                    self._connection.execute("ROLLBACK")
                raise
        while self._afterwards:
            self._afterwards.pop(0)()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what a person can do where the disk or the file is at fault; the old state stands."""
        try:
            yield
        except apsw.FullError as error:
            raise CannotWrite(
                "The disk is full; this change was not stored.", advice="Free some space and run it again."
            ) from error
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
            raise CannotWrite(
                f"The database {self._path} cannot be written: {error}.",
                advice="Check the folder's permissions, or set WHET_HOME to a folder that you can write to.",
            ) from error
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise DamagedDatabase(
                f"The database {self._path} is damaged: {error}.",
                advice="Restore a backup: `whet restore FILE --replace`. Or move it away and run `whet import`.",
            ) from error
        except apsw.IOError as error:
            raise CannotWrite(
                f"The disk failed while {self._path} was used: {error}; this change was not stored.",
                advice="Check the disk and its free space.",
            ) from error
        except apsw.BusyError as error:
            raise WhetError(
                f"Another process kept the database locked for {PATIENCE_SECONDS:.0f} seconds.",
                advice="Wait for it to end, then run this again.",
            ) from error


def copy_file(source: Path, beside: Path) -> IO[bytes]:
    """The same of a database of another program's making, such as the engine's."""
    try:
        with contextlib.closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_handler(WriterPatience())
            return _copy(connection, beside)
    except apsw.Error as error:
        raise WhetError(
            f"{source} cannot be copied: {error}.", advice="Run `whet doctor`, which says what is wrong with it."
        ) from error


def file_faults(path: Path) -> tuple[str, ...]:
    """What is wrong with a database of another program's making; nothing where all is well."""
    try:
        rows = rows_in(path, f"PRAGMA integrity_check({MOST_FAULTS})")
    except apsw.Error as error:
        return (str(error),)
    return tuple(str(row[0]) for row in rows if row[0] != "ok")


def programs_in(path: Path) -> tuple[tuple[str, str, str], ...]:
    """The triggers and views of a database: the kind of each, its name, and the statement that made it."""
    wanted = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view')"
    return tuple((str(kind), str(name), str(made_by)) for kind, name, made_by in rows_in(path, wanted))


def rows_in(path: Path, sql: str) -> list[Row]:
    """What a database that is not the store answers; it is only read."""
    with contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_handler(WriterPatience())
        return connection.execute(sql).fetchall()


def _copy(connection: apsw.Connection, beside: Path) -> IO[bytes]:
    descriptor, name = tempfile.mkstemp(prefix=".whet-copy-", dir=beside)
    file = os.fdopen(descriptor, "r+b")
    try:
        with contextlib.closing(apsw.Connection(name)) as copy:
            os.unlink(name)  # so that a sudden end leaves nothing of it
            copy.execute("PRAGMA journal_mode = OFF").fetchall()
            with copy.backup("main", connection, "main") as backup:
                backup.step(-1)  # all at once: what others write meanwhile is not in it
        file.seek(LOG_MARK)
        file.write(b"\x01\x01")  # one file, without a log beside it
        file.seek(0)
    except BaseException as error:
        file.close()
        if isinstance(error, apsw.FullError):  # it is the copy's disk: nothing is written to the source
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(beside)) from error
        raise
    return file


def _connected(name: str, pragmas: Iterable[str], flags: int = OPEN) -> apsw.Connection:
    connection = apsw.Connection(name, flags=flags)
    try:
        connection.set_busy_handler(WriterPatience())
        _set_up(connection, [f"PRAGMA {pragma}" for pragma in pragmas])
    except apsw.Error:
        connection.close()
        raise
    return connection


def _set_up(connection: apsw.Connection, statements: Iterable[str]) -> None:
    """Run the statements and look at the file, with patience of our own.

    SQLite asks no busy handler where several processes turn a new file to write-ahead mode at once.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    for statement in (*statements, "SELECT count(*) FROM sqlite_schema"):
        while True:
            try:
                connection.execute(statement).fetchall()
                break
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(0.001, 0.01))


def _is_settled_for_good(path: Path) -> bool:
    """Whether a file lies on a read-only disk with no log beside it: nobody can change it while it is read."""
    log = Path(f"{path}-wal")
    is_read_only = bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    return is_read_only and not (log.exists() and log.stat().st_size)


def _create(path: Path) -> None:
    """Make the file for its owner only, before SQLite gives its own mode to it and to its log."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise WhetError(
            f"The database {path} cannot be created: {error.strerror}.",
            advice="Check the folder's permissions and free space, or set WHET_HOME to another folder.",
        ) from error


class WriterPatience:
    """Wait a random moment for other writers, longer each time, so that none of them starves."""

    def __init__(self) -> None:
        self._began = 0.0

    def __call__(self, attempt: int) -> bool:
        now = time.monotonic()
        if attempt == 0:
            self._began = now
        if now - self._began > PATIENCE_SECONDS:
            return False
        time.sleep(random.uniform(0.0005, min(0.002 * (attempt + 1), 0.03)))
        return True
