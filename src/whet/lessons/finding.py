"""What one session teaches: its condensed form, what people said, what changed where calls went wrong, its original."""

from typing import NamedTuple

from whet.lessons.call_pairs import CallCourse
from whet.lessons.changed_calls import SessionChanges, changes_of
from whet.lessons.condensed import CondensedSession
from whet.lessons.condensing import condense
from whet.lessons.instructions import SeenInstruction, seen_instructions
from whet.lessons.pieces import LessonPiece
from whet.lessons.said import said_pieces
from whet.sessions.transcripts import Transcript
from whet.trouble.outcomes.view import gather
from whet.values import Value

OPENING = 200  # letters of the first message


class SessionOpening(NamedTuple):
    """How a session begins: its first words and when they were said."""

    at: float
    text: str


class SessionTeaching(Value, frozen=True):
    """All that is kept of what a session teaches."""

    pieces: tuple[LessonPiece, ...] = ()  # what people said
    instructions: tuple[SeenInstruction, ...] = ()
    opening: SessionOpening | None = None
    changes: SessionChanges = SessionChanges()
    condensed: CondensedSession | None = None  # what a reader reads of it


def teaching_of(transcript: Transcript) -> SessionTeaching:
    """What a session may teach, and the instructions of its project that its record shows."""
    view = gather(transcript)
    calls = CallCourse(view)
    return SessionTeaching(
        tuple(said_pieces(view)),
        tuple(seen_instructions(view)),
        opening_of(transcript),
        changes_of(calls),
        condense(view, calls),
    )


def opening_of(transcript: Transcript) -> SessionOpening | None:
    """The first words that have a time."""
    said = ((message.at, message.text[:OPENING]) for message in transcript.messages if message.text.strip())
    return next((SessionOpening(at, text) for at, text in said if at is not None), None)


class Openings:
    """Tells copies apart: a resumed or forked session begins with the same message at the same moment."""

    def __init__(self) -> None:
        self._first: dict[SessionOpening, str] = {}
        self.copies: dict[str, str] = {}

    def see(self, session: str, opening: SessionOpening | None) -> None:
        if opening is not None and (original := self._first.setdefault(opening, session)) != session:
            self.copies[session] = original
