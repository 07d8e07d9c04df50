"""What is asked of the index, and how each database is asked it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from whet.errors import WhetError
from whet.store.vectors import lexeme
from whet.store.words import terms

Phrase = tuple[str, ...]
_ASKED = re.compile(r'(?:(?<!\S)(-)(?=[\w"]))?(?:"([^"]*)"?|([^\s"*]+))(\*?)')


class Query(NamedTuple):
    """What is asked: phrases that must occur, phrases that must not; a phrase is words in a row."""

    text: str  # as it was asked, for where no word of it is in the index
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
    literal = text.strip().strip('"*').strip()
    if not literal or (unwanted and not wanted):
        raise WhetError("Nothing to search for.", advice='Give a word, a "phrase" or a path.')
    return Query(literal, tuple(wanted), tuple(unwanted), tuple(beginnings))


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
