"""Backtests: what was learned from earlier sessions, looked for in later ones.

What it says is an upper bound: as if the lesson had been told in all of them, and followed in all.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.claim_calls import Patterns, SessionCalls, has_failed
from whet.lessons.claims import ClaimCheck
from whet.trouble.values import SessionTrouble, Trouble, Whose
from whet.values import Value

SECONDS = 60.0


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


def backtest(
    check: ClaimCheck, sessions: Mapping[str, SessionCalls], trouble_of: Callable[[str], SessionTrouble | None]
) -> Backtest:
    """What the patterns of a check find in later sessions, and what the stretches around it cost, each counted once."""
    patterns = Patterns(check)
    came_up = 0
    wrong: dict[str, list[int]] = {}
    for id, each in sessions.items():
        fails, works = patterns.hits(each.calls)
        came_up += bool(fails or works)
        if places := [call.message for call in fails if has_failed(call)]:
            wrong[id] = places
    found = Backtest(len(sessions), came_up, len(wrong), sum(map(len, wrong.values())))
    spared = [_spared(trouble, places) for id, places in wrong.items() if (trouble := trouble_of(id)) is not None]
    return replace(
        found,
        minutes=round(sum(each.seconds for each in spared) / SECONDS, 1),
        tokens=sum(each.tokens for each in spared),
        messages=sum(each.messages for each in spared),
    )


class _Spared(NamedTuple):
    """What one session spent on failures that a lesson speaks of."""

    seconds: float
    tokens: int
    messages: int


def backtest_by_quotes(later: int, said: Mapping[str, int]) -> Backtest:
    """What a reader quoted for a claim from sessions later than those it was made from: how many messages of each."""
    number = sum(said.values())
    return Backtest(later, len(said), len(said), number, messages=number, is_by_pattern=False)


def _spared(trouble: SessionTrouble, places: Iterable[int]) -> _Spared:
    wrong = tuple(places)
    stretches = [each for each in trouble.troubles if _holds(each, wrong)]
    return _Spared(
        sum(each.seconds for each in stretches), sum(each.tokens for each in stretches), _said_in(trouble, stretches)
    )


def _holds(stretch: Trouble, places: Iterable[int]) -> bool:
    return any(stretch.first <= place <= stretch.last for place in places)


def _said_in(trouble: SessionTrouble, stretches: Iterable[Trouble]) -> int:
    """How often the person stepped in during these stretches, or at their end."""
    spans = [(each.first, each.last + 1) for each in stretches]
    stepped = (event.message for event in trouble.interventions if event.is_sure and event.by is Whose.PERSON)
    return sum(any(first <= message <= last for first, last in spans) for message in stepped)
