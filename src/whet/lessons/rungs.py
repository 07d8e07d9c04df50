"""The ladder of evidence: what code measured of a lesson, its trial, its live sessions; in words for every surface."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from whet.evidence.intervals import Interval
from whet.text.words import many
from whet.values import Value

STOPS = 20.0  # evidence of harm, from which on a guard stops a promotion
THOUSAND = 1_000


class Backtest(Value, frozen=True):
    """In how many later sessions the situation of a lesson came up, and it failed again; what that cost.

    By a pattern, or where a lesson has none by what a reader quoted from the later ones. `messages` are the person's,
    which would not have been needed.
    """

    later: int = 0  # sessions
    came_up: int = 0
    failed: int = 0
    failures: int = 0  # calls, or messages that say it again
    minutes: float = 0.0
    tokens: int = 0
    messages: int = 0
    is_by_pattern: bool = True

    @property
    def came_back(self) -> bool:
        return self.failed > 0


class CallCounts(Value, frozen=True):
    """How often the form that a lesson calls wrong failed, and the one that it recommends worked."""

    seen: int = 0
    failed: int = 0
    tried: int = 0
    worked: int = 0


class LessonMeasures(Value, frozen=True):
    """What code found out about a lesson that a reader claimed.

    `wrong_in` is the file that says something wrong, and `wrong_as` the line. `goes_back` is what the reader should
    put right in how its situation is found.
    """

    quotes: int = 0  # exact ones
    inexact: int = 0
    counts: CallCounts | None = None
    backtest: Backtest | None = None
    missing: tuple[str, ...] = ()  # names that the repository has nowhere
    enforced_in: str = ""  # a linter is set up for it there
    wrong_in: str = ""
    wrong_as: str = ""
    goes_back: str = ""
    is_doubted: bool = False  # a sceptic let it stand


class CanaryMove(StrEnum):
    """What the outcomes so far ask for."""

    PROMOTE = "promote"
    REVERT = "revert"
    WAIT = "wait"


class LiveComparison(Value, frozen=True):
    """The sessions that were told against the others. A positive effect is less loss, and speaks for the rule."""

    decision: CanaryMove
    told: int
    untold: int
    loss_told: float | None
    loss_untold: float | None
    effect: float
    interval: Interval  # each bound holds with 1 - alpha, at every look
    evidence_help: float  # promoted from 1 / alpha on
    evidence_harm: float  # reverted from 1 / alpha on
    alpha: float
    decided_at: int | None = None  # after so many observations


class LiveGuard(Value, frozen=True):
    """How one guard stands: its mean with the rule and without it, and the evidence that the rule makes it worse."""

    name: str
    told: float | None
    untold: float | None
    evidence_harm: float
    reverts: bool = False

    @property
    def stops(self) -> bool:
        return self.reverts or self.evidence_harm >= STOPS


class LiveCounts(Value, frozen=True):
    """The evidence so far on a lesson that is live, and what was done about it: the number of the entry, and why."""

    since: float
    share: float
    sessions: int
    comparison: LiveComparison
    decided: int = 0
    why: str = ""
    endpoint: str = ""  # the detector whose failures are counted; empty where the time that is lost counts
    guards: tuple[LiveGuard, ...] = ()
    held_by: str = ""
    next_look: int | None = None  # after so many sessions in the rule's situation
    together: "Bundle | None" = None


class Bundle(Value, frozen=True):
    """The lessons that are drawn for as one: the number of the first, how many, and what is known of all together."""

    number: int
    lessons: int
    counts: LiveCounts

    @property
    def words(self) -> str:
        """How sessions went with all of them and without."""
        found = self.counts.comparison
        told, untold = 100 * (found.loss_told or 0.0), 100 * (found.loss_untold or 0.0)
        return (
            f"{self.lessons} lessons told together (bundle {self.number}): of the sessions in a situation of theirs"
            f" {told:.0f} % of {found.told} failed in one with them, {untold:.0f} % of {found.untold} without"
        )


class EvidenceRung(StrEnum):
    """How far a lesson has climbed. Nothing is called proved below "tried"."""

    SEEN = "seen"  # in sessions
    CHECKED = "checked"  # its quotes and counts bear it out
    CAME_BACK = "came_back"  # in sessions later than those it was learned from
    TRIED = "tried"  # a trial has a verdict
    LIVE = "live"  # sessions since it is told are counted


class Passed(NamedTuple):
    """How many of so many attempts passed."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number} of {self.of}"


class TriedLesson(Value, frozen=True):
    """What a trial says of a lesson: its ruling, and how many attempts passed without it and with it."""

    trial: str
    ruling: str = ""  # empty where only the trial is known
    without: Passed | None = None
    told: Passed | None = None


