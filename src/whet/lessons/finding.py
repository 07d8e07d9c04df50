"""Every piece of evidence of a session, and which sessions are copies of others."""

from collections.abc import Iterable, Iterator

from whet.failures.view import gather
from whet.lessons.pieces import LessonPiece
from whet.lessons.recoveries import recovery_pieces
from whet.lessons.said import said_pieces
from whet.sessions.transcripts import Transcript

OPENING = 200  # letters of the first message


def pieces_of_session(transcript: Transcript) -> Iterator[LessonPiece]:
    """What a session may teach: the person's words, recoveries, misses and remedies."""
    view = gather(transcript)
    yield from said_pieces(view)
    yield from recovery_pieces(view)


class Openings:
    """Tells copies apart: a resumed or forked session begins with the same message at the same moment."""

    def __init__(self) -> None:
        self._first: dict[tuple[float, str], str] = {}
        self.copies: dict[str, str] = {}

    def see(self, transcript: Transcript) -> None:
        said = ((message.at, message.text[:OPENING]) for message in transcript.messages if message.text.strip())
        opening = next(((at, text) for at, text in said if at is not None), None)
        if opening is not None and (original := self._first.setdefault(opening, transcript.id)) != transcript.id:
            self.copies[transcript.id] = original


def copies_of(transcripts: Iterable[Transcript]) -> dict[str, str]:
    """The original of each session that is a copy."""
    openings = Openings()
    for transcript in transcripts:
        openings.see(transcript)
    return openings.copies
