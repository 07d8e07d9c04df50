"""What a model may see of a candidate, and what it may make of it.

It sees the evidence as data, redacted and shortened. What it writes is used only where it keeps to the limits, quotes
no secret and names something that the evidence names; it is trusted no more than the least trusted piece that it saw.
"""

from typing import NamedTuple

import msgspec

from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import LessonDraft, situation_of
from whet.lessons.known_causes import explains_itself
from whet.lessons.pieces import LessonPiece, LessonSource, stems
from whet.lessons.sayings import in_parts
from whet.secrets.redactor import Redactor
from whet.sessions.trust import Trust, lowest
from whet.text.characters import first_hidden
from whet.text.key_words import key_words
from whet.text.words import names
from whet.values import Value

PIECES_SHOWN = 6
TEXT_LETTERS = 400
MOST_LETTERS = 300
NOTHING = "NONE"
SHARED_WORDS = 2  # of a person's sentence: one alone may be anybody's
GENERIC = names("run running test tests file files command commands project use error errors code tool tools make name")

_GENERIC_STEMS = stems(GENERIC)


class ShownPiece(Value, frozen=True, omit_defaults=True):
    """One piece of evidence as a model sees it."""

    the_person_said: str = ""
    failed_call: str = ""
    its_error: str = ""
    what_worked_later: str = ""
    what_the_error_says_to_do: str = ""
    in_sessions: int = 1


class ShownEvidence(Value, frozen=True):
    """A candidate as a model sees it."""

    seen_in_sessions: int
    evidence: tuple[ShownPiece, ...]


class ReadAnswer(NamedTuple):
    """The draft in a model's answer, or why there is none of use."""

    draft: LessonDraft | None
    why: str = ""


def shown_evidence(candidate: LessonEvidence) -> str:
    """The evidence for a model: its words redacted and shortened, each piece once, as JSON."""
    redactor = Redactor()

    def told(text: str) -> str:
        return redactor.text(" ".join(text.split()))[:TEXT_LETTERS]

    def piece_shown(alike: list[LessonPiece]) -> ShownPiece:
        piece, sessions = alike[0], len({each.session for each in alike})
        if piece.source is LessonSource.PERSON:
            return ShownPiece(the_person_said=told(piece.text), failed_call=told(piece.call), in_sessions=sessions)
        return ShownPiece("", told(piece.call), told(piece.error), told(piece.fix), told(piece.remedy), sessions)

    shown = ShownEvidence(candidate.sessions, tuple(map(piece_shown, _grouped(candidate))))
    return msgspec.json.format(msgspec.json.encode(shown), indent=1).decode()


def trust_of_evidence(candidate: LessonEvidence) -> Trust:
    """The lowest trust of what a model sees; what it writes itself is an agent's."""
    return lowest((Trust.AGENT, *(piece.trust for piece in _seen(candidate))))


def read_answer(answer: str, candidate: LessonEvidence) -> ReadAnswer:
    """The draft that a model wrote, where it is one that may be told."""
    first = next((part for part in answer.strip().split("\n\n") if part.strip()), "")
    text = " ".join(first.split()).strip("\"'“” ")
    if not text:
        return ReadAnswer(None, "the model wrote nothing")
    if text.strip(".`").upper() == NOTHING:
        return ReadAnswer(None, "the model sees no lesson in it")
    if len(text) > MOST_LETTERS:
        return ReadAnswer(None, f"the model wrote {len(text)} characters; {MOST_LETTERS} are the most")
    if Redactor().text(text) != text:
        return ReadAnswer(None, "what the model wrote holds what looks like a secret")
    if first_hidden(text):
        return ReadAnswer(None, "what the model wrote holds a character that people cannot see")
    if not _names_evidence(text, candidate):
        return ReadAnswer(None, "what the model wrote names nothing that the evidence names")
    fix = candidate.best.fix or candidate.best.remedy
    return ReadAnswer(
        LessonDraft(candidate.source, situation_of(candidate.best), fix, text, trust_of_evidence(candidate))
    )


def needs_words(candidate: LessonEvidence) -> bool:
    """Whether a model could find words for it that teach something: not where every error explains itself."""
    return any(map(_teaches, candidate.pieces))


def _grouped(candidate: LessonEvidence) -> list[list[LessonPiece]]:
    """The pieces that are shown, those that say the same together."""
    groups: dict[tuple[str, ...], list[LessonPiece]] = {}
    for piece in tuple(filter(_teaches, candidate.pieces)) or candidate.pieces:
        said = piece.text if piece.source is LessonSource.PERSON else f"{piece.error} {piece.fix} {piece.remedy}"
        groups.setdefault((piece.call, " ".join(said.lower().split())), []).append(piece)
    return list(groups.values())[:PIECES_SHOWN]


def _seen(candidate: LessonEvidence) -> tuple[LessonPiece, ...]:
    return tuple(piece for alike in _grouped(candidate) for piece in alike)


def _teaches(piece: LessonPiece) -> bool:
    return piece.source is LessonSource.PERSON or not explains_itself(piece.error or piece.text.rpartition(" → ")[2])


def _names_evidence(text: str, candidate: LessonEvidence) -> bool:
    """Whether it speaks of this evidence: by a word of its commands or remedies, or two of what the person said."""
    told, said = stems(key_words(text) - GENERIC), in_parts(text) - _GENERIC_STEMS
    for piece in _seen(candidate):
        if piece.source is LessonSource.PERSON:
            found = len(said & in_parts(piece.text)) >= SHARED_WORDS
        else:
            found = bool(told & stems(key_words(f"{piece.call} {piece.fix} {piece.remedy}") - GENERIC))
        if found:
            return True
    return False
