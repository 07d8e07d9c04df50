"""Full-text search over messages: every word must occur; the best of the most recent matches come first.

Ranking by rarity would read every match of a common word. The newest matches are found in milliseconds instead, and
ranked among themselves by how often and how densely the words occur in them (docs/decisions/0004).
"""

import re
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from whet.sessions.example_marks import places
from whet.sessions.transcripts import Message, Origin
from whet.sessions.trust import Trust
from whet.store import postgres_matching, sqlite_matching
from whet.store.database import Database
from whet.store.decoding import DamagedRow, decoded_message
from whet.store.listing import Filters
from whet.store.narrowing import of_message
from whet.store.queries import Phrase, Query, parse
from whet.store.rows import SESSION_COLUMNS, session_of
from whet.store.sessions import messages
from whet.store.sqlite import SQLite
from whet.store.words import plain, searchable

CANDIDATES = 1_000
SCANNED = 20_000
AROUND = 100  # messages after one: all that its example can have
INSERTED = f'"origin":"{Origin.INSERTED}"'
SNIPPET_CHARACTERS = 240
EVERYTHING = Filters()
How = Literal["words", "part of a word"]


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
    how: How  # the latter where no whole word matched
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
    """The messages that match, best first. Where no whole word does, parts of words are looked for."""
    query = parse(text)
    with database.reading():
        how: How = "words"
        matches = match_words(database, query, filters, role)
        if not matches:
            how, matches = "part of a word", match_parts_of_words(database, query, filters, role)
        ranked = sorted(matches, key=lambda match: (-match.score, -match.no))[offset : offset + limit]
        found = (_hit(database, match, query, how) for match in ranked)
        return [hit for hit in found if hit is not None]


def _hit(database: Database, match: MessageMatch, query: Query, how: How) -> Hit | None:
    """What is shown of a match; nothing of a message that is damaged."""
    rows = database.query(
        "SELECT s.id, s.source, s.title, m.position, m.role, m.at, m.body"
        " FROM messages AS m JOIN sessions AS s ON s.no = m.session WHERE m.no = ?",
        (match.no,),
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
    phrases = query.wanted if how == "words" else ((query.text,),)
    snippet, place = excerpt(plain(message), phrases)
    score = round(float(match.score), 4)
    return Hit(session_id, source, title, position, role, at, score, snippet, place, how, message)


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
