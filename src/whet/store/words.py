"""The words of a message that a search should find, in the forms that SQLite's and Postgres' indexes take."""

import hashlib
import itertools
import re
import struct
import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

from whet.sessions.transcripts import Message, Text, Thought, ToolCall, ToolResult
from whet.store.database import Database
from whet.text.words import on_demand

MARK = "\ue000"  # a private character that counts as a letter in the index and that no text may bring into it
# Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are written without spaces between words.
_UNSPACED = on_demand(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f])"
)
_LEFT_OUT = on_demand(
    f"[{MARK}\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
# What is no letter or digit becomes a space: first what is not ASCII, then by the byte all the rest, which is quicker.
_SYMBOLS = re.compile(r"[^\w\x00-\x7f]+")
_BYTES = bytes(
    code if code >= 128 else ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(256)
)
MERGED_PAGES = 500  # at a time, so that other writers need not wait for long
WORKED = 2  # changes; fewer mean that there was nothing to merge
POSITIONS = 16_000
OVERLAP = 50  # words that two vectors share, so that a phrase across their border is found
LEXEME_BYTES = 120
OCCURRENCES = 250
OWN_BYTES = 500_000
WHOLE_BYTES = 950_000
ENTRY_BYTES = 8  # about what Postgres adds to each word; a place takes two more
# Postgres' own form, which the server takes much quicker than text: how many words, then of each its letters, a zero,
# how many places, and the places.
TOTAL = struct.Struct(">i")
PLACES = tuple(struct.pack(">H", number) for number in range(1, POSITIONS + 1))
COUNTS = tuple(struct.pack(">xH", number) for number in range(OCCURRENCES + 1))


def indexed(message: Message) -> str:
    """The words of a message that a search should find: what was said, thought, asked of tools and answered."""
    return searchable(plain(message))


def plain(message: Message) -> str:
    """All that a message holds as one text, in order."""
    return "\n".join(_words(message))


def _words(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, Text | Thought):
            yield part.text
        elif isinstance(part, ToolCall):
            yield part.name
            yield from _argument_words(part.arguments)
        elif isinstance(part, ToolResult):
            yield part.text


def _argument_words(arguments: str) -> Iterator[str]:
    if "\\" not in arguments:
        yield arguments
        return
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        yield arguments
        return
    yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    """The keys and plain values of a JSON value in order, however deep it is."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            for key, inner in reversed(item.items()):
                waiting += (inner, key)
        elif isinstance(item, list):
            waiting += reversed(item)
        elif item is not None:
            yield str(item)


def searchable(text: str) -> str:
    """Text as the index takes it: without accents and compatibility forms, however these were encoded, and with a
    space around each character of scripts that have none between words, so that any part is found."""
    if text.isascii():
        return text
    bare = _LEFT_OUT().sub("", unicodedata.normalize("NFKD", text))
    return _UNSPACED().sub(r" \1 ", unicodedata.normalize("NFC", bare))


def terms(text: str) -> list[str]:
    """The words of a text: letters and digits in a row, in small letters; paths and code fall apart into theirs."""
    return [term.decode() for term in encoded_terms(searchable(text))]


def encoded_terms(text: str) -> list[bytes]:
    """The words of a text that is searchable already, in UTF-8."""
    if not text.isascii():
        text = _SYMBOLS.sub(" ", text.lower())
    return text.encode().translate(_BYTES).split()


def marks(role: str, tools: Iterable[str]) -> str:
    """Words for the index by which it narrows a search to a role or a tool itself, however common the words are."""
    return " ".join((role_mark(role), *sorted({tool_mark(tool) for tool in tools})))


def role_mark(role: str) -> str:
    return f"{MARK}{role}"


def tool_mark(tool: str) -> str:
    return f"{MARK}{hashlib.blake2b(tool.encode(), digest_size=8).hexdigest()}"


def vectors(words: str) -> Iterator[bytes]:
    """The vectors of a message from its searchable words, as the server takes them in a binary COPY."""
    lexemes = encoded_terms(words)
    if max(map(len, lexemes), default=0) > LEXEME_BYTES:
        lexemes = [_cut(term) for term in lexemes]
    pieces = list(_pieces(lexemes))
    everything = dict.fromkeys(lexemes) if len(pieces) > 1 else {}
    for piece in pieces:
        yield _vector(piece, everything)


def lexeme(term: str) -> str:
    """A word as Postgres holds it: what is beyond its limit is left out, in the index as in a query."""
    return _cut(term.encode()).decode()


def _cut(term: bytes) -> bytes:
    return term[:LEXEME_BYTES].decode(errors="ignore").encode()


def _pieces(lexemes: list[bytes]) -> Iterator[list[bytes]]:
    start = 0
    while start < len(lexemes):
        end = _end(lexemes, start)
        yield lexemes[start:end]
        start = end if end == len(lexemes) else max(start + 1, end - OVERLAP)


def _end(lexemes: list[bytes], start: int) -> int:
    """How far a vector that begins at `start` may reach."""
    last = min(start + POSITIONS, len(lexemes))
    if (last - start) * (LEXEME_BYTES + ENTRY_BYTES) <= OWN_BYTES:
        return last
    size, seen = 0, set[bytes]()
    for index in range(start, last):
        if lexemes[index] not in seen:
            seen.add(lexemes[index])
            size += len(lexemes[index]) + ENTRY_BYTES
            if size > OWN_BYTES:
                return index
    return last


def _vector(piece: list[bytes], everything: dict[bytes, None]) -> bytes:
    entries: dict[bytes, list[bytes]] = {}  # of each word itself, how many places, and the places
    for word, place in zip(piece, PLACES, strict=False):
        if word in entries:
            entries[word].append(place)
        else:
            entries[word] = [word, b"", place]
    for entry in entries.values():
        del entry[2 + OCCURRENCES :]
        entry[1] = COUNTS[len(entry) - 2]
    size = 2 * len(piece) + sum(len(word) + ENTRY_BYTES for word in entries) if everything else 0
    for word in everything:
        if word not in entries:
            size += len(word) + ENTRY_BYTES
            if size > WHOLE_BYTES:
                break
            entries[word] = [word, COUNTS[0]]
    return TOTAL.pack(len(entries)) + b"".join(itertools.chain.from_iterable(entries.values()))


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
