"""Examples from recoveries: the call that worked where another had failed, from each session that shows a lesson."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from whet.examples.candidates import Episode, Shows, episodes, is_trivial, is_whole
from whet.examples.mining import PURPOSES, Mined
from whet.examples.templates import Example
from whet.failures.view import JudgedCall, SessionView, gather
from whet.lessons.pieces import LessonPiece
from whet.lessons.simple_calls import in_parts, shown
from whet.sessions.activity import classify
from whet.sessions.transcripts import Transcript

FEWEST = 3
MOST = 6  # as many teach a model of 135M parameters a convention (docs/benchmarks.md)
TOKENS = 2_000


def mine_recoveries(transcripts: Iterable[Transcript], pieces: Sequence[LessonPiece]) -> Mined:
    """An example of each session, the first sessions first, until there are enough; none where there are too few.

    The later call is the example. It is not asked whether its session went well: the call itself did, where the one
    before it had not. At least half of the sessions are left over, where that leaves enough: they can judge the
    template.
    """
    of_session = {piece.session: piece for piece in reversed(pieces) if piece.fix}
    most = max(FEWEST, min(MOST, len(of_session) // 2))
    found: list[tuple[JudgedCall, Example]] = []
    left_out: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    seen = 0
    for transcript in transcripts:
        if len(found) == most:
            break
        seen += 1
        if transcript.purpose not in PURPOSES:
            refused["not a person's"] += 1
            continue
        one = _recovered(gather(transcript), of_session.get(transcript.id))
        if isinstance(one, str):
            left_out[one] += 1
        elif sum(example.tokens for _, example in (*found, one)) <= TOKENS:
            found.append(one)
    kept = found if len(found) >= FEWEST else []
    return Mined(
        tuple(example for _, example in kept),
        classify(step.exchange for step, _ in kept),
        seen,
        len(found),
        dict(left_out),
        dict(refused),
        len(found),
    )


def _recovered(evidence: SessionView, piece: LessonPiece | None) -> tuple[JudgedCall, Example] | str:
    """The call of a session that a lesson says worked, as an example, or why there is none."""
    if piece is None:
        return "no call that worked instead"
    folder, transcript = evidence.transcript.folder, evidence.transcript
    for episode in episodes(evidence):
        for step in episode.steps:
            is_later = step.worked and step.exchange.asked >= piece.message
            if is_later and piece.fix in (shown(part) for part in in_parts(step, folder).parts):
                example = Shows(transcript).example(step)
                return example if isinstance(example, str) else (step, _told(step, example, piece, episode, transcript))
    return "no call that worked instead"


def _told(step: JudgedCall, example: Example, piece: LessonPiece, episode: Episode, transcript: Transcript) -> Example:
    """The example with what speaks for it; whole where nothing else that worked was needed for its request."""
    others = [each for each in episode.steps if each.worked and each is not step and not is_trivial(each)]
    whole = not others and is_whole([(step, example)], episode, transcript)
    return replace(example, is_whole=whole, evidence=f"{example.evidence}; it worked where `{piece.call}` had failed")
