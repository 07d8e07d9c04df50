"""Templates: what several calls have in common, with a mark in the place of what varies."""

import re
from collections.abc import Iterable, Sequence
from functools import reduce

VARIES = "…"
Words = tuple[str, ...]
_RUN = re.compile(rf"{VARIES}(?:\W{{0,3}}{VARIES})+")
_PART = re.compile(r"([/=:@,.?&#]|(?<=[a-z…])-(?=[a-z…]))")


def common_form(calls: Iterable[Words]) -> Words:
    """The words that all of the calls share, in order; what stands between them in any of them varies."""
    return reduce(_of_two, calls)


def fits(template: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a call has the form of a template. Linear in the words for each mark of the template."""
    at, place, mark, begin = 0, 0, -1, 0
    while at < len(words):
        if place < len(template) and template[place] == VARIES:
            mark, begin = place, at
            place += 1
        elif place < len(template) and _is_like(template[place], words[at]):
            at, place = at + 1, place + 1
        elif mark >= 0:
            begin += 1
            at, place = begin, mark + 1
        else:
            return False
    return all(word == VARIES for word in template[place:])


def _of_two(one: Words, other: Words) -> Words:
    made: list[str] = []
    at, place = 0, 0
    for mine, theirs in (*_anchors(one, other), (len(one), len(other))):
        made += _between(one[at:mine], other[place:theirs])
        if mine < len(one):
            made.append(one[mine])
        at, place = mine + 1, theirs + 1
    return tuple(word for index, word in enumerate(made) if word != VARIES or index == 0 or made[index - 1] != VARIES)


def _anchors(one: Words, other: Words) -> list[tuple[int, int]]:
    """The places of a longest common subsequence of words."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for mine in range(len(one) - 1, -1, -1):
        for theirs in range(len(other) - 1, -1, -1):
            if one[mine] == other[theirs] != VARIES:
                lengths[mine][theirs] = lengths[mine + 1][theirs + 1] + 1
            else:
                lengths[mine][theirs] = max(lengths[mine + 1][theirs], lengths[mine][theirs + 1])
    found: list[tuple[int, int]] = []
    mine = theirs = 0
    while mine < len(one) and theirs < len(other):
        if one[mine] == other[theirs] != VARIES:
            found.append((mine, theirs))
            mine, theirs = mine + 1, theirs + 1
        elif lengths[mine + 1][theirs] >= lengths[mine][theirs + 1]:
            mine += 1
        else:
            theirs += 1
    return found


def _between(one: Words, other: Words) -> list[str]:
    """What stands between two common words: word by word where both have as many, else only that it varies."""
    if len(one) == len(other):
        return [_common_word(mine, theirs) for mine, theirs in zip(one, other, strict=True)]
    return [VARIES] if one or other else []


def _common_word(one: str, other: str) -> str:
    """A word with a mark for what varies in it: `PART=…` for `PART=cart` and `PART=billing`."""
    mine, theirs = _PART.split(one), _PART.split(other)
    if len(mine) == len(theirs) and len(mine) > 1:
        both = "".join(a if a == b else VARIES for a, b in zip(mine, theirs, strict=True))
        return _RUN.sub(VARIES, both) if _share(mine, theirs) else VARIES
    start = _shared(mine, theirs)
    end = _shared(mine[start:][::-1], theirs[start:][::-1])
    if not any(_tells(part) for part in (*mine[:start], *mine[len(mine) - end :])):
        return VARIES
    return f"{''.join(mine[:start])}{VARIES}{''.join(mine[len(mine) - end :])}"


def _share(one: Sequence[str], other: Sequence[str]) -> bool:
    return any(a == b and _tells(a) for a, b in zip(one, other, strict=True))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _tells(part: str) -> bool:
    return len(part) > 1 and part != VARIES


def _is_like(pattern: str, word: str) -> bool:
    if VARIES not in pattern:
        return pattern == word
    at = 0
    pieces = pattern.split(VARIES)
    for number, piece in enumerate(pieces):
        if number == 0:
            if not word.startswith(piece):
                return False
        elif number == len(pieces) - 1:
            return len(word) - len(piece) >= at and word.endswith(piece)
        elif (found := word.find(piece, at)) < 0:
            return False
        else:
            at = found
        at += len(piece)
    return True
