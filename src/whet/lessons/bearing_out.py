"""Which pieces of a candidate bear its draft out: those that say the same, or show the same failure.

Pieces are put together by the words that they share, so that one place is spent on one subject. That is no evidence: of
two sentences about a push one may ask for what the other forbids.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from whet.failures.purposes import ASIDES
from whet.lessons.candidates import LessonEvidence, worth_of
from whet.lessons.drafts import LessonDraft, is_ordered_in, sketches
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.sessions.shell_lines import split
from whet.text.likeness import similarity

SAME_ERROR = 0.75  # of the words of two errors


def bearing_out(
    candidate: LessonEvidence, draft: LessonDraft, copies: Mapping[str, str] | None = None
) -> LessonEvidence:
    """The candidate with the evidence for its draft alone, and as many sessions as that is of."""
    every = (*candidate.pieces, *candidate.more)
    # What says it outright comes first; where none does, the words are a model's, and it read the best piece.
    saying = [piece for piece in every if _drafts(piece, candidate, draft)] or [candidate.best]
    kept = (*saying, *(piece for piece in every if piece not in saying and _agrees(piece, draft, saying)))
    originals = copies or {}
    sessions = len({originals.get(piece.session, piece.session) for piece in kept})
    return replace(candidate, pieces=kept, more=(), sessions=sessions, worth=worth_of(kept, sessions))


def _drafts(piece: LessonPiece, candidate: LessonEvidence, draft: LessonDraft) -> bool:
    """Whether the draft could have been written from this piece."""
    return any(sketch.draft.text == draft.text for sketch in sketches(piece, candidate))


def _agrees(piece: LessonPiece, draft: LessonDraft, saying: list[LessonPiece]) -> bool:
    if piece.source is LessonSource.PERSON:
        return any(is_ordered_in(draft.text, sentence) for sentence in piece.text.split(". "))
    return any(_is_same_failure(piece, other) for other in saying)


def _is_same_failure(one: LessonPiece, other: LessonPiece) -> bool:
    """Whether the same program failed with the same words."""
    if not (one.error and other.error) or similarity(_words(one.error), _words(other.error)) < SAME_ERROR:
        return False
    return bool(_programs(one.call) & _programs(other.call))


def _words(error: str) -> frozenset[str]:
    return frozenset(error.lower().split())


def _programs(call: str) -> set[str]:
    return {stage.program for stage in split(call) if stage.program not in ASIDES}
