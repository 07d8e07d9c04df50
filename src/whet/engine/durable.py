"""Steps on DBOS: what a step gave is in the database before the next one begins."""

import contextlib
from collections.abc import Callable, Iterable
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import msgspec

from whet.engine.fitting import Fit
from whet.engine.library import DBOS
from whet.engine.life import BEAT_SECONDS, Life
from whet.engine.orders import Done, Failed, Order, Procedure, Procedures, left_by
from whet.engine.parts import Parts, PartsLook, PartsQueue
from whet.engine.rows import sealed, unsealed
from whet.engine.steps import T, Unsure, decoded, encoded
from whet.engine.system import OWN, System
from whet.engine.work import Remembered, seal_on
from whet.errors import WhetError
from whet.runs.daily_limit import Postponed
from whet.store.database import Unreachable
from whet.store.home import Home
from whet.store.owner import UNSHARED

LOOK_AGAIN_SECONDS = 5.0
CarryOut = Callable[[str, str, str], str]


class UnderWay(NamedTuple):
    """Orders that a worker has begun: what stops each, until when some wait for another day, which wait for parts.

    Those that it gives back are for a worker that fits the store.
    """

    running: dict[str, Event]
    postponed: dict[str, float]
    leading: set[str]
    given_back: set[str]


class WorkBench(NamedTuple):
    """What a worker carries orders out with."""

    home: Home
    system: System
    procedures: Procedures
    worker: str
    life: Life
    fit: Fit


class Durable:
    """The steps of one order while this worker carries it out. What is remembered of them is this home's own word."""

    def __init__(self, bench: WorkBench, order: Order, *, carry_out: CarryOut, under_way: UnderWay) -> None:
        self.id = str(DBOS.workflow_id)
        self.interrupt = under_way.running[self.id]
        self._system = bench.system
        self._order = order
        self._worker = bench.worker
        self._procedures = bench.procedures
        self._carry_out = carry_out
        self._under_way = under_way
        self._parts: dict[str, Parts] = {}
        self._bench = bench
        # What several homes of a member go on with is for each of them to read, and no home acts on it.
        is_own = procedure_of(bench.procedures, order.kind).queue in OWN
        self._owner = bench.system.owner if is_own else UNSHARED

    def do(self, name: str, function: Callable[[], T], type: type[T]) -> T:
        return _recall(name, self._keep(name, lambda: _record(lambda: self._patiently(function))), type)

    def _patiently(self, function: Callable[[], T]) -> T:
        """Do a step, and again once the day has room or the server is back: it may be repeated, as after a crash."""
        while True:
            try:
                return function()
            except Unreachable:
                if self.interrupt.wait(BEAT_SECONDS):
                    raise
                wait_until_ready(self._bench, self.interrupt, is_begun=True)
            except Postponed as reason:
                self._under_way.postponed[self.id] = reason.until
                while not reason.has_room() and not self.interrupt.wait(LOOK_AGAIN_SECONDS):
                    pass
                self._under_way.postponed.pop(self.id, None)
                if self.interrupt.is_set():
                    raise Failed("It was stopped while it waited for the daily limit.") from reason

    def once(self, name: str, function: Callable[[], T], type: type[T]) -> T:
        """The worker that begins is written down first: another one that comes here knows that it is too late."""
        begun = self._keep(f"{name}: begin", lambda: self._worker)

        def effect() -> str:
            return _record(function) if begun == self._worker else encoded(Remembered(is_unsure=True))

        return _recall(name, self._keep(name, effect), type)

    def _keep(self, name: str, function: Callable[[], str]) -> str:
        """What a step gave, now or before; raises WhetError where another wrote it down."""
        parts = (self._order.kind, self._order.body, name)

        def step() -> str:
            wait_until_ready(self._bench, self.interrupt, is_begun=True)
            return sealed(self._owner, function(), *parts)

        stored = DBOS.run_step({"name": name}, step)
        return unsealed(self._owner, stored, *parts)

    def spread(
        self, kind: str, asks: Iterable[tuple[str, object]], type: type[T], *, ahead: Iterable[tuple[str, object]] = ()
    ) -> tuple[T, ...]:
        self._under_way.leading.add(self.id)
        try:
            return tuple(self._parts_of(kind).collect(asks, type, iter(ahead)))
        finally:
            self._under_way.leading.discard(self.id)

    def withdraw(self) -> None:
        for parts in self._parts.values():
            parts.withdraw()

    def _parts_of(self, kind: str) -> Parts:
        if kind not in self._parts:
            queue = self._system.queue(procedure_of(self._procedures, kind).queue)
            given = PartsQueue(queue, self._carry_out, kind, partial(seal_on, self._system, kind))
            self._parts[kind] = Parts(given, self._keep, self.interrupt)
        return self._parts[kind]


def wait_until_ready(bench: WorkBench, interrupt: Event, *, is_begun: bool = False) -> None:
    """Begin nothing while the server is away or others may count this worker as dead; raises GivenBack."""
    while not interrupt.is_set():
        with contextlib.suppress(Unreachable):
            if bench.life.confirm():
                return bench.fit.expect(is_recent_enough=is_begun)
        interrupt.wait(BEAT_SECONDS)
    return None


def procedure_of(procedures: Procedures, kind: str) -> Procedure[Any]:
    """How a kind of order is carried out; an order that a newer Whet gave is refused, not lost."""
    if kind not in procedures:
        raise WhetError(
            f"This version of Whet does not know work of the kind {kind}.",
            advice="Install a newer version, then retry.",
        )
    return procedures[kind]


def _record(function: Callable[[], object]) -> str:
    """A mistake is remembered as a value: raised again from the record, it must be what it was the first time."""
    try:
        outcome = Remembered(value=encoded(function()))
    except WhetError as error:
        outcome = Remembered(error=error.message, advice=error.advice, left=left_by(error))
    return encoded(outcome)


def _recall(name: str, text: str, type: type[T]) -> T:
    outcome = decoded(text, Remembered)
    if outcome.is_unsure:
        raise Unsure(name)
    if outcome.error:
        left = outcome.left
        raise Failed(outcome.error, advice=outcome.advice, spent=left.spent, sessions=left.sessions)
    return decoded(outcome.value, type)


# Looked into now: msgspec crashes where two threads first read a type at once, and orders run side by side.
_READ = tuple(map(msgspec.json.Decoder, (Remembered, Done, PartsLook)))
