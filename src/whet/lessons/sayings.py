"""Whether two of a person's sentences say the same: by their telling words, and by what they are for or against."""

import re

from whet.lessons.pieces import stems
from whet.text.key_words import key_words
from whet.text.likeness import NEGATIONS

SHARED_WORDS = 2
OF_SHORTER, OF_LONGER = 0.6, 0.3  # of the telling words of each that both have
_JOINT = re.compile(r"[-_./:@+]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# A "not" that forbids nothing: don't forget to, aren't we using, … and not the other way.
# What a sentence names as the other way, which it does not ask for.
_OTHER_WAY = re.compile(r"(?i)(?:,| and| but) not\b.*|\b(?:instead of|rather than|anstelle von|statt)\b.*")
_HARMLESS = re.compile(
    r"(?i)\b(?:don['’]?t|do not|never) (?:ever )?forget\b|"
    r"^(?:ok,? |so |and |but )*(?:why )?(?:\w+n['’]?t|not)\b(?=.*\?)|"
    r"(?:,| and| but) not\b.*|\b(?:instead of|rather than)\b.*"
)


def says_same(sentence: str, other: str) -> bool:
    """Whether most telling words of the shorter are the longer's too, and both are for it or both against it."""
    one, two = in_parts(_asked(sentence)), in_parts(_asked(other))
    shared, (shorter, longer) = len(one & two), sorted((len(one), len(two)))
    if shared < max(SHARED_WORDS, OF_SHORTER * shorter, OF_LONGER * longer):
        return False
    return is_against(sentence) is is_against(other)


def says_this(sentence: str, order: str) -> bool:
    """Whether a sentence asks for this very thing: the one has all telling words of the other, and both are for it or
    both against it. What only shares most of its words asks for something else.
    """
    one, two = in_parts(_asked(sentence)), in_parts(_asked(order))
    shorter = min(len(one), len(two))
    return shorter >= SHARED_WORDS and len(one & two) == shorter and is_against(sentence) is is_against(order)


def _asked(sentence: str) -> str:
    return _OTHER_WAY.sub(" ", sentence)


def is_against(sentence: str) -> bool:
    """Whether a sentence forbids or denies; a question that finds fault asks for what it says is not done."""
    words = (word.lower().replace("’", "").replace("'", "") for word in _WORD.findall(_HARMLESS.sub(" ", sentence)))
    return any(word in NEGATIONS for word in words)


def in_parts(text: str) -> frozenset[str]:
    """The telling words of a text, names taken apart: who says “table driven” means table-driven tests."""
    return stems(key_words(_JOINT.sub(" ", text)))
