"""Work done over: whether the agent, after somebody spoke, goes back to what it had done itself."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from whet.failures.purposes import path_of
from whet.sessions.call_effects import Effect
from whet.trouble.course import CourseStep, SessionCourse
from whet.trouble.edits import FileEdit, plain_path

RECENT = 100  # changes before a message that it may be about
LOOKED_AHEAD = 10  # steps after a message that show what it is about
OWN_SHARE = 0.5  # so many of the files that are changed next were changed before
QUIET = frozenset({Effect.READS, Effect.PROBES, Effect.THINKS, Effect.CHANGES})


def changes_own_work(course: SessionCourse, said: int) -> bool:
    """Whether the agent then takes something out of files that it had changed, at once, and hardly touches others.

    A failure, a check or a run on the way would be a reason of its own: only what comes before it counts. What is only
    made longer is built upon.
    """
    following = course.moves_within(said, course.end_of_turn(said))
    changed = _files(following)
    own = _files(course.works_before(said, RECENT)) if changed else changed
    if len(own & changed) < OWN_SHARE * len(changed) or not changed:
        return False
    edits = (edit for edit in _edits(takewhile(_looks_or_changes, following)) if edit.path in own)
    return any(not edit.old or not _words(edit.removed) <= _words(edit.added) for edit in edits)


def answers_or_changes(course: SessionCourse, said: int) -> bool:
    """Whether the agent then changes something, or only answers: it does not look into something new."""
    following = course.moves_within(said, course.end_of_turn(said))
    return not following or any(move.worked_on or move.delegates or move.hands_over for move in following)


def goes_back(course: SessionCourse, said: int) -> bool:
    """Whether the agent turns to the files that it had changed, hands over once more, or mends a delegate's work."""
    following = course.moves_within(said, course.end_of_turn(said))
    paths = _files(course.works_before(said, RECENT))
    called = {path.rpartition("/")[2] for path in paths}
    if any(_is_about(move, paths, called) for move in following[:LOOKED_AHEAD]):
        return True
    if course.has_handed_over(course.start_of_turn(said - 1), said) and any(move.hands_over for move in following):
        return True
    return course.has_delegated_before(said) and any(move.files for move in following)


def _is_about(move: CourseStep, paths: set[str], called: set[str]) -> bool:
    """Whether a step looks at one of some files, or changes one."""
    if move.command:
        return any(name in move.command for name in called)
    return not paths.isdisjoint(move.worked_on) or plain_path(path_of(move.step)) in paths


def _files(moves: Sequence[CourseStep]) -> set[str]:
    return {path for move in moves for path in move.worked_on}


def _edits(moves: Iterable[CourseStep]) -> Iterator[FileEdit]:
    return (edit for move in moves if move.step.worked for edit in move.edits)


def _looks_or_changes(move: CourseStep) -> bool:
    """Whether a step brings nothing that would be a reason of its own to change something."""
    return move.step.effect in QUIET and not move.step.failed and not move.checks


def _words(lines: frozenset[str]) -> set[str]:
    return {word for line in lines for word in line.split()}
