"""Matches in SQLite: the newest that the full-text index and the filters let through."""

from typing import Any

import apsw

from whet.store.database import Row
from whet.store.listing import Filters
from whet.store.narrowing import of_message, of_session
from whet.store.queries import Query, for_sqlite
from whet.store.sqlite import SQLite
from whet.store.words import role_mark, tool_mark

# How many matches are looked at for a filter before its own sessions are gone through, and how many hits are enough
# in either way. Neither may depend on the page that is asked for, or pages would overlap.
WINDOW = 5_000
ENOUGH = 300
TYPICAL_WORDS = 200

UNFILTERED = """
    SELECT rowid, density(message_index, ?) FROM message_index
    WHERE message_index MATCH ? ORDER BY rowid DESC LIMIT ?
"""
END_OF_WINDOW = "SELECT rowid FROM message_index WHERE message_index MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?"
BY_WORDS = """
    SELECT m.no, density(message_index, ?) FROM message_index
    JOIN messages AS m ON m.no = message_index.rowid JOIN sessions AS s ON s.no = m.session
    WHERE message_index MATCH ? AND message_index.rowid >= ? AND {messages}
    ORDER BY message_index.rowid DESC LIMIT ?
"""
BY_SESSIONS = """
    SELECT m.no, density(message_index, ?) FROM sessions AS s
    CROSS JOIN message_index CROSS JOIN messages AS m ON m.no = message_index.rowid
    WHERE message_index MATCH ? AND {sessions} AND m.session = s.no AND {messages}
    AND message_index.rowid >= (SELECT no FROM messages WHERE session = s.no ORDER BY position LIMIT 1)
    AND message_index.rowid <= (SELECT no FROM messages WHERE session = s.no ORDER BY position DESC LIMIT 1)
    ORDER BY s.no DESC LIMIT ?
"""


def newest(database: SQLite, query: Query, filters: Filters, role: str, *, limit: int) -> list[Row]:
    """The newest messages that match, each with its score.

    A role and a tool are words of the index. Other filters are tried on the newest matches of the words; where
    these are too many to try them all and few pass, the sessions that pass are searched one by one.
    """
    database.connection.register_fts5_function("density", _density)
    required = [role_mark(role)] * bool(role) + [tool_mark(filters.tool)] * bool(filters.tool)
    asked, others = for_sqlite(query, required), filters._replace(tool="")
    if not any(value not in ("", None) for value in others):
        return database.query(UNFILTERED, (len(required), asked, limit))
    messages, values = of_message(others)
    ends = database.query(END_OF_WINDOW, (asked, WINDOW - 1))
    lowest = ends[0][0] if ends else 0
    by_words = BY_WORDS.format(messages=messages)
    rows = database.query(by_words, (len(required), asked, lowest, *values, limit))
    if not ends or len(rows) >= ENOUGH:
        return rows
    sessions, session_values = of_session(others)
    by_sessions = BY_SESSIONS.format(sessions=sessions, messages=messages)
    return database.query(by_sessions, (len(required), asked, *session_values, *values, ENOUGH))


def _density(api: apsw.FTS5ExtensionApi, /, *marked: Any) -> float:
    """How often the words occur, with less gained by each further time and in longer messages.

    `marked` is how many of the occurrences are of marks, which occur once in every match and say nothing.
    """
    hits, size = api.inst_count - marked[0], api.column_size(0)
    return float(hits / (hits + 1.2 * (0.25 + 0.75 * size / TYPICAL_WORDS)))
