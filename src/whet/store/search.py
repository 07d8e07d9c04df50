"""Full-text search over messages: every word must occur; the best of the most recent matches come first.

Ranking by rarity would read every match of a common word. The newest matches are found in milliseconds instead, and
ranked among themselves by how often and how densely the words occur in them (docs/decisions/0004).
"""

import re
from typing import Literal, NamedTuple

from msgspec.structs import replace

from whet.sessions.transcripts import Message
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.decoding import DamagedRow, decoded_message
from whet.store.listing import Filters
from whet.store.matching import MessageMatch, match_parts_of_words, match_words
from whet.store.queries import Phrase, Query, parse
from whet.store.words import plain, searchable

SNIPPET_CHARACTERS = 240
EVERYTHING = Filters()

How = Literal["words", "part of a word"]


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
