"""Sentences of people that contradict each other: shown to a person, never averaged into a rule."""

from collections.abc import Iterable
from itertools import combinations

from whet.lessons.pieces import LessonPiece
from whet.lessons.said import standing_sentences
from whet.text.likeness import is_opposed, sense
from whet.values import Value

MOST = 10
SUBJECT_LETTERS = 4
COMPARED = 200  # sentences, the latest: each is compared with each


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


def conflicts(pieces: Iterable[LessonPiece]) -> tuple[LessonConflict, ...]:
    """Where one session orders for good what another forbids for good, the newest first, each subject once."""
    said = [
        SaidSentence(sentence, piece.session, piece.message, piece.at, piece.who)
        for piece in pieces
        for sentence in standing_sentences(piece.text)
    ]
    found: dict[str, LessonConflict] = {}
    latest = sorted(said, key=lambda each: each.at or 0.0)[-COMPARED:]
    for first, second in combinations(latest, 2):
        one, other = sense(first.text), sense(second.text)
        if first.session != second.session and is_opposed(one, other):
            about = _subject(first.text, second.text)
            found[about] = LessonConflict(about, first, second)
    return tuple(sorted(found.values(), key=lambda each: -(each.second.at or 0.0))[:MOST])


def _subject(one: str, other: str) -> str:
    """The longer words that two sentences share, in the order of the first."""
    theirs = {word.strip(",.!;:") for word in other.lower().split()}
    shared = (word for each in one.lower().split() if (word := each.strip(",.!;:")) in theirs)
    return " ".join(dict.fromkeys(word for word in shared if len(word) >= SUBJECT_LETTERS))


def contradicted(text: str, found: Iterable[LessonConflict]) -> LessonConflict | None:
    """The conflict that a rule would take a side in, by having one of its sentences."""
    words = sense(text).words
    for conflict in found:
        if words and any(sense(each.text).words >= words for each in (conflict.first, conflict.second)):
            return conflict
    return None
