"""Runs: one order to the agent as a frozen value, its limits, and how it ended."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

import msgspec

from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Ending, Message, Purpose, Role, Usage
from whet.values import Value


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
    home: str = ""  # in which it was begun, where several share a database
    budget: Budget = Budget()
    sampling: Sampling = Sampling()
    draw_id: str = msgspec.field(default="", name="lot")  # what canaries are drawn by, the same in all that goes on
    room: int | None = None  # tokens that a request may have before the run is compacted; None where it is not known


class Spent(Value, frozen=True):
    """What a run has cost so far. `dollars` counts the calls whose price is known; None where none is."""

    model_calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    seconds: float = 0.0
    dollars: float | None = None


class WorkStatus(StrEnum):
    """What the agent itself says of its work, by the `finish` tool."""

    DONE = "done"
    NOTHING_TO_REPORT = "nothing_to_report"
    FAILED = "failed"


class WorkReport(Value, frozen=True):
    """How the agent reported the end of its work."""

    status: WorkStatus
    text: str = ""


class Ended(Value, frozen=True):
    """The last thing that `execute` gives: how the run ended, why, and what it cost.

    `fault` is the provider's, where it failed, and `advice` what a person can do about it.
    """

    ending: Ending
    detail: str = ""
    spent: Spent = Spent()
    report: WorkReport | None = None
    fault: str = ""
    advice: str = ""


class Fragment(Value, frozen=True):
    """A piece of a reply while it streams, for eyes only: what counts is the message that follows.

    `again` says that the pieces shown so far are void: the answer broke off, and the model is asked once more; `wait`
    says why and how long nothing comes before that.
    """

    kind: Literal["text", "thought", "call", "again", "wait"]
    text: str


def fork(run: Run, *, id: str, order: Iterable[Message], allowed: frozenset[str], purpose: Purpose) -> Run:
    """The same conversation with one more order, a session of its own, and no more rights than its parent."""
    return msgspec.structs.replace(
        run, id=id, parent=run.id, messages=(*run.messages, *order), allowed=run.allowed & allowed, purpose=purpose
    )


def grown(run: Run, *messages: Message) -> Run:
    """The run with more of its conversation: what it said and heard, or the next order."""
    return msgspec.structs.replace(run, messages=(*run.messages, *messages)) if messages else run


def is_open(run: Run) -> bool:
    """Whether somebody waits for the model's answer: a person, or the results of its calls."""
    last = run.messages[-1] if run.messages else None
    return last is not None and (last.role is not Role.AGENT or bool(last.calls))


def spend(spent: Spent, usage: Usage | None) -> Spent:
    """What is spent after one more model call."""
    used = usage or Usage()
    return together((spent, Spent(1, used.input, used.output, used.cached, dollars=used.cost_dollars)))


def together(costs: Iterable[Spent]) -> Spent:
    """What several things cost in all; the dollars are unknown where none of them is known."""
    each = tuple(costs)
    dollars = [spent.dollars for spent in each if spent.dollars is not None]
    return Spent(
        model_calls=sum(spent.model_calls for spent in each),
        input=sum(spent.input for spent in each),
        output=sum(spent.output for spent in each),
        cached=sum(spent.cached for spent in each),
        seconds=sum(spent.seconds for spent in each),
        dollars=sum(dollars) if dollars else None,
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
    if budget.dollars is not None and spent.model_calls and spent.dollars is None:
        return f"the budget of {budget.dollars:g} dollars cannot be enforced: the price of the model is unknown"
    return ""
