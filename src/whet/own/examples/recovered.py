"""Examples from recoveries: the call that worked where another had failed, from each session that shows a lesson."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from whet.lessons.change_features import Words, common_form, fits
from whet.lessons.pieces import LessonPiece
from whet.lessons.simple_calls import in_parts, shown
from whet.own.examples.candidates import Episode, ExampleCalls, episodes, is_trivial, is_whole
from whet.own.examples.mining import PURPOSES, Mined
from whet.own.examples.templates import Example
from whet.sessions.activity import classify
from whet.sessions.transcripts import Transcript
from whet.trouble.outcomes.view import JudgedCall, SessionView, gather

FEWEST = 3
MOST = 6  # as many teach a model of 135M parameters a convention (bench/RESULTS.md)
TOKENS = 2_000
NOTHING_WORKED = "no call that worked instead"


def mine_recoveries(transcripts: Iterable[Transcript], pieces: Sequence[LessonPiece]) -> Mined:
    """An example of each session, the first sessions first, until there are enough; none where there are too few.

    The later call is the example. It is not asked whether its session went well: the call itself did, where the one
    before it had not. Its words may stand in the error that came before it, so a person decides on them. At least half
    of the sessions are left over, where that leaves enough: they can judge the template.
    """
    places = {piece.session: piece for piece in sorted(pieces, key=lambda one: (bool(one.fix), -one.message))}
    fixes = [tuple(piece.fix.split()) for piece in pieces if piece.fix]
    form = common_form(fixes) if fixes else ()
    most = max(FEWEST, min(MOST, len(places) // 2))
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
        one = _recovered(gather(transcript), places.get(transcript.id), form)
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


def _recovered(evidence: SessionView, piece: LessonPiece | None, form: Words) -> tuple[JudgedCall, Example] | str:
    """The first call of a session after a failure that does what worked elsewhere, as an example; or why there is none.

    Where the piece does not say what worked in its session, it is a call of the form that worked in the others.
    """
    if piece is None or not form:
        return NOTHING_WORKED
    transcript = evidence.transcript
    for episode in episodes(evidence):
        for step in episode.steps:
            parts = in_parts(step, transcript.folder).parts if step.worked else ()
            is_it = any(shown(part) == piece.fix if piece.fix else fits(form, part.words) for part in parts)
            if is_it and step.exchange.asked >= piece.message - 1:
                example = ExampleCalls(transcript).example(step, is_own=False)
                return example if isinstance(example, str) else (step, _told(step, example, piece, episode, transcript))
    return NOTHING_WORKED


def _told(step: JudgedCall, example: Example, piece: LessonPiece, episode: Episode, transcript: Transcript) -> Example:
    """The example with what speaks for it; whole where nothing else that worked was needed for its request."""
    others = [each for each in episode.steps if each.worked and each is not step and not is_trivial(each)]
    whole = not others and is_whole([(step, example)], episode, transcript)
    failed = f"`{piece.call}`" if piece.call else "another call"
    return replace(example, is_whole=whole, evidence=f"{example.evidence}; it worked where {failed} had failed")
