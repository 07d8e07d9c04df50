"""Orders for durable work: what is to be done, under which key, and what came of it."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from whet.engine.steps import Steps
from whet.errors import WhetError
from whet.runs.run import Spent
from whet.store.home import Home
from whet.values import Value

Ask = TypeVar("Ask")


class Queue(StrEnum):
    """Where an order waits. Each queue has its own limit, so that a long trial keeps no review waiting."""

    REVIEWS = "reviews"
    JOBS = "jobs"  # runs and deliveries; and the clock, where a worker serves no chores
    TRIALS = "trials"
    ATTEMPTS = "attempts"  # the single runs of trials, spread over the workers
    CHORES = "chores"  # imports, the watch, the clock of the jobs


class Order(Value, frozen=True):
    """Work to be done once. Two orders with one key are the same work; `body` is its request, encoded.

    Of orders with the same word in `alone` only one is open at a time: while it is, another is the same work too.
    """

    kind: str
    key: str
    body: str = "{}"
    alone: str = ""


class Done(Value, frozen=True):
    """What came of an order: one line for people, the sessions it left, what it cost; `value` is JSON for programs.

    A part that this worker cannot carry out is `put_back`, with the reason, and given to another.
    """

    summary: str = ""
    sessions: tuple[str, ...] = ()
    spent: Spent = Spent()
    value: str = "null"
    put_back: str = ""


class Failed(WhetError):
    """Work that failed, with what it cost all the same and the sessions that it left."""

    def __init__(
        self, message: str, *, advice: str = "", spent: Spent | None = None, sessions: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, advice=advice)
        self.left = Done(sessions=sessions, spent=spent or Spent())


def left_by(error: WhetError) -> Done:
    """What failed work left: nothing, where nothing is said of it."""
    return error.left if isinstance(error, Failed) else Done()


class Procedure(NamedTuple, Generic[Ask]):
    """How orders of one kind are carried out, where they wait, and what their body is read as."""

    queue: Queue
    run: Callable[[Home, Steps, Ask], Done]
    ask: type[Ask]


Procedures = Mapping[str, Procedure[Any]]
