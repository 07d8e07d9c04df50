"""What speaks for it that a session went well, where only its record can tell.

A verdict of its own comes first, then the word of whoever makes the template, then a check that the session ran after
its last change, and last a short record in which nothing failed. Thanks, a claim of success and a look at what was
changed are no grounds: on labelled sessions they say nothing.
"""

from enum import IntEnum

from whet.sessions.transcripts import Ending, Role
from whet.trouble.course import SessionCourse
from whet.trouble.outcomes.view import SessionView
from whet.trouble.people import course_of
from whet.trouble.red_checks import ends_failed, verification

# Among labelled sessions without a verdict, most of the longer ones failed, whatever their record shows.
MOST_STEPS = 6
CUT_OFF = frozenset({Ending.FAILED, Ending.BUDGET, Ending.REFUSED, Ending.EMPTY, Ending.CUT})


class SuccessReason(IntEnum):
    """Why a session counts as a success, the strongest first."""

    CHECKED = 0
    VOUCHED = 1
    VERIFIED = 2
    CLEAN = 4

    @property
    def words(self) -> str:
        """The reason as a person reads it beside an example."""
        return WORDS[self]


WORDS = {
    SuccessReason.CHECKED: "the session's own check passed",
    SuccessReason.VOUCHED: "the author of the template confirmed that the session went well",
    SuccessReason.VERIFIED: "checks passed after the session's last change",
    SuccessReason.CLEAN: "the session was short, and nothing failed in it",
}


def find(evidence: SessionView, *, vouched: bool = False) -> SuccessReason | str:
    """Why one session counts as a success; in words, why it does not.

    With `vouched` whoever makes the template says that it went well, which only a failed check of its own outranks.
    """
    transcript = evidence.transcript
    verdicts = {check.name: check.passed for check in transcript.checks if check.passed is not None}  # the last of each
    if not all(verdicts.values()):
        return "its own check failed"
    if verdicts or vouched:
        return SuccessReason.CHECKED if verdicts else SuccessReason.VOUCHED
    if transcript.ending in CUT_OFF:
        return "cut off"
    course = course_of(evidence)
    verified = verification(course)
    if verified is not None:
        return SuccessReason.VERIFIED if verified else "a check failed and was not fixed"
    if ends_failed(course):
        return "its last call failed"
    if len(evidence.steps) > MOST_STEPS:
        return "long, and no check passed at its end"
    return SuccessReason.CLEAN if _is_clean(course) else "nothing shows that it went well"


def _is_clean(course: SessionCourse) -> bool:
    """Whether no call failed, nobody stepped in, and an answer ended it."""
    view = course.view
    last = view.sayings[-1] if view.sayings else None
    is_answered = (
        last is not None and last.role is Role.AGENT and last.is_closing and not course.is_answer(last.message)
    )
    return is_answered and not view.failures and not course.events
