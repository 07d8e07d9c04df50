"""Red checks: from the first red until green, with the test, build or lint rule that was red."""

from collections.abc import Iterator, Sequence

from whet.failures.view import Saying
from whet.failures.wordings import Phrase
from whet.sessions.call_effects import tested_by
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.edits import is_test_file
from whet.trouble.red_names import red_name
from whet.trouble.values import TroubleEnding, TroubleKind
from whet.trouble.verdicts import CheckVerdict

CLAIMS = (Phrase.CLAIM, Phrase.VERIFIED)


def red_checks(course: SessionCourse) -> Iterator[Stretch]:
    """Each red check until the same check was green, or until the agent let it be."""
    runs = [move for move in course.moves if move.verdict is not CheckVerdict.NONE]
    covered: dict[str, int] = {}  # up to which step a check is told of already
    for place, move in enumerate(runs):
        if move.verdict is not CheckVerdict.RED or all(covered.get(name, -1) >= move.number for name in move.checks):
            continue
        if _is_trouble(course, move):
            stretch, until = _follow(course, move, runs[place + 1 :])
            covered.update(dict.fromkeys(move.checks, until))
            yield stretch


def _follow(course: SessionCourse, red: CourseStep, later: Sequence[CourseStep]) -> tuple[Stretch, int]:
    """The stretch that begins with a red check, and the last step of it."""
    end = min(course.end_of_turn(red.asked), course.handed_over_after(red.number))
    last = red
    for other in later:
        if other.asked > end:
            break
        if other.asked == red.asked or not _judges_the_same(red, other):
            continue
        last = other
        if other.verdict is CheckVerdict.GREEN:
            return _stretch(red, other.answered, TroubleEnding.MENDED), other.number
    if last is red:
        last = _answer(course, red, end) or red
    return _stretch(red, last.answered, TroubleEnding.LEFT), last.number


def _answer(course: SessionCourse, red: CourseStep, end: int) -> CourseStep | None:
    """The change that answered a check which was not run again; none where the agent went on to other checks."""
    for move in course.moves_within(red.answered, end):
        if move.files:
            return move
        if move.verdict is not CheckVerdict.NONE:
            return None
    return None


def _judges_the_same(red: CourseStep, other: CourseStep) -> bool:
    """Whether a later check tells of the same thing: the same check, and not of another part of the work."""
    if red.checks.isdisjoint(other.checks):
        return False
    mine, theirs = tested_by(red.step.exchange.call), tested_by(other.step.exchange.call)
    is_elsewhere = mine and theirs and "" not in mine | theirs and mine.isdisjoint(theirs)
    return not is_elsewhere


def _stretch(red: CourseStep, last: int, ending: TroubleEnding) -> Stretch:
    subject = " ".join(sorted(red.checks))
    return Stretch(TroubleKind.RED_CHECK, red.answered, last, subject, red_name(red.step.text), ending)


def _is_trouble(course: SessionCourse, red: CourseStep) -> bool:
    """Whether the agent's own work was judged: what was red before it changed anything was so already."""
    before = [move for move in course.moves[: red.number] if move.files]
    if not before:
        return False
    return not _was_meant(course, red, before)


def _was_meant(course: SessionCourse, red: CourseStep, before: Sequence[CourseStep]) -> bool:
    """Whether a test was written first, to be red: only tests were changed before it, and then what they test."""
    start = course.start_of_turn(red.asked)
    since = max((move.number for move in course.moves[: red.number] if move.verdict is CheckVerdict.GREEN), default=-1)
    lately = [move for move in before if move.number > since and move.asked >= start]
    if not lately or not all(is_test_file(path) for move in lately for path in move.files):
        return False
    after = next((move for move in course.moves[red.number + 1 :] if move.files), None)
    return after is not None and not any(is_test_file(path) for path in after.files)


def claimed_before(course: SessionCourse, stretch: Stretch) -> Saying | None:
    """What the agent said to be done, where nothing was changed between that word and the red check."""
    start = course.start_of_turn(stretch.first)
    closing = next((saying for saying in reversed(course.view.by_agent) if saying.message < start), None)
    if closing is None or not closing.is_closing or not closing.has(*CLAIMS):
        return None
    changed = any(move.files for move in course.moves_within(closing.message, stretch.first))
    worked = any(move.files for move in course.moves_within(course.start_of_turn(closing.message), closing.message))
    return closing if worked and not changed else None
