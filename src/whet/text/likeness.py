"""How like two short texts are by their words, and whether one says the opposite of the other.

What a sentence is for and what it is against, by the names in it.
"""

import re
import unicodedata
from typing import NamedTuple

from whet.text.words import COMMON, names, on_demand

# Two texts whose sets of telling words overlap by this share (Jaccard) say the same thing.
SAME = 0.8
# Opposites are told from fewer common words, for "always" and "never" bring different reasons along.
OPPOSED = 0.6
FEWEST_WORDS = 2

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SCRIPT = on_demand(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_ENDINGS = ("ing", "ies", "ed", "es", "s")
EMPTY_WORDS = names(
    "a an the this that these those it its is are be been being was were of to in on at for from by with as and or "
    "but so then than too very just also please must should shall will would can could may might do does did done "
    "you your yours i me my we our they their them he she his her there here what which who when where how if "
    "any some all each every one always make sure ensure remember"
)
NEGATIONS = names(
    "not never no none nor neither without avoid stop refrain dont doesnt didnt cannot cant isnt arent wont shouldnt "
    "mustnt forbid forbidden prohibit prohibited skip omit"
)
# Each pair turns the sense round like a negation does.
OPPOSITES = (
    ("before", "after"),
    ("enable", "disable"),
    ("include", "exclude"),
    ("allow", "deny"),
    ("add", "remove"),
    ("more", "less"),
    ("long", "short"),
    ("first", "last"),
    ("start", "end"),
    ("on", "off"),
    ("true", "false"),
    ("accept", "reject"),
    ("show", "hide"),
    ("keep", "delete"),
    ("verbose", "brief"),
)
_OPPOSITE_OF = {second: first for first, second in OPPOSITES}

NAMES_KEPT = 8
_CLAUSE = re.compile(r"(?i)[,;.!?](?:\s|$)|\s(?:but|and use|instead|so|because)\b(?! of)")
_AGAINST = on_demand(
    r"(?i)\b(?:don['’]?t|do not|never|avoid|stop|not|no|instead of|rather than|without|shouldn['’]?t|should not|"
    r"mustn['’]?t|must not)\b"
)
_QUOTED = re.compile(r"`([^`]{2,60})`")
_SIGNED = re.compile(r"(?<![\w`./-])(?:(?:\./|--?)[A-Za-z][\w./-]*\w|[A-Za-z][\w./:@+-]*[./:_@-][\w./:@+-]*\w)")
_USED = on_demand(
    r"(?i)\b(?:us(?:e|ing)|run(?:ning)?|via|with|prefer|call(?:ing)?|install(?:ing)?|instead of|rather than|not|never|"
    r"avoid)\s+(?:(?:the|a|an|our|my|this|that|to|use|using|run|running)\s+){0,3}([A-Za-z][\w.+-]{1,30})"
)


class TellingWords(NamedTuple):
    """The telling words of a text, and whether what they say is asked for or forbidden."""

    words: frozenset[str]
    forbids: bool


def sense(text: str) -> TellingWords:
    """The telling words, without endings and negations; each negation or turned word turns the sense round."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    words: set[str] = set()
    turns = 0
    for match in _WORD.finditer(plain):
        word = match.group().replace("'", "")
        if word in NEGATIONS:
            turns += 1
        elif word in _OPPOSITE_OF:
            turns += 1
            words.add(_OPPOSITE_OF[word])
        elif word not in EMPTY_WORDS or word == "on":
            words.update(_script_pieces(word) or (stem(word),))
    return TellingWords(frozenset(words), turns % 2 == 1)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of common words among all words of both."""
    return len(one & other) / len(one | other) if one and other else 0.0


def covered(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words of one text that another has too."""
    return len(one & other) / len(one) if one else 0.0


def is_same(one: TellingWords, other: TellingWords) -> bool:
    return one.forbids == other.forbids and similarity(one.words, other.words) >= SAME


def is_opposed(one: TellingWords, other: TellingWords) -> bool:
    """Whether one asks for what the other forbids, as far as their words tell.

    Seen: negated or turned wordings of much the same words. Not seen: two positive texts that cannot both be
    followed ("answer in German", "answer in English"), nor the same thing said in other words.
    """
    enough = min(len(one.words), len(other.words)) >= FEWEST_WORDS
    return enough and one.forbids != other.forbids and similarity(one.words, other.words) >= OPPOSED


def stem(word: str) -> str:
    """A word without its commonest endings, so that a plural or a tense is no other word."""
    for ending in _ENDINGS:
        if len(word) > len(ending) + 3 and word.endswith(ending):
            stem = word[: -len(ending)]
            # running → run, stopped → stop
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem
    return word


def _script_pieces(word: str) -> tuple[str, ...]:
    """Pairs of characters, for scripts that put no spaces between words."""
    if not _SCRIPT().search(word):
        return ()
    return tuple(word[place : place + 2] for place in range(max(1, len(word) - 1)))


class Stance(NamedTuple):
    """The names that a sentence is for, and those that it is against."""

    wanted: frozenset[str]
    unwanted: frozenset[str]


def stance_of(sentence: str) -> Stance:
    """What a sentence says of the names in it: commands, files, flags, and what it says to use."""
    wanted: dict[str, None] = {}
    unwanted: dict[str, None] = {}
    for clause in clauses(sentence):
        denied = _AGAINST().search(clause)
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
    found += [match[1] for match in _USED().finditer(text)]
    plain = (" ".join(name.lower().strip("`").rstrip(".,:").split()) for name in found)
    return [name for name in plain if len(name) > 1 and name not in COMMON]
