"""Measures of one attempt: whether it passed, and how the work went on the way."""

from collections.abc import Sequence

from whet.outcomes.deciding import Outcome, decide
from whet.runs.run import Spent
from whet.sessions.tool_families import plain_name
from whet.sessions.transcripts import Exchange, Message, Role, pair
from whet.trials.checks import Mark
from whet.values import Value

EARLY_TURNS = 30


class Measures(Value, frozen=True):
    """What is kept of an attempt. A turn is one answer of the model; success is a call that worked."""

    passed: bool
    why: str = ""  # it did not pass
    turns: int = 0
    calls: int = 0
    errors: int = 0  # calls that failed, in all
    early_error_rate: float = 0.0  # share of calls that failed in the first 30 turns
    first_success_turn: int | None = None  # None: no call worked
    first_success_seconds: float | None = None
    tools: int = 0  # different tools that were called
    distinct_calls: int = 0  # different in tool or arguments
    spent: Spent = Spent()
    ending: str = ""

    @property
    def score(self) -> float:
        return float(self.passed)

    @property
    def tokens(self) -> int:
        return self.spent.input + self.spent.output


def measure(messages: Sequence[Message], mark: Mark, *, began: float, spent: Spent, ending: str) -> Measures:
    """The measures of what a run added to its conversation; `began` is when it was ordered."""
    exchanges = pair(messages).exchanges
    turns = _turns(messages)
    outcomes = [decide(exchange).outcome for exchange in exchanges]
    early = [
        outcome for exchange, outcome in zip(exchanges, outcomes, strict=True) if turns[exchange.asked] <= EARLY_TURNS
    ]
    first = next((each for each, outcome in zip(exchanges, outcomes, strict=True) if outcome is Outcome.OK), None)
    return Measures(
        passed=mark.passed,
        why=mark.why,
        turns=turns[-1] if turns else 0,
        calls=len(exchanges),
        errors=outcomes.count(Outcome.FAILED),
        early_error_rate=early.count(Outcome.FAILED) / len(early) if early else 0.0,
        first_success_turn=turns[first.asked] if first else None,
        first_success_seconds=_after(messages, first, began) if first else None,
        tools=len({plain_name(exchange.call.name) for exchange in exchanges}),
        distinct_calls=len({(plain_name(each.call.name), each.call.arguments) for each in exchanges}),
        spent=spent,
        ending=ending,
    )


def _turns(messages: Sequence[Message]) -> list[int]:
    """For each message, how many answers of the model there were up to it."""
    counted: list[int] = []
    turn = 0
    for message in messages:
        turn += message.role is Role.AGENT
        counted.append(turn)
    return counted


def _after(messages: Sequence[Message], exchange: Exchange, began: float) -> float | None:
    at = messages[exchange.asked if exchange.answered is None else exchange.answered].at
    return None if at is None else max(0.0, at - began)
