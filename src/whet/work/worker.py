"""A worker: carries orders out, and takes up those whose worker died."""

import contextlib
import os
import sys
import threading
import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from threading import Event
from typing import NoReturn

import msgspec

from whet.errors import WhetError
from whet.store.database import Unreachable
from whet.store.home import Home, Reserve
from whet.store.opening import NewerStore, opened
from whet.work.durable import (
    Durable,
    OrderReturned,
    UnderWay,
    VersionCheck,
    WorkerParts,
    procedure_of,
    wait_until_ready,
)
from whet.work.faults import (
    DBOS,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    PortableWorkflowError,
    distrust_rows,
    explained,
    wait_for_lost_servers,
)
from whet.work.given import MOST_TAKEOVERS, TAKEOVERS, UNREAD, WAITS, WORKFLOW, given_orders, has_given
from whet.work.life import LifeSign, Silences, Tell, living, note_life, occupied, quiet, sign_of
from whet.work.orders import DirectSteps, Order, Procedures, Queue, decoded, encoded, left_by
from whet.work.system import CLOCK, NAME, OWN, VERSION, system_of

MINUTE = 60.0
POLL_SECONDS = 1.0
TICKING = (Queue.CHORES, Queue.JOBS)  # a worker that serves one of these looks at the clock
PATIENCE_SECONDS = 5
WAIT_SECONDS = 20.0


class Worker:
    """A launched worker. `look_after` is called every few seconds: it finds the dead and stops what was cancelled."""

    def __init__(self, bench: WorkerParts, queues: Sequence[str], under_way: UnderWay, *, tell: Tell) -> None:
        self.name, self._home, self._life, self._fit = bench.worker, bench.home, bench.life, bench.fit
        self._queues, self._tell, self._silences = list(queues), tell, Silences()
        is_ticking = any(bench.system.queue(queue) in queues for queue in TICKING)
        self._clock = bench.procedures.get(CLOCK) if is_ticking else None
        self._looks_at = time.monotonic()
        self._running, self._postponed, self._leading, _ = under_way
        self._told: dict[str, float] = {}

    def look_after(self) -> None:
        """Raises NewerStore where another program has brought the store further than this one knows."""
        note_life(self._home)
        if not self._life.confirm():
            return
        with contextlib.suppress(Unreachable):  # the next look tells
            self._fit.check()
            self._stop_cancelled()
            self._tell_postponed()
            self._take_over()
            self._look_at_clock()

    def _look_at_clock(self) -> None:
        """Look at the clock once a minute, by one that nobody sets; what goes wrong is said, and tried again."""
        if self._clock is None or time.monotonic() < self._looks_at:
            return
        self._looks_at = time.monotonic() + MINUTE
        try:
            self._clock.run(self._home, DirectSteps(CLOCK), "")
        except (Unreachable, NewerStore):
            raise
        except WhetError as error:
            self._tell(f"{error.message} {error.advice}".strip())

    def is_idle(self) -> bool:
        """Whether nothing is left on this worker's queues, and nothing that was cancelled still runs."""
        open = ["ENQUEUED", "PENDING"]
        waiting = DBOS.list_workflows(name=WORKFLOW, queue_name=self._queues, status=open, limit=1, **UNREAD)
        return not waiting and not self._running

    def is_held_up(self) -> bool:
        """Whether all that it has begun waits for another day."""
        return bool(self._told) and set(self._running) <= {*self._told, *self._leading}

    def _tell_postponed(self) -> None:
        """Write beside each order until when it waits, for `whet worker list`."""
        found = dict(self._postponed)
        over = dict.fromkeys(self._told.keys() - found.keys(), 0.0)
        for id, until in {**found, **over}.items():
            if self._told.get(id) != until:
                DBOS.update_workflow_attributes(id, {WAITS: until}, merge=True)
        self._told = found

    def _stop_cancelled(self) -> None:
        ids = list(self._running)
        for work in DBOS.list_workflows(workflow_ids=ids, status="CANCELLED", **UNREAD) if ids else ():
            if work.workflow_id in self._running:
                self._running[work.workflow_id].set()

    def _take_over(self) -> None:
        """Put the work of dead workers back. Their lock is held meanwhile, so that only one of the living does it."""
        pending = DBOS.list_workflows(status="PENDING", **UNREAD)
        owners = {work.executor_id for work in pending if work.executor_id} - {self.name}
        silent = quiet(self._home, owners)
        for owner in owners.difference(silent):
            self._silences.is_dead(owner, LifeSign.ALIVE, losses=self._life.losses)
        for owner in silent:
            with sign_of(self._home, owner) as sign:
                if self._silences.is_dead(owner, sign, losses=self._life.losses):
                    self._put_back(owner)

    def _put_back(self, owner: str) -> None:
        for work in DBOS.list_workflows(status="PENDING", executor_id=owner, **UNREAD):
            attributes = work.attributes or {}
            # An order that only waited for another day killed nobody.
            takeovers = int(attributes.get(TAKEOVERS, 0)) + (not attributes.get(WAITS))
            DBOS.update_workflow_attributes(work.workflow_id, {TAKEOVERS: takeovers, WAITS: 0}, merge=True)
            if takeovers > MOST_TAKEOVERS:
                DBOS.cancel_workflow(work.workflow_id)
            else:
                DBOS.resume_workflows([work.workflow_id], queue_name=work.queue_name)


