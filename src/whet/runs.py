"""Runs: one order to the agent as a frozen value, its limits, and how it ended."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

import msgspec

from whet.trajectories import Definition
from whet.transcripts import Ending, Message, Purpose, Usage, Value


class Budget(Value, frozen=True):
    """What a run may spend; None sets no limit. Tokens are input and output together."""

    model_calls: int | None = 90
    tokens: int | None = None
    seconds: float | None = None
    dollars: float | None = None


class Sampling(Value, frozen=True):
    """How the model chooses its words; None leaves it to the endpoint."""

    temperature: float | None = None
    seed: int | None = None
    output_tokens: int | None = None


class Run(Value, frozen=True):
    """One order to the agent: everything that a request is made from, so that equal runs send equal bytes.

    `shown` is what the model sees, `allowed` what may be dispatched; a fork may be allowed less, never more.
    """

    id: str  # of its session, as its own agent names it
    model: str  # as the endpoint knows it
    system: str  # the prompt as it is sent
    messages: tuple[Message, ...] = ()
    shown: tuple[Definition, ...] = ()
    allowed: frozenset[str] = frozenset()
    purpose: Purpose = Purpose.CHAT
    parent: str = ""  # the id of the run that it was forked from
    prompt_key: str = ""  # under which `system` is stored
    folder: str = ""  # in which its tools work
    budget: Budget = Budget()
    sampling: Sampling = Sampling()


class Spent(Value, frozen=True):
    """What a run has cost so far. `dollars` is None where a price is not known."""

    model_calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    seconds: float = 0.0
    dollars: float | None = None


class Status(StrEnum):
    """What the agent itself says of its work, by the `finish` tool."""

    DONE = "done"
    NOTHING_TO_REPORT = "nothing_to_report"
    FAILED = "failed"


class Report(Value, frozen=True):
    """How the agent reported the end of its work."""

    status: Status
    text: str = ""


class Ended(Value, frozen=True):
    """The last thing that `execute` gives: how the run ended, why, and what it cost."""

    ending: Ending
    detail: str = ""
    spent: Spent = Spent()
    report: Report | None = None


class Fragment(Value, frozen=True):
    """A piece of a reply while it streams, for eyes only: what counts is the message that follows."""

    kind: Literal["text", "thought", "call"]
    text: str


def fork(run: Run, *, id: str, order: Iterable[Message], allowed: frozenset[str], purpose: Purpose) -> Run:
    """The same conversation with one more order, a session of its own, and no more rights than its parent."""
    return msgspec.structs.replace(
        run,
        id=id,
        parent=run.id,
        messages=(*run.messages, *order),
        allowed=run.allowed & allowed,
        purpose=purpose,
    )


def spend(spent: Spent, usage: Usage | None) -> Spent:
    """What is spent after one more model call."""
    used = usage or Usage()
    known = spent.model_calls == 0 or spent.dollars is not None
    return msgspec.structs.replace(
        spent,
        model_calls=spent.model_calls + 1,
        input=spent.input + used.input,
        output=spent.output + used.output,
        cached=spent.cached + used.cached,
        dollars=(spent.dollars or 0.0) + used.cost_dollars if known and used.cost_dollars is not None else None,
    )


def exceeded(spent: Spent, budget: Budget) -> str:
    """Which limit is reached, in words; empty while there is room for one more model call."""
    limits: tuple[tuple[str, float, float | None], ...] = (
        ("model calls", spent.model_calls, budget.model_calls),
        ("tokens", spent.input + spent.output, budget.tokens),
        ("seconds", spent.seconds, budget.seconds),
        ("dollars", spent.dollars or 0.0, budget.dollars),
    )
    for name, value, limit in limits:
        if limit is not None and value >= limit:
            return f"the budget of {limit:g} {name} is spent"
    return ""
