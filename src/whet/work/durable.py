"""Steps on DBOS: what a step gave is in the database before the next one begins; large results in parts."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from threading import Event
from typing import Any, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.own.runs.models import Postponed
from whet.store.database import Unreachable
from whet.store.home import Home
from whet.store.opening import UNSHARED, NewerStore, borrowed, expect_known
from whet.values import Value
from whet.work.faults import DBOS, PortableWorkflowError, SetWorkflowID, WorkflowHandle, sealed, unsealed
from whet.work.given import Remembered, identity, seal_on
from whet.work.life import BEAT_SECONDS, HeldName
from whet.work.orders import Done, Failed, Order, Procedure, Procedures, T, Unsure, decoded, encoded, left_by
from whet.work.system import OWN, System

RECENT_SECONDS = 1.0
LOOK_SECONDS = 0.5
AHEAD = 24  # orders at least that wait for a worker while others are carried out
OPEN = frozenset({"ENQUEUED", "DELAYED", "PENDING"})
LOOK_AGAIN_SECONDS = 5.0
CarryOut = Callable[[str, str, str], str]


class OrderReturned(BaseException):
    """Stops an order without an outcome, for a worker that fits. No Exception: nobody may take it for a failure."""


class VersionCheck:
    """Compares the version of the store with this program's."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._checked = float("-inf")

    def check(self) -> None:
        """Raise NewerStore where the store is newer than this program."""
        with borrowed(self._home) as database:
            expect_known(database)
        self._checked = time.monotonic()

    def expect(self, *, is_recent_enough: bool = False) -> None:
        """Go on only where the versions fit: raises OrderReturned. Between steps, a second ago is recent enough."""
        if is_recent_enough and time.monotonic() - self._checked < RECENT_SECONDS:
            return
        try:
            self.check()
        except NewerStore as error:
            raise OrderReturned from error


class PartsLook(Value, frozen=True):
    """How the parts stand: which were put back, how many more may be given, and whether all that are wanted ended.

    Parts are named by their number, for work that is done again has another id, and they have other keys.
    """

    again: tuple[int, ...] = ()
    room: int = 0
    is_over: bool = False


class GivenPart(NamedTuple):
    """An order that was given: its request, who has it now, and how often it was given."""

    body: str
    handle: WorkflowHandle[str]
    times: int = 1


