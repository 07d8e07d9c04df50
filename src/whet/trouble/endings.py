"""How a session ends: whether its checks passed in the end, and whether it ends with a failure."""

from whet.sessions.call_effects import COMMIT, Effect, tested_by
from whet.trouble.course import CourseStep, SessionCourse
from whet.trouble.slips import is_slip
from whet.trouble.verdicts import CheckVerdict


def verification(course: SessionCourse) -> bool | None:
    """Whether the checks that a session ran passed in the end; None where they say nothing about its work.

    A pass says something after a change, or where the same check had failed, and until somebody steps in. Tests of
    the same thing are the same check, by whichever command they are run.
    """
    checks = _Checks()
    for move in course.moves:
        checks.follow(move)
    if not all(checks.last.values()):
        return False
    if checks.passed_at < 0:
        return None
    return None if any(event.message >= checks.passed_at for event in course.events) else True


class _Checks:
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
        if move.verdict is CheckVerdict.NONE and not (move.checks and step.failed):
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
