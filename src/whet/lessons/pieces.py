"""Pieces of evidence for lessons: one thing that a person said, or one failure with what worked instead."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec.structs import replace

from whet.ledger.origins import BASIS_WORDS
from whet.sessions.trust import Trust
from whet.values import Value


class LessonSource(StrEnum):
    """Where a piece of evidence comes from, the worthiest first."""

    PERSON = "person"  # the person's own words
    RECOVERY = "recovery"  # a call that failed, and one for the same purpose that worked
    PLACE = "place"  # a guess about the place, and what is there
    REMEDY = "error_remedy"  # the error itself says what to do
    PROCEDURE = "procedure"  # several steps that worked in the same order, session after session
    FAILURE = "failure"  # it recurs, and nothing that was seen shows what works instead
    GIVEN = "given"  # somebody wrote the words, and no session is known to show them

    @property
    def words(self) -> str:
        """The same for people."""
        return SOURCE_WORDS[self]

    def seen_in(self, sessions: int) -> str:
        """What a person reads of evidence in so many sessions."""
        return f"{self.words} in {sessions} session{'' if sessions == 1 else 's'}"


SOURCE_WORDS = {
    **{LessonSource(basis.value): words for basis, words in BASIS_WORDS.items()},
    LessonSource.FAILURE: "a failure that recurs",
    LessonSource.GIVEN: "not from sessions",
}


class LessonPiece(Value, frozen=True):
    """One piece of evidence: the person's words, or a call with its error; `keys` are the words that matter in it.

    `fix` is what worked later, `remedy` what the error itself says to do, and `did` the later call that did it. A habit
    is what the agent's own tools ask for, in whatever project. The trust is the lowest of the words that a draft takes
    from it. `who` is the member of a team in whose session it was said.
    """

    source: LessonSource
    session: str
    message: int
    text: str
    call: str = ""
    error: str = ""
    fix: str = ""
    remedy: str = ""
    keys: frozenset[str] = frozenset()
    weight: float = 1.0
    trust: Trust = Trust.USER
    is_habit: bool = False
    is_first: bool = False  # said before the agent had begun: the task of the day
    at: float | None = None
    who: str = ""
    did: str = ""
    is_refuted: bool = False  # it says that something is not there which was there elsewhere in the project


def lifted(piece: LessonPiece) -> LessonPiece:
    """The piece of a project whose owner vouches for what its commands print; a stranger's words stay a stranger's."""
    is_printed = piece.trust is Trust.TOOL and piece.source is not LessonSource.PERSON
    return replace(piece, trust=Trust.AGENT) if is_printed else piece


def stems(words: Iterable[str]) -> frozenset[str]:
    """Words without their commonest endings, so that a plural or a tense is no other word."""
    return frozenset(_stem(word) for word in words)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
