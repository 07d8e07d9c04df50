"""Evidence for lessons: one thing that a person said, or one failure with what worked; and what belongs together."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec.structs import replace

from whet.ledger.origins import BASIS_WORDS
from whet.sessions.trust import Trust
from whet.values import Value

PIECES_KEPT = 12


class LessonSource(StrEnum):
    """Where a piece of evidence comes from, the worthiest first."""

    PERSON = "person"  # the person's own words
    RECOVERY = "recovery"  # a call that failed, and what was different when it worked
    REQUEST = "repeated_request"  # what people ask for again and again
    PLACE = "place"  # a guess about the place, and what is there
    REMEDY = "error_remedy"  # the error itself says what to do
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
    **{LessonSource(basis): words for basis, words in BASIS_WORDS.items()},
    LessonSource.FAILURE: "a failure that recurs",
    LessonSource.GIVEN: "not from sessions",
}


class LessonPiece(Value, frozen=True):
    """One piece of evidence: the person's words, or a call with its error.

    `fix` is what worked later, and `did` by what the calls are known that were made for a person's words. The trust is
    the lowest of the words that a rule takes from it. `who` is the member of a team in whose session it was said.
    """

    source: LessonSource
    session: str
    message: int
    text: str
    call: str = ""
    error: str = ""
    fix: str = ""
    trust: Trust = Trust.USER
    is_first: bool = False  # said before the agent had begun: the task of the day
    at: float | None = None
    who: str = ""
    did: frozenset[str] = frozenset()


class LessonEvidence(Value, frozen=True):
    """The evidence of a lesson: its first pieces, in how many sessions it was seen, and how promising it is."""

    source: LessonSource
    pieces: tuple[LessonPiece, ...]
    sessions: int
    worth: float

    @property
    def best(self) -> LessonPiece:
        """The piece that says most; an empty one where no session is known to show it."""
        return self.pieces[0] if self.pieces else LessonPiece(self.source, "", 0, "")

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions of its pieces."""
        return tuple(dict.fromkeys(piece.session for piece in self.pieces))


def lifted(trust: Trust) -> Trust:
    """What a command printed in a project whose owner vouches for that; a stranger's words stay a stranger's."""
    return Trust.AGENT if trust is Trust.TOOL else trust


def distrusted(pieces: Iterable[LessonPiece]) -> tuple[LessonPiece, ...]:
    """What another member wrote: a stranger's."""
    return tuple(replace(piece, trust=Trust.EXTERNAL) for piece in pieces)
