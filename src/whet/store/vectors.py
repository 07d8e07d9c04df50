"""The words of a message as Postgres text vectors, which hold less than a long message has.

The words are counted here and not by Postgres' own parser, so that both databases find the same. A vector holds
16,383 positions and a megabyte: a long message becomes several, each of which also names the words of the others
without their places, so that words are found together wherever in the message they stand.
"""

import struct
from collections import defaultdict
from collections.abc import Iterator

from whet.store.words import encoded_terms

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


def vectors(words: str) -> Iterator[bytes]:
    """The vectors of a message from its searchable words, as the server takes them in a binary COPY."""
    lexemes = encoded_terms(words)
    if len(max(lexemes, key=len, default=b"")) > LEXEME_BYTES:
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
    places: dict[bytes, list[bytes]] = defaultdict(list)
    for word, place in zip(piece, PLACES, strict=False):
        places[word].append(place)
    if len(piece) > OCCURRENCES:
        places = {word: found[:OCCURRENCES] for word, found in places.items()}
    entries = [word + COUNTS[len(found)] + b"".join(found) for word, found in places.items()]
    size = 2 * len(piece) + sum(len(word) + ENTRY_BYTES for word in places) if everything else 0
    for word in everything:
        if word not in places:
            size += len(word) + ENTRY_BYTES
            if size > WHOLE_BYTES:
                break
            entries.append(word + COUNTS[0])
    return TOTAL.pack(len(entries)) + b"".join(entries)
