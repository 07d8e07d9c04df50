"""The words of a message as Postgres text vectors, which hold less than a long message has.

The words are counted here and not by Postgres' own parser, so that both databases find the same. A vector holds
16,383 positions and a megabyte: a long message becomes several, each of which also names the words of the others
without their places, so that words are found together wherever in the message they stand.
"""

from collections import defaultdict
from collections.abc import Iterator

from whet.store.words import terms

POSITIONS = 16_000
OVERLAP = 50  # words that two vectors share, so that a phrase across their border is found
LEXEME_BYTES = 120
SHORT = LEXEME_BYTES // 4  # characters, which never have more bytes
OCCURRENCES = 250
NUMBERS = tuple(map(str, range(1, POSITIONS + 1)))
OWN_BYTES = 500_000
WHOLE_BYTES = 950_000
ENTRY_BYTES = 8  # about what Postgres adds to each word; a place takes two more


def vectors(words: str) -> Iterator[str]:
    """The vectors of a message in Postgres' own notation."""
    lexemes = [term if len(term) <= SHORT else lexeme(term) for term in terms(words)]
    pieces = list(_pieces(lexemes))
    everything = dict.fromkeys(lexemes) if len(pieces) > 1 else {}
    for piece in pieces:
        yield _vector(piece, everything)


def lexeme(term: str) -> str:
    """A word as Postgres holds it: what is beyond its limit is left out, in the index as in a query."""
    return term if len(term) <= SHORT else term.encode()[:LEXEME_BYTES].decode(errors="ignore")


def _pieces(lexemes: list[str]) -> Iterator[list[str]]:
    start = 0
    while start < len(lexemes):
        end = _end(lexemes, start)
        yield lexemes[start:end]
        start = end if end == len(lexemes) else max(start + 1, end - OVERLAP)


def _end(lexemes: list[str], start: int) -> int:
    """How far a vector that begins at `start` may reach."""
    last = min(start + POSITIONS, len(lexemes))
    if (last - start) * (LEXEME_BYTES + ENTRY_BYTES) <= OWN_BYTES:
        return last
    size, seen = 0, set[str]()
    for index in range(start, last):
        if lexemes[index] not in seen:
            seen.add(lexemes[index])
            size += len(lexemes[index].encode()) + ENTRY_BYTES
            if size > OWN_BYTES:
                return index
    return last


def _vector(piece: list[str], everything: dict[str, None]) -> str:
    places: dict[str, list[str]] = defaultdict(list)
    for word, number in zip(piece, NUMBERS, strict=False):
        places[word].append(number)
    entries = [f"'{word}':{','.join(found[:OCCURRENCES])}" for word, found in places.items()]
    size = 2 * len(piece) + sum(len(word.encode()) + ENTRY_BYTES for word in places) if everything else 0
    for word in everything:
        if word not in places:
            size += len(word.encode()) + ENTRY_BYTES
            if size > WHOLE_BYTES:
                break
            entries.append(f"'{word}'")
    return " ".join(entries)
