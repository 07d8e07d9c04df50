"""Whether it is getting better: minutes lost and interventions per agent hour, each project against itself."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from whet.evidence.intervals import Interval
from whet.evidence.ratios import RatioSums, difference, ratio
from whet.trouble.rollups import by_week
from whet.trouble.values import SessionTrouble

WEEKS = 4
LEAST_SESSIONS = 5  # on either side, below which nothing is said
LEAST_HOURS = 1.0  # of the agent's time, on either side


class TroubleRate(NamedTuple):
    """Something per agent hour, lately and before; the difference is of projects with sessions on both sides."""

    lately: float
    before: float
    difference: float
    interval: Interval

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference leaves no doubt on which side of nothing it lies."""
        return not self.interval.low <= 0 <= self.interval.high


class TroubleTrend(NamedTuple):
    """The last four weeks with sessions against the four such weeks before them."""

    minutes_lost: TroubleRate  # per agent hour
    interventions: TroubleRate  # per agent hour
    weeks: tuple[str, ...] = ()
    weeks_before: tuple[str, ...] = ()
    sessions: int = 0  # in projects with sessions on both sides
    sessions_before: int = 0
    hours: float = 0.0
    hours_before: float = 0.0

    @property
    def is_enough(self) -> bool:
        """Whether there is enough on both sides to say anything."""
        return (
            min(self.sessions, self.sessions_before) >= LEAST_SESSIONS
            and min(self.hours, self.hours_before) >= LEAST_HOURS
        )

    @property
    def answer(self) -> str:
        """Whether it is getting better, as far as the interval of minutes lost says so."""
        if not self.is_enough:
            return "Too early to tell"
        if not self.minutes_lost.is_clear:
            return "Not clearly"
        return "Perhaps better" if self.minutes_lost.difference < 0 else "Perhaps worse"


def trend(sessions: Iterable[SessionTrouble], project_of: Callable[[str], str]) -> TroubleTrend:
    """The last weeks against those before them; sessions without times or without agent time tell nothing."""
    timed = [session for session in sessions if session.started is not None and session.agent_seconds > 0]
    weeks = sorted({by_week(session) for session in timed})
    lately, before = weeks[-WEEKS:], weeks[-2 * WEEKS : -WEEKS]
    new, old = (_by_project(timed, some, project_of) for some in (lately, before))
    shared = sorted(new.keys() & old.keys())
    newer = [session for project in shared for session in new[project]]
    older = [session for project in shared for session in old[project]]
    strata = [(new[project], old[project]) for project in shared]
    return TroubleTrend(
        minutes_lost=_rate(newer, older, strata, lambda session: session.lost_seconds / 60),
        interventions=_rate(newer, older, strata, lambda session: float(session.times_stepped_in)),
        weeks=tuple(lately),
        weeks_before=tuple(before),
        sessions=len(newer),
        sessions_before=len(older),
        hours=_hours(newer),
        hours_before=_hours(older),
    )


def _by_project(
    sessions: Iterable[SessionTrouble], weeks: Sequence[str], project_of: Callable[[str], str]
) -> dict[str, list[SessionTrouble]]:
    found: dict[str, list[SessionTrouble]] = {}
    for session in sessions:
        if by_week(session) in weeks:
            found.setdefault(project_of(session.folder), []).append(session)
    return found


def _hours(sessions: Iterable[SessionTrouble]) -> float:
    return sum(session.agent_seconds for session in sessions) / 3600


def _rate(
    newer: Sequence[SessionTrouble],
    older: Sequence[SessionTrouble],
    strata: Sequence[tuple[list[SessionTrouble], list[SessionTrouble]]],
    measure: Callable[[SessionTrouble], float],
) -> TroubleRate:
    counted = [(_sums(new, measure), _sums(old, measure)) for new, old in strata]
    mean, interval = difference(counted)
    return TroubleRate(ratio(_sums(newer, measure)).value, ratio(_sums(older, measure)).value, mean, interval)


def _sums(sessions: Iterable[SessionTrouble], measure: Callable[[SessionTrouble], float]) -> RatioSums:
    counted = RatioSums()
    for session in sessions:
        counted = counted.plus(measure(session), session.agent_seconds / 3600)
    return counted
