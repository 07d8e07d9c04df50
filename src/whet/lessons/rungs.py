"""The ladder of evidence: how far a lesson has climbed, in words that every surface shows."""

from collections.abc import Iterator
from enum import StrEnum

from whet.lessons.backtests import Backtest
from whet.lessons.measures import LessonMeasures
from whet.lessons.record import Lesson, LessonStage
from whet.text.amounts import short


class Rung(StrEnum):
    """How far a lesson has climbed. Nothing is called proved below "tried"."""

    SEEN = "seen"  # in sessions
    CHECKED = "checked"  # its quotes and counts bear it out
    CAME_BACK = "came back"  # in sessions later than those it was learned from
    TRIED = "tried"  # a trial has a verdict
    LIVE = "live"  # sessions since it is told are counted


def rung_of(lesson: Lesson) -> Rung:
    """The highest rung that a lesson has reached."""
    measures = lesson.checks.measures
    if lesson.standing.stage is LessonStage.LIVE:
        return Rung.LIVE
    if lesson.standing.trial or lesson.origin.trial:
        return Rung.TRIED
    if measures is None or not _is_checked(measures):
        return Rung.SEEN
    return Rung.CAME_BACK if measures.backtest is not None and measures.backtest.came_back else Rung.CHECKED


def ladder(lesson: Lesson) -> tuple[str, ...]:
    """What is known on each rung, a sentence each, in words for people."""
    measures = lesson.checks.measures
    return (
        f"seen in {_many(lesson.sessions, 'session')}",
        *(_checked(measures) if measures is not None else ()),
        *((_backtest(measures.backtest),) if measures is not None and _is_checked(measures) else ()),
        *_tried(lesson),
    )


def notes_on(lesson: Lesson) -> tuple[str, ...]:
    """What else code found out about a lesson that somebody who decides on it should know."""
    return tuple(_notes(lesson.checks.measures)) if lesson.checks.measures is not None else ()


def _is_checked(measures: LessonMeasures) -> bool:
    return bool(measures.quotes) and not measures.goes_back


def _checked(measures: LessonMeasures) -> Iterator[str]:
    quoted = measures.quotes + measures.inexact
    exact = f"all {quoted} quotes exact" if not measures.inexact else f"{measures.quotes} of {quoted} quotes exact"
    if quoted == 1:
        exact = "its quote is exact"
    counts = measures.counts
    if measures.goes_back:
        yield f"not checked: {measures.goes_back}; {exact}"
    elif counts is None:
        yield f"checked: {exact}"
    else:
        worked = f", what it recommends worked {counts.worked} of {counts.tried}" if counts.tried else ""
        yield f"checked: what it calls wrong failed {counts.failed} of {_times(counts.seen)}{worked}; {exact}"


def _backtest(found: Backtest | None) -> str:
    if found is None or not found.later:
        return "no later session yet to look for it in"
    later = _many(found.later, "later session")
    if not found.came_back:
        up = f", and came up in {found.came_up}" if found.came_up else ""
        return f"did not come back in {later}{up}"
    if not found.is_by_pattern:
        return f"came back in {found.failed} of {later}: at most {_many(found.messages, 'message')} of yours spared"
    spared = [_many(found.failures, "failure")]
    spared += [f"{found.minutes:.0f} min"] if found.minutes >= 1 else []
    spared += [f"{short(found.tokens)} tokens"] if found.tokens else []
    spared += [f"{_many(found.messages, 'message')} of yours"] if found.messages else []
    return f"came back in {found.failed} of {later}, came up in {found.came_up}: at most {', '.join(spared)} spared"


def _tried(lesson: Lesson) -> Iterator[str]:
    trial = lesson.standing.trial or lesson.origin.trial
    if trial:
        yield f"tried in trial {trial}"
    if lesson.standing.stage is LessonStage.LIVE:
        yield "live: told to a share of the sessions, which are counted"
    elif not trial and lesson.checks.measures is not None:
        yield "not tried"


def _notes(measures: LessonMeasures) -> Iterator[str]:
    if measures.wrong_in:
        yield f"{measures.wrong_in} says something wrong: {measures.wrong_as}"
    if measures.missing:
        yield f"not in the repository now: {', '.join(measures.missing)}"
    if measures.enforced_in:
        yield f"a linter is set up for it in {measures.enforced_in}"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _times(number: int) -> str:
    return "1 time" if number == 1 else f"{number:,} times"
