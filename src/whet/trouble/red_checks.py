"""Red checks: from the first red until green, with what was red; and whether checks passed when a session ended."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from operator import attrgetter

from whet.sessions.call_effects import COMMIT, Effect, tested_by
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.edits import is_test_file
from whet.trouble.people import shows_failure
from whet.trouble.slips import is_slip
from whet.trouble.values import TroubleEnding, TroubleKind
from whet.trouble.verdicts import CheckVerdict, red_name

MANY = 3  # files
ORDER_LETTERS = 2_000
RECENT = 100  # changes before a red check that may have been meant to make it red


def red_checks(course: SessionCourse) -> Iterator[Stretch]:
    """Each red check until the same check was green, or until the agent let it be."""
    if not any(move.verdict is CheckVerdict.RED for move in course.checking):
        return
    runs = _runs_by_name(course)
    covered: dict[str, int] = {}  # up to which step a check is told of already
    found: dict[str, str] = {}  # the checks that were red before anything was changed, and what was red
    green = -1  # the last step that showed all to be well
    for move in course.checking:
        if move.verdict is CheckVerdict.GREEN:
            green = move.number
            found = {name: cause for name, cause in found.items() if name not in move.checks}
        if move.verdict is not CheckVerdict.RED or all(covered.get(name, -1) >= move.number for name in move.checks):
            continue
        if not course.has_changed_before(move.asked):
            found.update(dict.fromkeys(move.checks, red_name(move.step)))
        if _is_trouble(course, move, green) and not _is_the_task(course, move, found):
            stretch, until = _follow(course, move, runs)
            covered.update(dict.fromkeys(move.checks, until))
            if stretch is not None and not _is_list(course, move, until):
                yield stretch


def _runs_by_name(course: SessionCourse) -> dict[str, list[CourseStep]]:
    """The steps at which each check came to a verdict."""
    runs: dict[str, list[CourseStep]] = {}
    for move in course.checking:
        if move.verdict is not CheckVerdict.NONE:
            for name in move.checks:
                runs.setdefault(name, []).append(move)
    return runs


def _later(red: CourseStep, runs: dict[str, list[CourseStep]]) -> Iterator[CourseStep]:
    """The later runs of the checks that a step runs, in order."""
    number = attrgetter("number")
    return merge(
        *(islice(runs[name], bisect_right(runs[name], red.number, key=number), None) for name in red.checks), key=number
    )


def _follow(course: SessionCourse, red: CourseStep, runs: dict[str, list[CourseStep]]) -> tuple[Stretch | None, int]:
    """The stretch that begins with a red check, and the last step of it."""
    end = min(course.end_of_work(red.asked), course.handed_over_after(red.number))
    last, latest, reds = red, red, [red]
    for other in _later(red, runs):
        if other.asked > end:
            break
        if other.asked == red.asked or _is_elsewhere(red, other):
            continue
        if last.mends and last.verdict is CheckVerdict.GREEN and course.has_changed(last.answered, other.asked):
            break  # it was put right, and other work came next
        last = other
        if other.verdict is CheckVerdict.RED:
            latest = other
            reds.append(other)
        elif other.proves or (not other.mends and _is_answered(course, latest, other)):
            return _stretch(reds, other.answered, TroubleEnding.MENDED), other.number
    if last is red:
        answer = _answer(course, red, end)
        if answer is None:
            # A commit that was refused is what the rest of the turn is about; another check was run to see how it is.
            refused = COMMIT in red.checks
            return (_stretch(reds, _until_next_work(course, red), TroubleEnding.LEFT) if refused else None), red.number
        last = answer
    ending = TroubleEnding.MENDED if last.verdict is CheckVerdict.GREEN else TroubleEnding.LEFT
    return _stretch(reds, last.answered, ending), last.number


def _is_answered(course: SessionCourse, red: CourseStep, other: CourseStep) -> bool:
    """Whether anything was done between two runs of a check; else the later one only shows less of the same."""
    return course.has_done(red.number, other.number)


def _is_list(course: SessionCourse, red: CourseStep, until: int) -> bool:
    """Whether a check was used to list what is left to do: it is met by changes to many files not touched before."""
    answers = {path for move in course.moves[red.number : until + 1] for path in move.files if not is_test_file(path)}
    if len(answers) < MANY:
        return False
    touched = {path for move in course.changes_before(red.asked, RECENT) for path in move.files}
    return len(answers - touched) > len(answers & touched)


def _answer(course: SessionCourse, red: CourseStep, end: int) -> CourseStep | None:
    """The change that answered a check which was not run again; none where the agent went on to other checks."""
    for move in course.moves_within(red.answered, end):
        if move.worked_on:
            return move
        if move.verdict is not CheckVerdict.NONE:
            return None
    return None


def _until_next_work(course: SessionCourse, red: CourseStep) -> int:
    """The last message of the turn before another check or change."""
    end = course.end_of_turn(red.asked)
    for move in course.moves_within(red.answered, end):
        if move.worked_on or move.verdict is not CheckVerdict.NONE:
            return max(red.answered, move.asked - 1)
    return end


def _is_elsewhere(red: CourseStep, other: CourseStep) -> bool:
    """Whether a later run of the same check tells of another part of the work."""
    mine, theirs = tested_by(red.step.exchange.call), tested_by(other.step.exchange.call)
    return bool(mine and theirs) and "" not in mine | theirs and mine.isdisjoint(theirs)


def _stretch(reds: Sequence[CourseStep], last: int, ending: TroubleEnding) -> Stretch:
    """The stretch from the first of some red runs, with what the first that names it says was red."""
    cause = next(filter(None, (red_name(red.step) for red in reds)), "")
    subject = " ".join(sorted(reds[0].checks))
    return Stretch(TroubleKind.RED_CHECK, reds[0].asked, last, subject, cause, ending)


def _is_trouble(course: SessionCourse, red: CourseStep, green: int) -> bool:
    """Whether the agent's own work was judged: what was red before it changed anything was so already."""
    return course.has_changed_before(red.asked) and not _was_meant(course, red, green)


