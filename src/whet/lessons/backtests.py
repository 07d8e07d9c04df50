"""Backtests: what was learned from earlier sessions, looked for in later ones.

What it says is an upper bound: as if the lesson had been told in all of them, and followed in all.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

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


class LaterSession(NamedTuple):
    """A session that a lesson was not learned from."""

    id: str
    calls: SessionCalls
    trouble: SessionTrouble | None = None


def backtest(check: ClaimCheck, sessions: Iterable[LaterSession]) -> Backtest:
    """What the patterns of a check find in later sessions, and what the stretches around it cost, each counted once."""
    patterns = Patterns(check)
    later = came_up = failed = failures = tokens = messages = 0
    seconds = 0.0
    for session in sessions:
        later += 1
        fails, works = patterns.hits(session.calls.calls)
        came_up += bool(fails or works)
        wrong = [call.message for call in fails if has_failed(call)]
        failed += bool(wrong)
        failures += len(wrong)
        if wrong and session.trouble is not None:
            spared = [each for each in session.trouble.troubles if _holds(each, wrong)]
            seconds += sum(each.seconds for each in spared)
            tokens += sum(each.tokens for each in spared)
            messages += _said_in(session.trouble, spared)
    return Backtest(later, came_up, failed, failures, round(seconds / SECONDS, 1), tokens, messages)


def backtest_by_quotes(later: int, said: Mapping[str, int]) -> Backtest:
    """What a reader quoted for a claim from sessions later than those it was made from: how many messages of each."""
    number = sum(said.values())
    return Backtest(later, len(said), len(said), number, messages=number, is_by_pattern=False)


def _holds(stretch: Trouble, places: Iterable[int]) -> bool:
    return any(stretch.first <= place <= stretch.last for place in places)


def _said_in(trouble: SessionTrouble, stretches: Iterable[Trouble]) -> int:
    """How often the person stepped in during these stretches, or at their end."""
    spans = [(each.first, each.last + 1) for each in stretches]
    stepped = (event.message for event in trouble.interventions if event.by is Whose.PERSON)
    return sum(any(first <= message <= last for first, last in spans) for message in stepped)
