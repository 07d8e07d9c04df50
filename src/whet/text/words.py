"""Lists of words, and texts with places to fill in."""

import re
from collections.abc import Mapping


def names(words: str) -> frozenset[str]:
    """A set of words, written as a person writes a list of them."""
    return frozenset(words.split())


_PLACE = re.compile(r"\{(\w+)\}")


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its `{places}` filled, once: what is put in is not looked at again."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def places(text: str) -> frozenset[str]:
    """The names of the places of a text."""
    return frozenset(_PLACE.findall(text))