def _is_the_task(course: SessionCourse, red: CourseStep, found: dict[str, str]) -> bool:
    """Whether a check was red before anything was changed and still is, or to make it green is what was ordered."""
    if not found or not found.keys() >= red.checks:
        return False
    order = course.messages[course.start_of_turn(red.asked)].text[:ORDER_LETTERS].lower()
    is_ordered = shows_failure(order) or any(word in order for name in red.checks for word in name.lower().split())
    return is_ordered or red_name(red.step) in {found[name] for name in red.checks}


def _was_meant(course: SessionCourse, red: CourseStep, green: int) -> bool:
    """Whether a test was written first, to be red: only tests were changed before it, and then what they test."""
    start = course.start_of_turn(red.asked)
    lately = False
    for move in reversed(course.changes_before(red.asked, RECENT)):
        if move.number < green or move.asked < start:
            break
        if not all(map(is_test_file, move.files)):
            return False
        lately = True
    after = course.next_change(red.answered)
    return lately and after is not None and not any(map(is_test_file, after.files))


def claimed_before(course: SessionCourse, stretch: Stretch) -> bool:
    """Whether the agent had handed the work back as done, and changed nothing between that and the red check."""
    start = course.start_of_turn(stretch.first)
    return course.claimed_done(start) and not course.has_changed(start, stretch.first)


def verification(course: SessionCourse) -> bool | None:
    """Whether the checks that a session ran passed in the end; None where they say nothing about its work.

    A pass says something after a change, or where the same check had failed, and until somebody steps in. Tests of
    the same thing are the same check, by whichever command they are run.
    """
    checks = _StandingChecks()
    for move in course.moves:
        checks.follow(move)
    if not all(checks.last.values()):
        return False
    if checks.passed_at < 0:
        return None
    return None if any(event.message >= checks.passed_at for event in course.events) else True


class _StandingChecks:
    """How the checks of a session stand, step by step."""

    def __init__(self) -> None:
        self.last: dict[str, bool] = {}  # by its name, whether a check passed when it last ran
        self.passed_at = -1  # the message with which a check last told something of the work
        self._red: dict[str, frozenset[str]] = {}  # the tests that failed, and what they are about
        self._changed = False

    def follow(self, move: CourseStep) -> None:
        step = move.step
        if step.effect is Effect.CHANGES and step.worked:
            self._changed, self.passed_at = True, -1
        if self._red and step.worked:
            self._mend(tested_by(step.exchange.call), step.message)
        if not move.checks or (move.verdict is CheckVerdict.NONE and not step.failed):
            return
        passed = move.verdict is CheckVerdict.GREEN
        tested = frozenset[str]() if passed else tested_by(step.exchange.call)
        for name in move.checks:
            if passed and name != COMMIT and (self._changed or self.last.get(name) is False):
                self.passed_at = step.message
            self.last[name] = passed
            if tested:
                self._red[name] = tested

    def _mend(self, tested: frozenset[str], message: int) -> None:
        """Tests that passed say the same of every red check that is about them."""
        for name in [name for name, about in self._red.items() if about & tested]:
            self.last[name], self.passed_at = True, message
            del self._red[name]


def ends_failed(course: SessionCourse) -> bool | None:
    """Whether a session ends with a failed call or a red check; None where the agent neither did nor said anything."""
    if not course.moves:
        return False if any(saying.words.strip() for saying in course.view.by_agent) else None
    return is_slip(course.moves[-1]) or verification(course) is False
