"""Lists of words, texts with places to fill in, and texts cut to a length.

Large numbers as people say them.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

DIGITS = 3
NAMED = ((10**9, "billion"), (10**6, "million"))


def short(number: float) -> str:
    """A large number, short and plain: 950; 12,300; 4.1 million; 1.2 billion."""
    whole = round(number)
    rounded = round(whole, DIGITS - len(str(abs(whole)))) if abs(whole) >= 10**DIGITS else whole
    for size, name in NAMED:
        if abs(rounded) >= size:
            return f"{rounded / size:.1f}".removesuffix(".0") + f" {name}"
    return f"{rounded:,}"


def names(words: str) -> frozenset[str]:
    """A set of words, written as a person writes a list of them."""
    return frozenset(words.split())


def cut(text: str, letters: int) -> str:
    """The beginning of a text in so many letters at the most, cut after a whole word where one ends near, and marked.

    >>> cut("Multiple top-level headings", 20)
    'Multiple top-level…'
    """
    if len(text) <= letters:
        return text
    room = text[:letters]  # whose last letter the mark takes
    end = max((found.start() for found in _BLANK.finditer(room)), default=0)
    return f"{room[:end] if end * 2 >= letters else room[:-1]}".rstrip(_TRAILING) + "…"


_BLANK = re.compile(r"\s")
_TRAILING = " \t\n,;:-–—("
_PLACE = re.compile(r"\{(\w+)\}")


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its `{places}` filled, once: what is put in is not looked at again."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def places(text: str) -> frozenset[str]:
    """The names of the places of a text."""
    return frozenset(_PLACE.findall(text))


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAK = re.compile(r"[^A-Za-z0-9]+")


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """A tool's own name in one spelling: without server, namespace, capitals and hyphens."""
    own = name.rsplit("__", 1)[-1]
    own = re.split(r"[.:/]", own)[-1] or own
    return _BREAK.sub("_", _CAMEL.sub("_", own[:120])).strip("_").lower()
