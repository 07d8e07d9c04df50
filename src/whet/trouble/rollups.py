"""Trouble over many sessions: what costs most, by whatever it is asked for, with the interval of its share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from msgspec.structs import replace

from whet.evidence.ratios import RatioSums, ratio
from whet.trouble.values import LostSums, SessionTrouble, Trouble, TroubleKind
from whet.values import Value

TroubleKey = Callable[[SessionTrouble, Trouble], str]
SessionKey = Callable[[SessionTrouble], str]
DAY_SECONDS = 86_400


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
