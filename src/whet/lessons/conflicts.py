"""Sentences of people that contradict each other: shown to a person, never averaged into a rule."""

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from whet.lessons.pieces import LessonPiece, LessonSource, stems
from whet.lessons.said import direction
from whet.lessons.stances import stance_of
from whet.text.key_words import key_words
from whet.values import Value

MOST = 10
LONGEST = 25  # words
LEAST = 1.4  # how much a sentence has to direct
SAME_SITUATION = 0.5
_CHOICE = re.compile(
    r"(?i)(?:\b(?:use|using|run|prefer|with|via)\s+|^)(?:(?:the|a|an|our|my)\s+)?"
    r"(?P<name>[A-Za-z][\w./+-]{1,30})\s+(?:for|to|when)\s+(?P<purpose>[^,;.]{3,60})"
)
_OTHER_WAY = re.compile(r"(?i)^(?P<purpose>[^,;.]{3,60}?)\s+(?:with|via|using)\s+(?P<name>[A-Za-z][\w./+-]{1,30})\W*$")


class SaidSentence(Value, frozen=True):
    """One sentence of a person, and where it was said."""

    text: str
    session: str
    message: int
    at: float | None = None
    who: str = ""


class LessonConflict(Value, frozen=True):
    """Two sentences that cannot both be followed, and what they disagree about."""

    about: str
    first: SaidSentence
    second: SaidSentence


class _Claim(NamedTuple):
    """What a sentence says of one name: for it or against it, and in which situation."""

    name: str
    is_for: bool
    situation: frozenset[str]
    sentence: SaidSentence
    is_choice: bool = False


def conflicts(pieces: Iterable[LessonPiece]) -> tuple[LessonConflict, ...]:
    """The contradictions among what people said in different sessions, the latest of each kind, the newest first."""
    claims = [claim for piece in pieces if piece.source is LessonSource.PERSON for claim in _claims(piece)]
    found: dict[str, LessonConflict] = {}
    for one, other, about in (*_denied(claims), *_chosen(claims)):
        first, second = sorted((one.sentence, other.sentence), key=lambda each: each.at or 0.0)
        known = found.get(about)
        if known is None or (second.at or 0.0) > (known.second.at or 0.0):
            found[about] = LessonConflict(about, first, second)
    return tuple(sorted(found.values(), key=lambda each: -(each.second.at or 0.0))[:MOST])


def contradicted(text: str, found: Iterable[LessonConflict]) -> LessonConflict | None:
    """The conflict that a draft would take a side in, by having one of its sentences."""
    words = stems(key_words(text))
    for conflict in found:
        for sentence in (conflict.first, conflict.second):
            if words and stems(key_words(sentence.text)) >= words:
                return conflict
    return None


def _claims(piece: LessonPiece) -> Iterator[_Claim]:
    for text in piece.text.split(". "):
        if len(text.split()) > LONGEST or direction(text) < LEAST:
            continue
        sentence = SaidSentence(text, piece.session, piece.message, piece.at, piece.who)
        stance, words = stance_of(text), stems(key_words(text))
        for names, is_for in ((stance.wanted, True), (stance.unwanted, False)):
            for name in names:
                yield _Claim(name, is_for, words - stems(name.split()), sentence)
        choice = _CHOICE.search(text) or _OTHER_WAY.search(text)
        if choice is not None and choice["name"].lower() in stance.wanted:
            yield _Claim(choice["name"].lower(), True, stems(key_words(choice["purpose"])), sentence, is_choice=True)


def _denied(claims: list[_Claim]) -> Iterator[tuple[_Claim, _Claim, str]]:
    """One is for a name and the other against it, in the same situation."""
    by_name: dict[str, list[_Claim]] = {}
    for claim in claims:
        if not claim.is_choice:
            by_name.setdefault(claim.name, []).append(claim)
    for name, group in by_name.items():
        for one in (each for each in group if each.is_for):
            for other in (each for each in group if not each.is_for):
                if _are_apart(one, other) and _alike(one.situation, other.situation):
                    yield one, other, name


def _chosen(claims: list[_Claim]) -> Iterator[tuple[_Claim, _Claim, str]]:
    """Both say what to use for the same purpose, and name different things."""
    chosen = [claim for claim in claims if claim.is_choice and claim.situation]
    for one, other in combinations(chosen, 2):
        if one.name != other.name and _are_apart(one, other) and one.situation == other.situation:
            yield one, other, " or ".join(sorted((one.name, other.name)))


def _are_apart(one: _Claim, other: _Claim) -> bool:
    return one.sentence.session != other.sentence.session


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME_SITUATION * len(one | other)
