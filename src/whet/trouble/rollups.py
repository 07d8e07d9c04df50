"""Trouble over many sessions: what costs most, by whatever it is asked for, with the interval of its share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from whet.evidence.intervals import Interval
from whet.evidence.ratios import RatioSums, difference, ratio
from whet.trouble.values import LostSums, SessionTrouble, Trouble, TroubleKind
from whet.values import Value

TroubleKey = Callable[[SessionTrouble, Trouble], str]
SessionKey = Callable[[SessionTrouble], str]
DAY_SECONDS = 86_400

WEEKS = 4
LEAST_SESSIONS = 5  # on either side, below which nothing is said
LEAST_HOURS = 1.0  # of the agent's time, on either side


class TroubleCost(Value, frozen=True):
    """What one sort of trouble cost: a project's, a cause's, a tool's.

    `share` is of the agent's time, with the interval in which it lies as sessions vary.
    """

    name: str
    seconds: float
    share: float
    low: float
    high: float
    sessions: int = 0  # that show it
    troubles: int = 0
    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0


class TroubleGroup(Value, frozen=True):
    """What the sessions of one group spent, such as one project's or one week's, and what of it bought nothing."""

    name: str
    sessions: int
    agent_seconds: float
    lost: TroubleCost
    interventions: int = 0
    guessed: int = 0  # of the interventions: corrections that no reader judged


class _Spent:
    """The agent's seconds of each session, added up once for all that is compared with them."""

    def __init__(self, sessions: Sequence[SessionTrouble]) -> None:
        self.of_session = {session.session: session.agent_seconds for session in sessions}
        self.whole = sum(self.of_session.values())
        self.squares = sum([seconds * seconds for seconds in self.of_session.values()])


@dataclass(slots=True)
class _Tally:
    """One sort of trouble while it is added up."""

    of_session: dict[str, float] = field(default_factory=dict)
    troubles: int = 0
    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0

    def add(self, session: str, lost: Trouble | LostSums, troubles: int = 1) -> None:
        self.of_session[session] = self.of_session.get(session, 0.0) + lost.seconds
        self.troubles += troubles
        self.calls += lost.calls
        self.tokens += lost.tokens
        self.dollars += lost.dollars

    def cost(self, name: str, spent: _Spent) -> TroubleCost:
        """Its cost among sessions that spent so many seconds each."""
        lost = self.of_session
        counted = RatioSums(
            len(spent.of_session),
            sum(lost.values()),
            spent.whole,
            sum([part * part for part in lost.values()]),
            spent.squares,
            sum([part * spent.of_session.get(session, 0.0) for session, part in lost.items()]),
        )
        value, (low, high), _ = ratio(counted)
        return TroubleCost(
            name=name,
            seconds=round(counted.part, 1),
            share=value,
            low=low,
            high=min(1.0, high),
            sessions=len(lost),
            troubles=self.troubles,
            calls=self.calls,
            tokens=self.tokens,
            dollars=round(self.dollars, 6),
        )


def costs(sessions: Sequence[SessionTrouble], key: TroubleKey) -> tuple[TroubleCost, ...]:
    """What each sort of trouble cost, the dearest first; shares are of all the time of these sessions."""
    tallies: dict[str, _Tally] = {}
    for session in sessions:
        for trouble in session.troubles:
            tallies.setdefault(key(session, trouble), _Tally()).add(session.session, trouble)
    spent = _Spent(sessions)
    found = (tally.cost(name, spent) for name, tally in tallies.items())
    return tuple(sorted(found, key=lambda cost: (-cost.seconds, -cost.calls, cost.name)))


def costs_of_causes(sessions: Sequence[SessionTrouble]) -> list[tuple[TroubleCost, Trouble]]:
    """What each cause cost, the dearest first, with a stretch of its sort."""
    sorts = {by_cause(session, one): sort_of(one) for session in sessions for one in session.troubles}
    return [(cost, sorts[cost.name]) for cost in costs(sessions, by_cause)]


def groups(sessions: Iterable[SessionTrouble], key: SessionKey) -> tuple[TroubleGroup, ...]:
    """What each group of sessions spent and lost, the dearest first; shares are of the group's own time."""
    members: dict[str, list[SessionTrouble]] = {}
    for session in sessions:
        members.setdefault(key(session), []).append(session)
    found = (group(name, each) for name, each in members.items())
    return tuple(sorted(found, key=lambda each: (-each.lost.seconds, each.name)))


def group(name: str, sessions: Sequence[SessionTrouble]) -> TroubleGroup:
    """All of these sessions together."""
    tally = _Tally()
    for session in sessions:
        if session.troubles:
            tally.add(session.session, session.lost, len(session.troubles))
    spent = _Spent(sessions)
    return TroubleGroup(
        name=name,
        sessions=len(sessions),
        agent_seconds=round(spent.whole, 1),
        lost=tally.cost(name, spent),
        interventions=sum(session.times_stepped_in for session in sessions),
        guessed=sum(session.times_guessed for session in sessions),
    )


def by_kind(_: SessionTrouble, trouble: Trouble) -> str:
    return trouble.kind


def sort_of(trouble: Trouble) -> Trouble:
    """A stretch as one of its sort: what somebody said is said once, and is no cause that other stretches share."""
    is_said = trouble.kind == TroubleKind.CORRECTED or (trouble.kind == TroubleKind.CLAIMED and not trouble.subject)
    return replace(trouble, cause="") if is_said else trouble


def by_cause(_: SessionTrouble, trouble: Trouble) -> str:
    """Kind, what failed, and what was wrong with it; where somebody objected, what they had refused."""
    sort = sort_of(trouble)
    return " · ".join(word for word in (sort.kind, sort.subject, sort.cause) if word)


def by_subject(_: SessionTrouble, trouble: Trouble) -> str:
    """The tool, program, check or rule that it was about."""
    return trouble.subject


def by_agent(session: SessionTrouble) -> str:
    return session.source


def by_model(session: SessionTrouble) -> str:
    return session.model


def by_week(session: SessionTrouble) -> str:
    """The week in which a session began, such as 2026-W07; nothing where nobody knows."""
    return "" if session.started is None else week(session.started)


@lru_cache(maxsize=1024)
def _week_of_day(day: int) -> str:
    year, number, _ = datetime.fromtimestamp(day * DAY_SECONDS, UTC).isocalendar()
    return f"{year}-W{number:02}"


def week(at: float) -> str:
    """The week of a moment, as 2026-W07."""
    return _week_of_day(int(at // DAY_SECONDS))


def dearest(sessions: Iterable[SessionTrouble], count: int) -> tuple[SessionTrouble, ...]:
    """The sessions that lost most; each opens at its dearest stretch."""
    lossy = (session for session in sessions if session.troubles)
    return tuple(sorted(lossy, key=lambda each: (-each.lost_seconds, each.session))[:count])


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
