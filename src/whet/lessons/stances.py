"""What a sentence is for and what it is against, by the names in it."""

import re
from typing import NamedTuple

from whet.text.words import COMMON

NAMES_KEPT = 8
_CLAUSE = re.compile(r"(?i)[,;.!?](?:\s|$)|\s(?:but|and use|instead|so|because)\b(?! of)")
_AGAINST = re.compile(
    r"(?i)\b(?:don['’]?t|do not|never|avoid|stop|not|no|instead of|rather than|without|shouldn['’]?t|should not|"
    r"mustn['’]?t|must not)\b"
)
_QUOTED = re.compile(r"`([^`]{2,60})`")
_SIGNED = re.compile(r"(?<![\w`./-])(?:(?:\./|--?)[A-Za-z][\w./-]*\w|[A-Za-z][\w./:@+-]*[./:_@-][\w./:@+-]*\w)")
_USED = re.compile(
    r"(?i)\b(?:us(?:e|ing)|run(?:ning)?|via|with|prefer|call(?:ing)?|install(?:ing)?|instead of|rather than|not|never|"
    r"avoid)\s+(?:(?:the|a|an|our|my|this|that|to|use|using|run|running)\s+){0,3}([A-Za-z][\w.+-]{1,30})"
)


class Stance(NamedTuple):
    """The names that a sentence is for, and those that it is against."""

    wanted: frozenset[str]
    unwanted: frozenset[str]


def stance_of(sentence: str) -> Stance:
    """What a sentence says of the names in it: commands, files, flags, and what it says to use."""
    wanted: dict[str, None] = {}
    unwanted: dict[str, None] = {}
    for clause in clauses(sentence):
        denied = _AGAINST.search(clause)
        place = denied.start() if denied else len(clause)
        wanted |= dict.fromkeys(_names(clause[:place]))
        unwanted |= dict.fromkeys(_names(clause[place:]))
    return Stance(
        frozenset([name for name in wanted if name not in unwanted][:NAMES_KEPT]), frozenset([*unwanted][:NAMES_KEPT])
    )


def clauses(sentence: str) -> list[str]:
    """A sentence in the parts that a "not" reaches no further than; each keeps the verb that opens it."""
    starts = [0]
    for found in _CLAUSE.finditer(sentence):
        starts.append(found.end() if found[0][0] in ",;.!?" else found.start())
    return [sentence[start:end].strip() for start, end in zip(starts, [*starts[1:], len(sentence)], strict=True)]


def _names(text: str) -> list[str]:
    found = [match[1] for match in _QUOTED.finditer(text)]
    found += [match[0] for match in _SIGNED.finditer(text)]
    found += [match[1] for match in _USED.finditer(text)]
    plain = (" ".join(name.lower().strip("`").rstrip(".,:").split()) for name in found)
    return [name for name in plain if len(name) > 1 and name not in COMMON]
