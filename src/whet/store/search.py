"""Full-text search over messages: every word must occur; the best of the most recent matches come first.

Ranking by rarity would read every match of a common word. The newest matches are found in milliseconds instead, and
ranked among themselves by how often and how densely the words occur in them (docs/decisions/0004).
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw
from msgspec.structs import replace

from whet.errors import WhetError
from whet.sessions.transcripts import Message
from whet.sessions.trust import Trust
from whet.store.database import Database, Row
from whet.store.listing import Filters, conditions
from whet.store.rows import DamagedRow, decoded_message
from whet.store.sqlite import SQLite
from whet.store.words import lexeme, plain, role_mark, searchable, terms, tool_mark

Phrase = tuple[str, ...]
_ASKED = re.compile(r'(?:(?<!\S)(-)(?=[\w"]))?(?:"([^"]*)"?|([^\s"*]+))(\*?)')
# How many matches are looked at for a filter before its own sessions are gone through, and how many hits are enough
# in either way. Neither may depend on the page that is asked for, or pages would overlap.
WINDOW = 5_000
ENOUGH = 300
TYPICAL_WORDS = 200
CANDIDATES = 1_000
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
# Only the newest are ranked: Postgres would else rank every match before it sorts them.
NEWEST = """
    WITH asked AS (SELECT CAST(? AS tsquery) AS query), newest AS (
        SELECT m.no, i.words FROM asked, message_index AS i
        JOIN messages AS m ON m.no = i.message JOIN sessions AS s ON s.no = m.session
        WHERE i.words @@ asked.query AND {where} ORDER BY m.no DESC LIMIT ?
    )
    SELECT newest.no, ts_rank(newest.words, asked.query, 1) FROM newest, asked
"""
SNIPPET_CHARACTERS = 240
EVERYTHING = Filters()


class Query(NamedTuple):
    """What is asked: phrases that must occur, phrases that must not; a phrase is words in a row."""

    wanted: tuple[Phrase, ...]
    unwanted: tuple[Phrase, ...]
    beginnings: tuple[bool, ...]  # whether the last word of each wanted phrase may go on


def parse(text: str) -> Query:
    """Words and "quoted phrases"; `-word` excludes, `word*` takes what begins so. Nothing else has a meaning."""
    wanted, unwanted, beginnings = [], [], []
    for minus, quoted, word, star in _ASKED.findall(text):
        phrase = tuple(terms(quoted or word))
        if phrase and minus:
            unwanted.append(phrase)
        elif phrase:
            wanted.append(phrase)
            beginnings.append(bool(star))
    if not wanted:
        raise WhetError("Nothing to search for.", advice='Give a word, a "phrase" or a path.')
    return Query(tuple(wanted), tuple(unwanted), tuple(beginnings))


def for_sqlite(query: Query, required: Iterable[str] = ()) -> str:
    """The query in the words of FTS5, and further words that must occur; all quoted, so none is an operator."""

    def phrase(words: Phrase, beginning: bool = False) -> str:
        return f'"{" ".join(words)}"' + ("*" if beginning else "")

    wanted = (*map(phrase, query.wanted, query.beginnings), *(f'"{word}"' for word in required))
    return " NOT ".join((f"({' AND '.join(wanted)})", *map(phrase, query.unwanted)))


def for_postgres(query: Query) -> str:
    """The query in the notation of a tsquery."""

    def phrase(words: Phrase, beginning: bool = False) -> str:
        quoted = " <-> ".join(f"'{lexeme(word)}'" for word in words)
        return f"({quoted}{':*' if beginning else ''})"

    wanted = " & ".join(map(phrase, query.wanted, query.beginnings))
    return " & ".join((wanted, *(f"!{phrase(words)}" for words in query.unwanted)))


def of_session(filters: Filters) -> tuple[str, list[object]]:
    """Which sessions may hold a hit, as far as the session's own columns tell."""
    where, parameters = conditions(filters._replace(tool="", until=None))
    if filters.until is None:
        return where, parameters
    return f"{where} AND (s.started IS NULL OR s.started < ?)", [*parameters, filters.until]


def of_message(filters: Filters, role: str = "") -> tuple[str, list[object]]:
    """Which messages may be hits; tool and time narrow the messages and not only their sessions."""
    where, parameters = conditions(filters._replace(tool="", since=None, until=None))
    clauses = [where]
    for clause, value in (
        ("m.role = ?", role or None),
        ("EXISTS (SELECT 1 FROM uses AS u WHERE u.message = m.no AND u.tool = ?)", filters.tool or None),
        ("coalesce(m.at, s.dated) >= ?", filters.since),
        ("coalesce(m.at, s.dated) < ?", filters.until),
    ):
        if value is not None:
            clauses.append(clause)
            parameters.append(value)
    return " AND ".join(clauses), parameters


