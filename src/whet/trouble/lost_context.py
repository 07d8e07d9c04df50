"""Context that ran out: a compaction, and what the agent reads again after it."""

from collections.abc import Iterator

from whet.failures.purposes import path_of
from whet.sessions.call_effects import Effect
from whet.sessions.transcripts import Origin
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.edits import plain_path
from whet.trouble.values import TroubleEnding, TroubleKind

LOOKS = frozenset({Effect.READS, Effect.PROBES, Effect.THINKS})


def lost_contexts(course: SessionCourse) -> Iterator[Stretch]:
    """Each compaction, until the agent has read again what it had read before."""
    for index, message in enumerate(course.messages):
        if index < max(1, course.begin) or message.origin is not Origin.SUMMARY:
            continue
        if course.messages[index - 1].origin is Origin.SUMMARY and index - 1 >= course.begin:
            continue
        last = _read_again(course, index)
        yield Stretch(TroubleKind.CONTEXT, index - 1, last, "compaction", "", TroubleEnding.OVER)


def _read_again(course: SessionCourse, summary: int) -> int:
    """The last message of the looks right after a summary that repeat looks from before it."""
    known = {_looked_at(move) for move in course.moves_within(course.begin, summary)} - {""}
    last = summary
    for move in course.moves_within(summary, len(course.messages)):
        if move.step.effect not in LOOKS:
            break
        if _looked_at(move) in known:
            last = move.answered
    return last


def _looked_at(move: CourseStep) -> str:
    """What a step looked at or changed: its file, else its whole question."""
    path = path_of(move.step) or next(iter(move.files), "")
    return plain_path(path) if path else move.step.key
