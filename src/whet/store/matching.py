"""The newest messages that match a query, with how well each does."""

from typing import NamedTuple

import msgspec

from whet.sessions.example_marks import places
from whet.sessions.transcripts import Origin
from whet.store import postgres_matching, sqlite_matching
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.narrowing import of_message
from whet.store.queries import Query
from whet.store.rows import SESSION_COLUMNS, session_of
from whet.store.sessions import messages
from whet.store.sqlite import SQLite

CANDIDATES = 1_000
SCANNED = 20_000
AROUND = 100  # messages after one: all that its example can have
INSERTED = f'"origin":"{Origin.INSERTED}"'


class MessageMatch(NamedTuple):
    """A message by its number, with its score."""

    no: int
    score: float


def match_words(database: Database, query: Query, filters: Filters, role: str) -> list[MessageMatch]:
    """The newest messages that hold the words that are asked for."""
    if not query.wanted:
        return []
    if isinstance(database, SQLite):
        rows = sqlite_matching.newest(database, query, filters, role, limit=CANDIDATES)
    else:
        rows = postgres_matching.newest(database, query, filters, role, limit=CANDIDATES)
    best: dict[int, float] = {}
    for no, score in rows:  # a long message may match in several of its vectors
        best[no] = max(score, best.get(no, 0.0))
    return [MessageMatch(no, score) for no, score in best.items()]


def match_parts_of_words(database: Database, query: Query, filters: Filters, role: str) -> list[MessageMatch]:
    """The newest messages that hold the text anywhere, looked for in the last few thousand only."""
    needle = msgspec.json.encode(query.text).decode()[1:-1].lower()
    where, parameters = of_message(filters, role)
    body = "CAST(m.body AS TEXT)" if database.dialect == "sqlite" else "convert_from(m.body, 'UTF8')"
    place = "instr" if database.dialect == "sqlite" else "strpos"
    rows = database.query(
        f"SELECT m.no, {place}({body}, ?) FROM messages AS m JOIN sessions AS s ON s.no = m.session"
        f" WHERE m.no > (SELECT coalesce(max(no), 0) FROM messages) - {SCANNED} AND {where}"
        f" AND {place}(lower({body}), ?) > 0 ORDER BY m.no DESC LIMIT ?",
        (INSERTED, *parameters, needle, CANDIDATES),
    )
    return [MessageMatch(no, 0.0) for no, inserted in rows if not (inserted and _is_example(database, no))]


def _is_example(database: Database, no: int) -> bool:
    """Whether a message is one of those with which a warm start began: it did not happen where it stands."""
    [(position, *columns)] = database.query(
        f"SELECT m.position, {', '.join(f's.{column.strip()}' for column in SESSION_COLUMNS.split(','))}"
        " FROM messages AS m JOIN sessions AS s ON s.no = m.session WHERE m.no = ?",
        (no,),
    )
    begun = tuple(messages(database, session_of(tuple(columns)), stop=position + AROUND))
    return position in places(begun)
