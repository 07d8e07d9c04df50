"""Context that ran out: a compaction, and what the agent reads again after it."""

from collections.abc import Iterator

from whet.outcomes.purposes import path_of
from whet.sessions.call_effects import Effect
from whet.sessions.transcripts import Origin
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.edits import plain_path
from whet.trouble.values import TroubleEnding, TroubleKind

LOOKS = frozenset({Effect.READS, Effect.PROBES, Effect.THINKS})


def lost_contexts(course: SessionCourse) -> Iterator[Stretch]:
    """Each compaction, until the agent has read again what it had read before."""
    known: set[str] = set()
    done = 0  # so many steps are known
    for index in _compactions(course):
        while done < len(course.moves) and course.moves[done].asked < index:
            known.add(_looked_at(course.moves[done]))
            done += 1
        last = _read_again(course, index, done, known)
        yield Stretch(TroubleKind.CONTEXT, index - 1, last, ending=TroubleEnding.OVER)


def _compactions(course: SessionCourse) -> Iterator[int]:
    """The first message of each summary that stands for older messages."""
    for index in course.of_programs:
        if index < max(1, course.begin) or course.messages[index].origin is not Origin.SUMMARY:
            continue
        if index == course.begin or course.messages[index - 1].origin is not Origin.SUMMARY:
            yield index


def _read_again(course: SessionCourse, summary: int, step: int, known: set[str]) -> int:
    """The last message of the looks right after a summary that repeat looks from before it."""
    last = summary
    while step < len(course.moves) and course.moves[step].step.effect in LOOKS:
        if _looked_at(course.moves[step]) in known:
            last = course.moves[step].answered
        step += 1
    return last


def _looked_at(move: CourseStep) -> str:
    """What a step looked at or changed: its file, else its whole question."""
    path = path_of(move.step) or next(iter(move.files), "")
    return plain_path(path) if path else move.step.key
