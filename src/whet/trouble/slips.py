"""Slips: a call that failed, until the call for the same purpose that worked, or until the agent went on."""

from collections.abc import Iterator
from itertools import islice

from whet.sessions.call_effects import Effect
from whet.trouble.checks import PROGRAM
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.purposes import is_same_purpose, program_of
from whet.trouble.red_names import plain_error
from whet.trouble.values import TroubleEnding, TroubleKind
from whet.trouble.verdicts import CheckVerdict, is_answer, is_expected

REACH = 14  # calls after a try within which the next try is looked for
FARTHEST = 4 * REACH


def slips(course: SessionCourse) -> Iterator[Stretch]:
    """Each run of failed calls with what was done to get them right; one that waits for a repair is one slip."""
    covered = -1
    for move in course.failing:
        if move.number <= covered or not is_slip(move):
            continue
        mended = _mended(course, move)
        if mended is not None:
            covered = mended.number
            yield _slip(move, mended.asked, TroubleEnding.MENDED)
            continue
        following = _next_working(course, move)
        covered = following.number - 1 if following is not None else _last_within(course, move)
        if following is not None:
            yield _slip(move, following.asked, TroubleEnding.LEFT)
        else:
            last = course.end_of_turn(move.asked)
            yield _slip(move, last, course.how_it_ends(last))


def _last_within(course: SessionCourse, move: CourseStep) -> int:
    """The last step of the turn."""
    return course.moves_within(move.asked, course.end_of_turn(move.asked))[-1].number


def is_slip(move: CourseStep) -> bool:
    """Whether a call went wrong by itself: a red check, a probe's no and time that ran out are something else."""
    step = move.step
    if not step.failed or move.timed_out:
        return False
    return not is_answer(step) and not is_expected(step) and move.verdict is not CheckVerdict.RED


def _slip(move: CourseStep, last: int, ending: TroubleEnding) -> Stretch:
    program = program_of(move.step)
    subject = program if PROGRAM.fullmatch(program) else move.step.tool
    cause = plain_error(move.step) or move.step.decision.evidence
    return Stretch(TroubleKind.SLIP, move.asked, max(move.answered, last), subject, cause, ending)


def _mended(course: SessionCourse, move: CourseStep) -> CourseStep | None:
    """The first call for the same purpose that worked, before somebody else speaks; each new try is looked beyond."""
    end = course.end_of_turn(move.asked)
    aim = frozenset(edit.path for edit in move.edits)
    number, reach = move.number + 1, move.number + REACH
    while number < len(course.moves) and number <= reach and course.moves[number].asked <= end:
        other = course.moves[number]
        number += 1
        if other.asked == move.asked:
            continue
        if _is_for(move, aim, other):
            if _ran(other):
                return other
            reach = min(other.number + REACH, move.number + FARTHEST)
        elif _ran(other) and _goes_on(move, other):
            return None
    return None


def _is_for(move: CourseStep, aim: frozenset[str], other: CourseStep) -> bool:
    """Whether a call tries the same: for an edit, any way to change that file."""
    if aim and not aim.isdisjoint(other.files or (edit.path for edit in other.edits)):
        return True
    return is_same_purpose(move.step, other.step)


def _ran(move: CourseStep) -> bool:
    """Whether a call did what it was made for: a check that is red did."""
    return move.step.worked or move.verdict is CheckVerdict.RED


def _goes_on(move: CourseStep, other: CourseStep) -> bool:
    """Whether a step is work on something else: a change to another file than the failed call's, or a hand-over."""
    if other.hands_over:
        return True
    return other.step.effect is Effect.CHANGES and not move.command and bool(other.files)


def _next_working(course: SessionCourse, move: CourseStep) -> CourseStep | None:
    end = course.end_of_turn(move.asked)
    for other in islice(course.moves, move.number + 1, None):
        if other.asked > end:
            return None
        if other.asked > move.asked and other.step.decision.outcome in (Outcome.OK, Outcome.UNKNOWN):
            return other
    return None
