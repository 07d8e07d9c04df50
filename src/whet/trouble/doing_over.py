"""Work done over: whether the agent, after somebody spoke, goes back to what it had done itself."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from whet.failures.purposes import path_of
from whet.sessions.call_effects import Effect
from whet.trouble.course import CourseStep, SessionCourse
from whet.trouble.edits import FileEdit, plain_path

MOST_DONE_OVER = 2
RECENT = 100  # changes before a message that it may be about
LOOKED_AHEAD = 10  # steps after a message that show what it is about
OWN_SHARE = 0.5  # so much of what is taken out is the agent's own
QUIET = frozenset({Effect.READS, Effect.PROBES, Effect.THINKS, Effect.CHANGES})
Lines = dict[str, set[str]]  # of each file, the lines that the agent wrote


def done_over(course: SessionCourse, said: int) -> int:
    """How much the agent then does over: two where it takes out what it had written, one where it goes back to it.

    A failure, a check or a run on the way would be a reason of its own: only what comes before it counts.
    """
    following = course.moves_within(said, course.end_of_turn(said))
    before = course.works_before(said, RECENT)
    if following and before and _takes_out(before, following):
        return MOST_DONE_OVER
    # Who is at work goes on with the same files anyway.
    return 0 if course.is_at_work(said) else int(goes_back(course, said))


def goes_back(course: SessionCourse, said: int) -> bool:
    """Whether the agent turns to the files that it had changed, hands over once more, or mends a delegate's work."""
    following = course.moves_within(said, course.end_of_turn(said))
    paths = {path for move in course.works_before(said, RECENT) for path in move.worked_on}
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


def _takes_out(before: Sequence[CourseStep], following: Sequence[CourseStep]) -> bool:
    """Whether the next edits take out mostly the agent's own lines, the first at once, and not to make them longer."""
    wrote: Lines = {}
    for edit in _edits(before):
        wrote.setdefault(edit.path, set()).update(edit.added)
    own: set[str] = set()
    taken: set[str] = set()
    added: set[str] = set()
    for edit in _edits(takewhile(_looks_or_changes, following)):
        mine = wrote.get(edit.path, set())
        removed = edit.removed if edit.old else mine - edit.added
        taken |= removed
        own |= removed & mine
        added |= edit.added
        if not own:
            return False
    return bool(own) and len(own) >= OWN_SHARE * len(taken) and not _words(own) <= _words(added)


def _edits(moves: Iterable[CourseStep]) -> Iterator[FileEdit]:
    return (edit for move in moves if move.step.worked for edit in move.edits)


def _looks_or_changes(move: CourseStep) -> bool:
    """Whether a step brings nothing that would be a reason of its own to change something."""
    return move.step.effect in QUIET and not move.step.failed and not move.checks


def _words(lines: set[str]) -> set[str]:
    return {word for line in lines for word in line.split()}
