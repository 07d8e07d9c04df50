"""Orders for durable work, what came of each, and their steps, each of which is done once and remembered."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from threading import Event
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from whet.errors import WhetError
from whet.own.runs.run import Spent
from whet.store.home import Home
from whet.values import Value

T = TypeVar("T")
Ask = TypeVar("Ask")


class Unsure(Exception):
    """A step that may not be repeated was begun by a worker that died: nobody knows whether it had its effect."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a worker died during the step {name}, which may have taken effect")
        self.name = name


def encoded(value: object) -> str:
    """A value as the engine keeps it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def decoded(text: str, type: type[T]) -> T:
    """A value that the engine kept. Raises WhetError where another version of Whet wrote it in another form."""
    try:
        return msgspec.convert(text, type) if issubclass(type, str) else msgspec.json.decode(text, type=type)
    except msgspec.MsgspecError as error:
        raise WhetError(f"Another version of Whet started this work: {error}", advice="Submit it again.") from error


class Steps(Protocol):
    """What a procedure is given. Between steps it may only decide: after a crash it is run again from its start.

    What a step gives is kept as JSON, and comes back as a value of its type.
    """

    @property
    def id(self) -> str:
        """The same for this work, whichever worker goes on with it: the source of ids that must not change."""
        ...

    @property
    def interrupt(self) -> Event:
        """Set when the work is cancelled, so that a long step can stop."""
        ...

    def do(self, name: str, function: Callable[[], T], type: type[T]) -> T:
        """Run a step, or give what it gave before. After a crash within it, it is run again: it must be idempotent."""
        ...

    def once(self, name: str, function: Callable[[], T], type: type[T]) -> T:
        """Run a step that must never be repeated; raises Unsure where a worker died in it."""
        ...

    def spread(
        self, kind: str, asks: Iterable[tuple[str, object]], type: type[T], *, ahead: Iterable[tuple[str, object]] = ()
    ) -> tuple[T, ...]:
        """Give further orders of a kind, as pairs of key and request, and wait for their values, in the same order.

        Orders `ahead` will probably be asked for next: while some workers end the last of these, others begin them.
        """
        ...

    def withdraw(self) -> None:
        """Take back what was given ahead and never asked for."""
        ...


class DirectSteps:
    """Steps without an engine: in this process, at once, and gone with it."""

    def __init__(
        self, id: str, procedure: Callable[["DirectSteps", str, Any], str] | None = None, *, at_once: int = 1
    ) -> None:
        self.id = id
        self.interrupt = Event()
        self._procedure = procedure
        self._at_once = at_once

    def do(self, name: str, function: Callable[[], T], type: type[T]) -> T:  # noqa: ARG002 - for those who remember
        return function()

    def once(self, name: str, function: Callable[[], T], type: type[T]) -> T:  # noqa: ARG002
        return function()

    def withdraw(self) -> None:
        """Nothing was given ahead: whoever works alone begins nothing that may not be wanted."""

    def spread(
        self,
        kind: str,
        asks: Iterable[tuple[str, object]],
        type: type[T],
        *,
        ahead: Iterable[tuple[str, object]] = (),  # noqa: ARG002
    ) -> tuple[T, ...]:
        if self._procedure is None:
            raise AssertionError("these steps were given no procedure for further orders")
        procedure = self._procedure

        def carried(key: str, ask: object) -> T:
            inner = DirectSteps(key, procedure)
            inner.interrupt = self.interrupt
            return decoded(procedure(inner, kind, ask), type)

        if self._at_once == 1:
            return tuple(carried(key, ask) for key, ask in asks)
        with ThreadPoolExecutor(self._at_once) as pool:
            waiting = [pool.submit(carried, key, ask) for key, ask in asks]
            try:
                return tuple(each.result() for each in waiting)
            except BaseException:
                self.interrupt.set()  # nobody waits for the others any more
                pool.shutdown(wait=True, cancel_futures=True)
                raise


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
