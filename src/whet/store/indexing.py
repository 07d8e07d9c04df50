"""The index of words, written: FTS5 without the text itself in SQLite, text vectors in Postgres."""

from collections.abc import Iterable

from whet.store.database import Database
from whet.store.rows import MessageRow
from whet.store.vectors import vectors
from whet.store.words import marks

MERGED_PAGES = 500  # at a time, so that other writers need not wait for long
WORKED = 2  # changes; fewer mean that there was nothing to merge


def index_words(database: Database, rows: Iterable[tuple[int, MessageRow]]) -> None:
    """Make messages, each with its number, findable by their words."""
    if database.dialect == "sqlite":
        database.insert(
            "message_index",
            ("rowid", "words"),
            ((no, f"{row.words} {marks(row.role, row.tools)}") for no, row in rows),
        )
    else:
        database.insert(
            "message_index",
            ("message", "words"),
            ((no, vector) for no, row in rows for vector in vectors_of(row)),
        )


def with_vectors(row: MessageRow) -> MessageRow:
    """The message for Postgres alone, with its words counted: most of the work of writing it, done by who reads it."""
    return row._replace(words="", vectors=tuple(vectors(row.words)))


def vectors_of(row: MessageRow) -> Iterable[bytes]:
    return vectors(row.words) if row.vectors is None else row.vectors


def tidy(database: Database) -> None:
    """Merge the parts in which many writes leave SQLite's index, since a search has to look into each of them."""
    if database.dialect != "sqlite":
        return
    changes = WORKED
    while changes >= WORKED:
        with database.writing():
            [(before,)] = database.query("SELECT total_changes()")
            database.execute("INSERT INTO message_index (message_index, rank) VALUES ('merge', ?)", (MERGED_PAGES,))
            [(after,)] = database.query("SELECT total_changes()")
        changes = after - before