class Parts:
    """The parts of one order of one kind. What it does next it decides by steps that are remembered: `keep` keeps one.

    A part that a worker put back is given again, under another id, until a worker can carry it out.
    """

    def __init__(
        self,
        kind: str,
        enqueue: Callable[[str], "WorkflowHandle[str]"],
        keep: Callable[[str, Callable[[], str]], str],
        interrupt: Event,
    ) -> None:
        self._kind, self._enqueue, self._keep, self._interrupt = kind, enqueue, keep, interrupt
        self._open: dict[str, GivenPart] = {}
        self._given: dict[str, int] = {}  # the number of each part that ever was

    def collect(
        self, asks: Iterable[tuple[str, object]], type: type[T], ahead: Iterator[tuple[str, object]]
    ) -> list[T]:
        """The values of these orders, in their order, whichever ended first. Those ahead are given where room is."""
        wanted = []
        for key, ask in asks:
            wanted.append(key)
            self._give(key, encoded(ask))
        new = (pair for pair in ahead if pair[0] not in self._given)
        has_more = True
        while True:
            look = decoded(self._keep("parts", partial(self._look, wanted, has_more=has_more)), PartsLook)
            keys = tuple(self._given)
            for number in look.again:
                part = self._open[keys[number]]
                self._give(keys[number], part.body, times=part.times + 1)
            more = list(islice(new, look.room))
            for key, ask in more:
                self._give(key, encoded(ask))
            has_more = has_more and len(more) == look.room
            if look.is_over:
                return [decoded(self._done(self._open.pop(key)).value, type) for key in wanted]

    def withdraw(self) -> None:
        """Take back what was given ahead and is not wanted any more."""
        left = [part.handle.workflow_id for part in self._open.values()]
        self._open.clear()
        if left:
            DBOS.cancel_workflows(left)

    def _give(self, key: str, body: str, *, times: int = 1) -> None:
        if key in self._given and times == 1:
            return
        self._given.setdefault(key, len(self._given))
        with SetWorkflowID(identity(self._kind, key if times == 1 else f"{key} ({times})")):
            self._open[key] = GivenPart(body, self._enqueue(body), times)

    def _look(self, wanted: list[str], *, has_more: bool) -> str:
        """Wait until something is to be done: a part was put back, more can be given, or all that is wanted ended."""
        keys = {part.handle.workflow_id: key for key, part in self._open.items()}
        ended: set[str] = set()
        while True:
            states = self._states([id for id in keys if id not in ended])
            new = [id for id, state in states.items() if state not in OPEN]
            again = tuple(sorted(self._given[keys[id]] for id in self._put_back(new)))
            ended.update(new)
            waiting = sum(state in ("ENQUEUED", "DELAYED") for state in states.values())
            most = max(AHEAD, sum(state == "PENDING" for state in states.values()))
            room = most - waiting if has_more and 2 * waiting < most else 0
            is_over = not again and not {keys[id] for id in keys if id not in ended} & set(wanted)
            if again or room or is_over or self._interrupt.wait(LOOK_SECONDS):
                return encoded(PartsLook(again, room, is_over or self._interrupt.is_set()))

    def _states(self, ids: list[str]) -> dict[str, str]:
        found = DBOS.list_workflows(workflow_ids=ids, load_input=False, load_output=False) if ids else []
        return {each.workflow_id: each.status for each in found}

    def _put_back(self, ids: list[str]) -> Iterator[str]:
        """Those of the ended parts that their worker could not carry out."""
        found = DBOS.list_workflows(workflow_ids=ids, status="SUCCESS", load_input=False) if ids else []
        for each in found:
            try:
                if isinstance(each.output, str) and msgspec.json.decode(each.output, type=Done).put_back:
                    yield each.workflow_id
            except msgspec.MsgspecError:
                continue  # whoever collects it says so

    def _done(self, part: GivenPart) -> Done:
        try:
            return decoded(part.handle.get_result(), Done)
        except TypeError as error:
            raise Failed(
                "The result of one part of this work cannot be read.", advice="To see it, run `whet worker list`."
            ) from error
        except PortableWorkflowError as error:
            left = msgspec.convert(error.data, Done) if isinstance(error.data, dict) else Done()
            why, advice = f"A part of this work failed: {error}", "To see it, run `whet worker list`."
            raise Failed(why, advice=advice, spent=left.spent, sessions=left.sessions) from error


class UnderWay(NamedTuple):
    """Orders that a worker has begun: what stops each, until when some wait for another day, which wait for parts.

    Those that it gives back are for a worker that fits the store.
    """

    running: dict[str, Event]
    postponed: dict[str, float]
    leading: set[str]
    given_back: set[str]


class WorkerParts(NamedTuple):
    """What a worker carries orders out with."""

    home: Home
    system: System
    procedures: Procedures
    worker: str
    life: HeldName
    fit: VersionCheck


class Durable:
    """The steps of one order while this worker carries it out. What is remembered of them is this home's own word."""

    def __init__(self, bench: WorkerParts, order: Order, *, carry_out: CarryOut, under_way: UnderWay) -> None:
        self.id = str(DBOS.workflow_id)
        self.interrupt = under_way.running[self.id]
        self._bench, self._order = bench, order
        self._carry_out, self._under_way = carry_out, under_way
        self._parts: dict[str, Parts] = {}
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
        begun = self._keep(f"{name}: begin", lambda: self._bench.worker)

        def effect() -> str:
            return _record(function) if begun == self._bench.worker else encoded(Remembered(is_unsure=True))

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
            system = self._bench.system
            queue = system.queue(procedure_of(self._bench.procedures, kind).queue)

            def enqueue(body: str) -> WorkflowHandle[str]:
                return DBOS.enqueue_workflow(queue, self._carry_out, kind, body, seal_on(system, kind, body))

            self._parts[kind] = Parts(kind, enqueue, self._keep, self.interrupt)
        return self._parts[kind]


def wait_until_ready(bench: WorkerParts, interrupt: Event, *, is_begun: bool = False) -> None:
    """Begin nothing while the server is away or others may count this worker as dead; raises OrderReturned."""
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