@contextlib.contextmanager
def launched(
    home: Home, procedures: Procedures, *, queues: Sequence[Queue], concurrency: int, tell: Tell = lambda _: None
) -> Iterator[Worker]:
    """A worker in this process, of which there can be only one. At the end it lets go of what it has not finished.

    `tell` is told why the server is away, that it is back, and what goes wrong at the clock.
    """
    name, under_way, reserve = uuid.uuid4().hex, UnderWay({}, {}, set(), set()), Reserve()
    with contextlib.ExitStack() as stack:
        stack.enter_context(occupied(home))
        with opened(home):  # brings the store up to date, and refuses one that is newer
            pass
        system = system_of(home)
        kept = home._replace(reserve=reserve) if home.database_url else home
        names = [system.queue(queue) for queue in queues]
        distrust_rows()
        wait_for_lost_servers()
        life = stack.enter_context(living(home, name, tell))
        before = threading.enumerate()  # the thread that shows that this worker lives ends after the engine
        stack.enter_context(explained(system))
        note_life(home)
        # The engine looks at the queues that it finds when it starts at once, and at others a second later.
        with given_orders(home) as orders:
            orders.open_queues(names, concurrency=concurrency, poll_seconds=POLL_SECONDS)
        DBOS(config=_config(system.url, system.schema, name))
        try:
            bench = WorkerParts(kept, system, procedures, name, life, VersionCheck(kept))
            _register(bench, under_way)
            DBOS.listen_queues(names)
            DBOS.launch()
            yield Worker(bench, names, under_way, tell=tell)
        finally:
            for thread in end_engine(before, is_busy=bool(under_way.running)):
                tell(f"The engine's thread {thread} did not end in {WAIT_SECONDS:.0f} seconds.")
            reserve.close()
            if under_way.given_back:
                with given_orders(home) as orders:
                    orders.put_back(under_way.given_back)


def _register(bench: WorkerParts, under_way: UnderWay) -> None:
    """The one workflow, of which every kind of order is a procedure."""

    @DBOS.workflow(name=WORKFLOW)
    def carry_out(kind: str, body: str, seal: str = "") -> str:
        id = str(DBOS.workflow_id)
        under_way.running[id] = Event()
        try:
            wait_until_ready(bench, under_way.running[id])
            order = _given(bench, kind, body, seal)
            steps = Durable(bench, order, carry_out=carry_out, under_way=under_way)
            procedure = procedure_of(bench.procedures, order.kind)
            return encoded(procedure.run(bench.home, steps, decoded(order.body, procedure.ask)))
        except OrderReturned:
            under_way.given_back.add(id)
            raise
        except WhetError as error:
            # What is stored of an exception is its text and its data, so the advice goes into the one.
            left = msgspec.to_builtins(left_by(error))
            raise PortableWorkflowError(f"{error.message} {error.advice}".strip(), "WhetError", data=left) from error
        finally:
            under_way.running.pop(id, None)


def _given(bench: WorkerParts, kind: str, body: str, seal: str) -> Order:
    """The order as this home gave it; raises WhetError for one that it did not give, whoever wrote it down.

    Attempts are given by all homes of a member: what they are made of is looked up under that member's name.
    """
    order = Order(str(kind), "", str(body))
    is_own = procedure_of(bench.procedures, order.kind).queue in OWN
    if is_own and not has_given(bench.system, order.kind, order.body, str(seal)):
        raise WhetError(
            "This work was not submitted by this home, so it did not run.",
            advice="Check who can write to the team's database, and submit the work again if you want it.",
        )
    return order


def _config(url: str, schema: str, name: str) -> DBOSConfig:
    return DBOSConfig(
        name=NAME,
        system_database_url=url,
        dbos_system_schema=schema,
        application_version=VERSION,
        executor_id=name,
        serializer=DBOSPortableJSONSerializer(),
        log_level="CRITICAL",  # what went wrong is in the work itself, for `whet worker list`
        notification_listener_polling_interval_sec=POLL_SECONDS,
        notification_coalesce_sec=POLL_SECONDS,  # nothing here waits for such notes, and it wakes up for each
        db_engine_kwargs={"pool_pre_ping": False},  # see `wait_for_lost_servers`
    )


def end_engine(before: Collection[threading.Thread], *, is_busy: bool) -> list[str]:
    """Stop the engine, and wait for the threads that began with it: its own wait is shorter than a slow disk.

    Gives the names of those that did not end.
    """
    # Asked to be patient, the engine waits a second even where nothing runs.
    DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=PATIENCE_SECONDS if is_busy else 0)
    deadline = time.monotonic() + WAIT_SECONDS
    begun = [thread for thread in threading.enumerate() if thread.daemon and thread not in before]
    for thread in begun:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [thread.name for thread in begun if thread.is_alive()]


def leave(code: int) -> NoReturn:
    """Exit. Where a thread will not end, in a step or in a locked database, nothing is torn down under it."""
    if threading.active_count() > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
