"""Pieces of evidence for lessons: one thing that a person said, or one failure with what worked instead."""

import re
from collections.abc import Iterable
from enum import StrEnum

from whet.sessions.trust import Trust
from whet.text.words import names
from whet.values import Value

LONGEST_WORD = 60
_WORD = re.compile(r"[A-Za-z][\w.:/@+-]*[\w]|[A-Za-z]|--?[A-Za-z][\w-]*")
COMMON = names(
    "a about above actually add after again all already also am an and another any anything are aren't as ask at away "
    "back be because been before being below best better both bug build but by call can can't cannot change changes "
    "check clear code come commit could couldn't create current currently did didn't directly do does doesn't doing "
    "don't done down each either else end even every everything exactly far feel few file files fine first fix for "
    "from full get getting give go goes going gone good got great had handle has have haven't having he hello help "
    "her here hi him his hmm how however i i'd i'll i'm i've if in instead into is isn't issue it it's its itself "
    "just keep kind know last latest later least less let let's lets like line lines list little long look looking "
    "looks lot made main make makes making many may maybe me mean might mine more most move much must my name need "
    "needs never new next nice no not nothing now of off ok okay old on once one only or other our out over own part "
    "path place please possible pr problem properly provide pull push put question quick quickly quite rather really "
    "remove right run same say see seem seems set she should shouldn't show shows simple since so some something sort "
    "sounds start still stuff such sure take task tell test tests than thank thanks that that's the their them then "
    "there there's these they thing things think this those though thought through time to together too top try two "
    "type under until up update us use used using very via want was wasn't way we we'd we'll we're we've well were "
    "what what's when where whether which while who whole why will with without won't work working works would "
    "wouldn't wrong yeah yep yes yet you you're your"
)


class LessonSource(StrEnum):
    """Where a piece of evidence comes from, the worthiest first."""

    PERSON = "person"  # the person's own words
    RECOVERY = "recovery"  # a call that failed, and one for the same purpose that worked
    PLACE = "place"  # a guess about the place, and what is there
    REMEDY = "error_remedy"  # the error itself says what to do


class Piece(Value, frozen=True):
    """One piece of evidence. `fix` is what worked, or what is asked for; `keys` are the words that matter in it."""

    source: LessonSource
    session: str
    message: int
    text: str
    fix: str = ""
    keys: frozenset[str] = frozenset()
    weight: float = 1.0
    trust: Trust = Trust.USER
    speaker: str = ""


def key_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    found = (word.strip(".:/").lower() for word in _WORD.findall(text))
    return frozenset(word for word in found if 2 < len(word) <= LONGEST_WORD and word not in COMMON)


def stems(words: Iterable[str]) -> frozenset[str]:
    """Words without their commonest endings, so that a plural or a tense is no other word."""
    return frozenset(_stem(word) for word in words)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