class LiveLesson(Value, frozen=True):
    """The sessions since a lesson is told to a share of them: how bad those went that were told and the others.

    That is the share with the failure that it is against, or the mean loss where nobody can tell that apart.
    """

    sessions: int = 0
    untold: float | None = None
    told: float | None = None
    is_share: bool = True


class Climb(NamedTuple):
    """What a rung is known by: in how many sessions it was seen, what code measured, its trial, its live sessions."""

    sessions: int
    measures: LessonMeasures | None = None
    tried: TriedLesson | None = None
    live: LiveLesson | None = None

    @property
    def rung(self) -> EvidenceRung:
        """The highest rung that was reached."""
        if self.live is not None:
            return EvidenceRung.LIVE
        if self.tried is not None:
            return EvidenceRung.TRIED
        if self.measures is None or not _is_checked(self.measures):
            return EvidenceRung.SEEN
        found = self.measures.backtest
        return EvidenceRung.CAME_BACK if found is not None and found.came_back else EvidenceRung.CHECKED

    @property
    def words(self) -> tuple[str, ...]:
        """What is known on each rung, a sentence each, for people."""
        return tuple(_sentences(self))

    @property
    def notes(self) -> tuple[str, ...]:
        """What else somebody who decides on it should know."""
        return tuple(_notes(self.measures)) if self.measures is not None else ()


def _sentences(climb: Climb) -> Iterator[str]:
    measures = climb.measures
    yield f"seen in {many(climb.sessions, 'session')}"
    if measures is not None:
        yield _checked(measures)
        if _is_checked(measures):
            yield from _backtest(measures.backtest)
    if climb.tried is not None:
        yield _tried(climb.tried)
    if climb.live is not None:
        yield _live(climb.live)
    if climb.tried is None and climb.live is None:
        yield "not tried"


def _tried(found: TriedLesson) -> str:
    if not found.ruling:
        return f"tried in trial {found.trial}"
    passed = f", {found.without} → {found.told}" if found.without and found.told else ""
    return f"tried: {found.ruling}{passed} (trial {found.trial})"


def _live(found: LiveLesson) -> str:
    if found.untold is None or found.told is None:
        return f"live: told to a share of the sessions, {found.sessions or 'none'} counted yet"
    if found.is_share:
        change = f"{100 * found.untold:.0f} % → {100 * found.told:.0f} %"
    else:
        change = f"mean failure {found.untold:.2f} → {found.told:.2f}"
    return f"live: {change} in {many(found.sessions, 'session')}"


def _is_checked(measures: LessonMeasures) -> bool:
    return bool(measures.quotes) and not measures.goes_back


def _checked(measures: LessonMeasures) -> str:
    quoted = measures.quotes + measures.inexact
    exact = f"all {quoted} quotes exact" if not measures.inexact else f"{measures.quotes} of {quoted} quotes exact"
    if quoted == 1:
        exact = "its quote is exact"
    counts = measures.counts
    if measures.goes_back:
        return f"not checked: {measures.goes_back}; {exact}"
    if counts is None:
        return f"checked: {exact}"
    works = f", works {counts.worked} of {counts.tried}" if counts.tried else ""
    return f"checked: failed {counts.failed} of {counts.seen}{works}, {exact}"


def _backtest(found: Backtest | None) -> Iterator[str]:
    if found is None or not found.later:
        yield "not looked for in later sessions yet"
        return
    later = many(found.later, "later session")
    up = f" (its situation: in {found.came_up})" if found.is_by_pattern and found.came_up else ""
    if not found.came_back:
        yield f"did not come back in {later}{up}"
        return
    spared = [many(found.failures, "failure")] if found.is_by_pattern else []
    spared += [f"{found.minutes:,.0f} min"] if found.minutes >= 1 else []
    spared += [f"{_short(found.tokens)} tokens"] if found.tokens else []
    spared += [many(found.messages, "message")] if found.messages else []
    yield f"came back in {found.failed} of {later}{up}"
    yield f"upper bound: {', '.join(spared)} spared"


def _notes(measures: LessonMeasures) -> Iterator[str]:
    if measures.wrong_in:
        yield f"{measures.wrong_in} says something wrong: {measures.wrong_as}"
    if measures.missing:
        yield f"not in the repository now: {', '.join(measures.missing)}"
    if measures.enforced_in:
        yield f"a linter is set up for it in {measures.enforced_in}"


def _short(tokens: int) -> str:
    if tokens < THOUSAND:
        return str(tokens)
    return f"{tokens / THOUSAND:.0f} k" if tokens < THOUSAND**2 else f"{tokens / THOUSAND**2:.1f} M"
