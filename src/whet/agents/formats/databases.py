"""Another program's SQLite database, read without writing to it or beside it, whatever columns its version has."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import apsw

from whet.text.fields import Unreadable, parse

HEADER_BYTES = 100
COMPANIONS = ("-wal", "-journal")
STEPS = 100_000  # of its machine, between two looks at whether somebody wants it to stop
_Made = TypeVar("_Made")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """A read-only connection; whatever goes wrong inside the block with the database is `Unreadable`."""
    try:
        with _connection(path) as connection:
            yield connection
    except apsw.BusyError as error:
        raise Unreadable("the database is locked by another program") from error
    except (apsw.Error, UnicodeDecodeError, OSError) as error:
        raise Unreadable(f"broken SQLite database: {error}") from error


@contextlib.contextmanager
def _connection(path: Path) -> Iterator[apsw.Connection]:
    shared = _shared(path) if _beside(path, "-shm").exists() else None
    if shared is not None:
        with contextlib.closing(shared):
            yield shared
    elif any(_beside(path, suffix).exists() for suffix in COMPANIONS):
        with tempfile.TemporaryDirectory() as folder:
            copy = _copied(path, Path(folder))
            with contextlib.closing(_connect(copy, "mode=rw")) as private:
                yield private
    else:
        with _untouched(path) as alone:
            yield alone


def _shared(path: Path) -> apsw.Connection | None:
    """Another program has it open: share its log in place, as any reader does, where the folder allows it."""
    try:
        return _connect(path, "mode=ro")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        return None


@contextlib.contextmanager
def _untouched(path: Path) -> Iterator[apsw.Connection]:
    """Nobody has the database open: read it as it lies, since SQLite would make a log beside it to lock it."""
    before = _state(path)
    _refuse_cut_off(path, before[1])
    with contextlib.closing(_connect(path, "immutable=1")) as connection:
        yield connection
    if _state(path) != before:
        raise Unreadable("the database changed while it was read; import it again")


def _refuse_cut_off(path: Path, size: int) -> None:
    """SQLite reads a file that lost its end as a smaller one, as long as its first page is whole."""
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
    page_bytes = int.from_bytes(header[16:18])
    page_bytes = page_bytes if page_bytes > 1 else 1 << 16
    counted = header[24:28] == header[92:96]  # else an old program wrote it and did not count its pages
    if len(header) < HEADER_BYTES or (counted and int.from_bytes(header[28:32]) * page_bytes > size):
        raise Unreadable("broken SQLite database: its end is missing")


def _connect(path: Path, mode: str) -> apsw.Connection:
    writable = apsw.SQLITE_OPEN_READWRITE if mode == "mode=rw" else apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(f"{path.absolute().as_uri()}?{mode}", flags=writable | apsw.SQLITE_OPEN_URI)
    try:
        _confine(connection)
    except apsw.Error:
        connection.close()
        raise
    return connection


def _confine(connection: apsw.Connection) -> None:
    """Let queries read stored rows only: views, virtual tables and computed columns run what the file's maker wrote.

    Now and then a query gives way, so that it can be interrupted.
    """
    kinds = dict(connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main'"))
    made_up = {name for name, kind in kinds.items() if kind in ("view", "virtual")}
    computed = {
        (table, column)
        for table in kinds.keys() - made_up
        for (column,) in connection.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden > 1", (table,))
    }

    def allow(action: int, table: str | None, column: str | None, _: str | None, view: str | None) -> int:
        is_read = action == apsw.SQLITE_READ and (table in made_up or (table, column) in computed)
        return apsw.SQLITE_DENY if is_read or view in made_up else apsw.SQLITE_OK

    connection.authorizer = allow
    connection.set_progress_handler(lambda: False, STEPS)


def _copied(path: Path, folder: Path) -> Path:
    """A private copy with its log: it may have to be recovered, and that writes."""
    copy = folder / "copy.db"
    shutil.copyfile(path, copy)
    for suffix in COMPANIONS:
        if _beside(path, suffix).exists():
            shutil.copyfile(_beside(path, suffix), _beside(copy, suffix))
    return copy


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def columns(connection: apsw.Connection, table: str) -> frozenset[str]:
    """The columns of a table; none where there is no such table."""
    return frozenset(name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def rows(connection: apsw.Connection, statement: str, values: tuple[object, ...] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a query, each with its columns by name."""
    names: tuple[str, ...] = ()
    cursor = connection.cursor()
    for row in cursor.execute(statement, values):
        names = names or tuple(name for name, _ in cursor.get_description())
        yield dict(zip(names, row, strict=True))


def sessions(
    connection: apsw.Connection, table: str, began: str, make: Callable[[dict[str, Any]], _Made]
) -> Iterator[_Made]:
    """What is made of each session of a table, the oldest first, from one snapshot of it and all that belongs to it.

    The ids are read first, so that no read of a long import keeps the owner from tidying its log.
    """
    statement = f"SELECT id FROM {table} WHERE typeof(id) = 'text' ORDER BY {began}, id"
    for (session_id,) in list(connection.execute(statement)):
        with connection:
            made = [make(row) for row in rows(connection, f"SELECT * FROM {table} WHERE id = ?", (session_id,))]
        yield from made


def document(value: object) -> Any:
    """A JSON column's value; None where it is empty or broken."""
    if not isinstance(value, str | bytes) or not value:
        return None
    try:
        return parse(value.encode() if isinstance(value, str) else value)
    except Unreadable:
        return None