def _newest_in_sqlite(database: SQLite, query: Query, filters: Filters, role: str) -> list[Row]:
    """The newest messages that match, each with its score.

    A role and a tool are words of the index. Other filters are tried on the newest matches of the words; where
    these are too many to try them all and few pass, the sessions that pass are searched one by one.
    """
    database.connection.register_fts5_function("density", _density)
    required = [role_mark(role)] * bool(role) + [tool_mark(filters.tool)] * bool(filters.tool)
    asked, others = for_sqlite(query, required), filters._replace(tool="")
    if not any(value not in ("", None) for value in others):
        return database.query(UNFILTERED, (len(required), asked, CANDIDATES))
    messages, values = of_message(others)
    ends = database.query(END_OF_WINDOW, (asked, WINDOW - 1))
    lowest = ends[0][0] if ends else 0
    by_words = BY_WORDS.format(messages=messages)
    rows = database.query(by_words, (len(required), asked, lowest, *values, CANDIDATES))
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


def _newest_in_postgres(database: Database, query: Query, filters: Filters, role: str) -> list[Row]:
    """The newest messages that match, each with its score."""
    where, parameters = of_message(filters, role)
    return database.query(NEWEST.format(where=where), (for_postgres(query), *parameters, CANDIDATES))


class Hit(NamedTuple):
    """A message that matches, its position, and the words around the match.

    >>> import whet
    >>> with whet.Store() as store:
    ...     hit = store.search('"with a dash"')[0]
    >>> hit.source, hit.position, hit.snippet
    ('openai', 9, 'I wrote it above: T-48213, with a dash.')
    """

    session_id: str
    source: str
    title: str
    position: int
    role: str
    at: float | None
    score: float
    snippet: str
    match: tuple[int, int]  # where in the snippet the words stand
    message: Message


def search(
    database: Database,
    text: str,
    *,
    filters: Filters = EVERYTHING,
    role: str = "",
    limit: int = 20,
    offset: int = 0,
) -> list[Hit]:
    """The messages that match, best first."""
    query = parse(text)
    with database.reading():
        if isinstance(database, SQLite):
            rows = _newest_in_sqlite(database, query, filters, role)
        else:
            rows = _newest_in_postgres(database, query, filters, role)
        best: dict[int, float] = {}
        for no, score in rows:  # a long message may match in several of its vectors
            best[no] = max(score, best.get(no, 0.0))
        ranked = sorted(best.items(), key=lambda each: (-each[1], -each[0]))[offset : offset + limit]
        found = (_hit(database, no, score, query) for no, score in ranked)
        return [hit for hit in found if hit is not None]


def _hit(database: Database, no: int, score: float, query: Query) -> Hit | None:
    """What is shown of a match; nothing of a message that is damaged."""
    rows = database.query(
        "SELECT s.id, s.source, s.title, m.position, m.role, m.at, m.body"
        " FROM messages AS m JOIN sessions AS s ON s.no = m.session WHERE m.no = ?",
        (no,),
    )
    if not rows:  # the index of a damaged file may name a message that is lost
        return None
    session_id, source, title, position, role, at, body = rows[0]
    try:
        message = decoded_message(body, f"session {session_id}")
    except DamagedRow:
        return None
    if database.dialect == "postgres":  # whose words they are can be told of a whole session only
        message = replace(message, trust=Trust.EXTERNAL)
    snippet, place = excerpt(plain(message), query.wanted)
    return Hit(session_id, source, title, position, role, at, round(float(score), 4), snippet, place, message)


def excerpt(text: str, phrases: tuple[Phrase, ...]) -> tuple[str, tuple[int, int]]:
    """The text around the first phrase that occurs in it, on one line, and where the phrase stands there."""
    start, end = next((place for phrase in phrases if (place := _place(text, phrase))), (0, 0))
    end = min(end, start + SNIPPET_CHARACTERS)
    first = max(0, start - SNIPPET_CHARACTERS // 3)
    last = min(len(text), first + SNIPPET_CHARACTERS)
    before, hit, after = (" ".join(part.split()) for part in (text[first:start], text[start:end], text[end:last]))
    head = ("…" if first else "") + before + (" " if before and text[start - 1 : start].isspace() else "")
    gap = " " if after and text[end : end + 1].isspace() else ""
    return f"{head}{hit}{gap}{after}" + ("…" if last < len(text) else ""), (len(head), len(head) + len(hit))


def _place(text: str, phrase: Phrase) -> tuple[int, int] | None:
    """Where a phrase stands in a text: as whole words if it can be, else where words begin so, else anywhere."""
    words = r"[\W_]*".join(re.escape(word) for word in phrase)
    patterns = [rf"(?<![^\W_]){words}(?![^\W_])", rf"(?<![^\W_]){words}", words]
    for pattern in patterns:
        if found := re.search(pattern, text, re.IGNORECASE):
            return found.span()
    if text.isascii():
        return None
    bare, origins = _bare(text)
    found = next((found for pattern in patterns if (found := re.search(pattern, bare, re.IGNORECASE))), None)
    return (origins[found.start()], origins[found.end() - 1] + 1) if found else None


def _bare(text: str) -> tuple[str, list[int]]:
    """The text as the index has it, and for each character of that the one that it came from."""
    pieces, origins = list[str](), list[int]()
    for index, character in enumerate(text):
        piece = searchable(character).strip()
        pieces.append(piece if piece or character.isalnum() else " ")
        origins += [index] * len(pieces[-1])
    return "".join(pieces), origins
