"""New sessions and messages in the database, as many at a time as there are."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from whet.store.database import Database, Row
from whet.store.indexing import index_words
from whet.store.rows import COLUMNS, MessageRow, PreparedSession

AT_ONCE = 500  # sessions or ids in one statement, which takes some ten thousand parameters at most
ADDED = f"id, {COLUMNS}, head, message_count, base, base_count, path, dated, imported_at"
Item = TypeVar("Item")


class NewSession(NamedTuple):
    """A session that is not stored; `base` is the one that holds its first `shared` messages."""

    prepared: PreparedSession
    path: str
    dated: float
    imported_at: float
    base: int | None = None
    shared: int = 0


class NewMessages(NamedTuple):
    """Messages that a stored session gets from a position on."""

    session: int
    start: int
    rows: tuple[MessageRow, ...]


def add_sessions(database: Database, new: Sequence[NewSession]) -> None:
    """Add sessions with those of their messages that no other holds."""
    for some in _some(new):
        places = ", ".join("?" * len(ADDED.split(",")))
        values = ", ".join([f"({places})"] * len(some))
        numbers: dict[str, int] = dict(
            database.query(
                f"INSERT INTO sessions ({ADDED}) VALUES {values} RETURNING id, no",
                [value for each in some for value in _values(each)],
            )
        )
        add_messages(
            database,
            [NewMessages(numbers[each.prepared.id], each.shared, each.prepared.rows[each.shared :]) for each in some],
        )


def _values(new: NewSession) -> tuple[object, ...]:
    prepared = new.prepared
    counts = (prepared.head, len(prepared.rows), new.base, new.shared)
    return (prepared.id, *prepared.columns, *counts, new.path, new.dated, new.imported_at)


def add_messages(database: Database, new: Iterable[NewMessages]) -> None:
    """Give sessions messages of their own. None of them may be stored already."""
    placed = [(each.session, position, row) for each in new for position, row in enumerate(each.rows, start=each.start)]
    if not placed:
        return
    [(first,)] = database.query("SELECT coalesce(max(no), 0) + 1 FROM messages")
    database.insert(
        "messages",
        ("no", "id", "session", "position", "role", "at", "model", "body"),
        (
            (no, row.id, session, position, row.role, row.at, row.model, row.body)
            for no, (session, position, row) in enumerate(placed, start=first)
        ),
    )
    numbered = [(no, row) for no, (_, _, row) in enumerate(placed, start=first)]
    database.insert("uses", ("message", "tool"), ((no, tool) for no, row in numbered for tool in row.tools))
    index_words(database, numbered)


def ask_for_all(database: Database, sql: str, values: Sequence[object]) -> Iterator[Row]:
    """The rows of a question that ends in `IN`, for however many values."""
    for some in _some(values):
        yield from database.query(f"{sql} ({', '.join('?' * len(some))})", some)


def _some(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))
