"""The calls of sessions in short, and how often a claim's patterns came up in them, failed and worked."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import re2

from whet.lessons.call_pairs import CallCourse
from whet.lessons.claims import CheckPlace, ClaimCheck
from whet.lessons.condensing import WIDEST
from whet.lessons.failed_calls import FailedCalls
from whet.lessons.finding import SessionOpening, opening_of
from whet.sessions.arguments import command_of
from whet.trouble.course import CourseStep
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.fingerprints import error_line
from whet.trouble.outcomes.purposes import is_shell, path_of
from whet.trouble.outcomes.view import SessionView
from whet.trouble.people import course_of
from whet.values import Value

MOST_CALLS = 2_000  # of a session
COMMAND_LETTERS = 600
ERROR_LETTERS = 800
PATTERN_LETTERS = 500
PATTERN_MEMORY = 1 << 20
WHOLE_TEXT = ("\\A", "\\z", "\\Q", "(?-", "(?^")  # what may mean something else in a text of many calls
MOST_HITS = 10  # that are sampled
NO_PATTERN = "the check has no pattern"
TOO_LONG = "the pattern is too long"
NOT_REGULAR = "the pattern is no regular expression that runs in linear time"
FITS_NOTHING = "the pattern fits the empty text, and so every call"


class SeenCall(NamedTuple):
    """One call: at which message it was made, its command and path, and how it ended; of a failed one the error."""

    message: int
    command: str
    path: str
    outcome: Outcome
    error: str


class SessionCalls(Value, frozen=True):
    """The calls of a session that are its own, and how it begins."""

    calls: tuple[SeenCall, ...] = ()
    opening: SessionOpening | None = None


class PatternHit(Value, frozen=True):
    """A call that a pattern fits."""

    session: str
    message: int
    call: str
    outcome: Outcome
    error: str = ""


class PatternCounts(Value, frozen=True):
    """How often the form that fails came up and failed, how often the recommended one came up and worked, and where.

    `sessions` are the ones in which it failed, copies joined; `faults` says what is wrong with the patterns.
    """

    seen: int = 0
    failed: int = 0
    tried: int = 0
    worked: int = 0
    sessions: tuple[str, ...] = ()
    hits: tuple[PatternHit, ...] = ()
    faults: tuple[str, ...] = ()


class HitsOfSession(NamedTuple):
    """The calls of one session that the patterns of a check fit: those in the failing form, and the recommended one."""

    fails: tuple[SeenCall, ...] = ()
    works: tuple[SeenCall, ...] = ()


def calls_of(view: SessionView) -> SessionCalls:
    """What is kept of a session, so that patterns are counted over a thousand of them in seconds."""
    failed = FailedCalls(course_of(view), CallCourse(view), WIDEST)
    kept = [_seen(move, failed) for move in failed.course.moves[:MOST_CALLS]]
    return SessionCalls(
        tuple(each for each in kept if each.command or each.path or each.error), opening_of(view.transcript)
    )


def _seen(move: CourseStep, failed: FailedCalls) -> SeenCall:
    step = move.step
    command = command_of(step.exchange.call) if is_shell(step) else ""
    outcome = step.decision.outcome
    error = _error(step.text) if outcome is Outcome.FAILED else ""
    if len(step.text) > len(error) > 0:  # what a reader is shown of it can be found
        error = f"{error}\n{failed.error_of(move)}"
    return SeenCall(step.exchange.asked, command[:COMMAND_LETTERS], path_of(step)[:COMMAND_LETTERS], outcome, error)


def _error(text: str) -> str:
    """The line that says why, and the ends of a long text around it."""
    if len(text) <= ERROR_LETTERS:
        return text
    part = ERROR_LETTERS // 3
    return f"{text[:part]}\n{error_line(text)[:part]}\n{text[-part:]}"


def pattern_fault(pattern: str) -> str:
    """Why a pattern of a reader is not run; empty where it is."""
    if not pattern.strip():
        return NO_PATTERN
    if len(pattern) > PATTERN_LETTERS:
        return TOO_LONG
    found = _compiled(pattern)
    if found is None:
        return NOT_REGULAR
    return FITS_NOTHING if found.search("") else ""


class Patterns:
    """The patterns of a check, ready to be run over many sessions."""

    def __init__(self, check: ClaimCheck) -> None:
        self.on = check.on
        self.faults = tuple(_faults(check))
        fails, works = (None if pattern_fault(each) else _compiled(each) for each in (check.fails, check.works))
        self._fails, self._works = fails, works
        self._anywhere = _anywhere([each for each in (check.fails, check.works) if not pattern_fault(each)])

    def hits(self, calls: Sequence[SeenCall]) -> HitsOfSession:
        """A call that both patterns fit is in the recommended form: that pattern says more."""
        if self._anywhere is not None and not self._anywhere.search(_all_in_one(calls)):
            return HitsOfSession()
        fails: list[SeenCall] = []
        works: list[SeenCall] = []
        for call in calls:
            if call.outcome is Outcome.CANCELLED:
                continue
            if self._works is not None and self._fits(self._works, call, is_remedy=True):
                works.append(call)
            elif self._fails is not None and self._fits(self._fails, call, is_remedy=False):
                fails.append(call)
        return HitsOfSession(tuple(fails), tuple(works))

    def _fits(self, pattern: Any, call: SeenCall, *, is_remedy: bool) -> bool:
        if self.on is CheckPlace.ERROR and not is_remedy:
            return bool(call.error and pattern.search(call.error))
        place = call.path if self.on is CheckPlace.PATH else call.command
        # What ends an error is a command, or a call with a path.
        text = place or (call.path if self.on is CheckPlace.ERROR else "")
        return bool(text and pattern.search(text))


def count_check(
    check: ClaimCheck, sessions: Mapping[str, Sequence[SeenCall]], copies: Mapping[str, str]
) -> PatternCounts:
    """What the patterns of a check fit in the sessions of a project. `copies` names the original of each copy."""
    patterns = Patterns(check)
    found = {id: hits for id, calls in sessions.items() if any(hits := patterns.hits(calls))}
    fails = [(id, call) for id, hits in found.items() for call in hits.fails]
    works = [call for hits in found.values() for call in hits.works]
    failed = [(id, call) for id, call in fails if has_failed(call)]
    return PatternCounts(
        seen=len(fails),
        failed=len(failed),
        tried=len(works),
        worked=sum(call.outcome is Outcome.OK for call in works),
        sessions=tuple(dict.fromkeys(copies.get(id, id) for id, _ in failed)),
        hits=_sampled(found),
        faults=patterns.faults,
    )


def has_failed(call: SeenCall) -> bool:
    """Whether a call failed, or was refused by a person."""
    return call.outcome in (Outcome.FAILED, Outcome.REJECTED)


def _faults(check: ClaimCheck) -> Iterator[str]:
    if fault := pattern_fault(check.fails):
        yield f"what fails: {fault}"
    if check.works and (fault := pattern_fault(check.works)):
        yield f"what works: {fault}"


def _sampled(found: Mapping[str, HitsOfSession]) -> tuple[PatternHit, ...]:
    """Hits from all over the sessions, as many as fit, rather than all from the first."""
    every = [(id, call) for id, hits in found.items() for call in chain(hits.fails, hits.works)]
    step = max(1, len(every) / MOST_HITS)
    picked = [every[int(place * step)] for place in range(min(MOST_HITS, len(every)))]
    return tuple(
        PatternHit(id, call.message, call.command or call.path, call.outcome, call.error[:COMMAND_LETTERS])
        for id, call in picked
    )


def _anywhere(patterns: list[str]) -> Any:
    """A pattern that fits a text of many calls wherever one of these fits one of them; None where none can be made.

    Most sessions have no hit: one look at all of their calls is many times as fast as one at each.
    """
    if not patterns or any(sign in each for each in patterns for sign in WHOLE_TEXT):
        return None
    return _compiled("(?m)" + "|".join(f"(?:{each})" for each in patterns))


def _all_in_one(calls: Sequence[SeenCall]) -> str:
    return "\n".join(part for call in calls for part in (call.command, call.path, call.error) if part)


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None
