"""Work from the outside: given, listed, cancelled and retried, without being a worker.

How long ended work is kept: then the engine's rows go, and what stays is the record that the work itself left.
"""

import contextlib
import hashlib
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.own.runs.run import Spent
from whet.store.folders import locked
from whet.store.home import Home
from whet.values import Value
from whet.work.faults import (
    DBOS,
    DBOSClient,
    DBOSException,
    DBOSPortableJSONSerializer,
    EnqueueOptions,
    StepInfo,
    WorkflowStatus,
    arguments_in,
    distrust_rows,
    done_in,
    explained,
    text_of,
)
from whet.work.orders import Done, Order, Queue
from whet.work.system import NAME, VERSION, System, system_of

ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
OPEN = ("ENQUEUED", "DELAYED", "PENDING")
AT_ONCE = 500
UNREAD: dict[str, Any] = {"load_input": False, "load_output": False}  # of whom only the state counts


WORKFLOW = "carry_out"
ID_BYTES = 6
SHORT = (Queue.ATTEMPTS.value, Queue.REVIEWS.value)  # whose orders take seconds
SHORT_POLL_SECONDS = 0.25
LISTED = 200
MOST_TAKEOVERS = 3  # an order in which so many workers died is not given to another one
TAKEOVERS = "takeovers"
WAITS = "waits"  # until when the daily limit keeps an order from going on
QUEUE = "queue"  # kept beside the order, for the engine takes what is cancelled out of its queue


class WorkState(StrEnum):
    """How far an order has come."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATES = {
    "ENQUEUED": WorkState.QUEUED,
    "DELAYED": WorkState.QUEUED,
    "PENDING": WorkState.RUNNING,
    "SUCCESS": WorkState.DONE,
    "ERROR": WorkState.FAILED,
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": WorkState.FAILED,
    "CANCELLED": WorkState.CANCELLED,
}


class Remembered(Value, frozen=True):
    """What a step gave, as it is stored: a value, a person's mistake with what it left, or that nobody knows."""

    value: str = ""
    error: str = ""
    advice: str = ""
    is_unsure: bool = False
    left: Done = Done()


class Work(NamedTuple):
    """An order and what became of it."""

    id: str
    kind: str
    queue: str
    state: WorkState
    created: float
    changed: float
    error: str = ""
    done: Done | None = None
    body: str = "{}"
    worker: str = ""
    step: str = ""  # the last one that ended
    left: Done = Done()  # what it cost and left, although it failed
    waits: float = 0.0  # until when the daily limit keeps it from going on

    @property
    def is_open(self) -> bool:
        return self.state in (WorkState.QUEUED, WorkState.RUNNING)

    @property
    def spent(self) -> Spent:
        return (self.done or self.left).spent


class GivenOrders:
    """The orders that a home gave to its engine; giving one needs no worker, it waits for one."""

    def __init__(self, client: DBOSClient, system: System) -> None:
        self._client = client
        self._system = system

    def submit(self, order: Order, queue: Queue) -> str:
        """Give an order. One with the same key that was given before, whatever became of it, is the same order."""
        name = self._system.queue(queue)
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": name,
            "workflow_id": identity(order.kind, order.key),
            "app_version": VERSION,
            "attributes": {QUEUE: name},
        }
        if order.alone:
            options["deduplication_id"] = order.alone
            options["duplication_policy"] = "return-existing"
        seal = seal_on(self._system, order.kind, order.body)
        return self._client.enqueue(options, order.kind, order.body, seal).workflow_id

    def all(self, *, limit: int = LISTED) -> tuple[Work, ...]:
        """The newest orders first."""
        found = self._client.list_workflows(name=WORKFLOW, limit=limit, sort_desc=True)
        return tuple(_work(each) for each in found)

    def open(self) -> tuple[Work, ...]:
        """What is queued or running."""
        found = self._client.list_workflows(name=WORKFLOW, status=list(OPEN), load_output=False)
        return tuple(_work(each) for each in found)

    def find(self, id: str) -> Work:
        """The order whose id begins so."""
        found = self._client.list_workflows(name=WORKFLOW, workflow_id_prefix=id, limit=2, sort_desc=True) if id else []
        exact = [each for each in found if each.workflow_id == id] or found
        if not exact:
            raise WhetError(f"There is no work {id}.", advice="To list the work, run `whet worker list`.")
        if len(exact) > 1:
            raise WhetError(f"Several pieces of work have an id that starts with {id}.", advice="Give more of the id.")
        ended = [step for step in self._client.list_workflow_steps(exact[0].workflow_id) if not _failed(step)]
        return _work(exact[0])._replace(step=ended[-1]["function_name"] if ended else "")

    def cancel(self, id: str) -> Work:
        """Stop an order: at its next step, or within a step that listens."""
        work = self.find(id)
        if not work.is_open:
            raise WhetError(
                f"Work {work.id} is already {work.state}.", advice="To list open work, run `whet worker list`."
            )
        parts = self._client.list_workflows(parent_workflow_id=work.id, **UNREAD)
        self._client.cancel_workflows([work.id, *(part.workflow_id for part in parts if part.status in OPEN)])
        return self.find(work.id)

    def retry(self, id: str) -> Work:
        """Do an order that failed or was cancelled again, from the step at which it ended; what was done stays done."""
        work = self.find(id)
        if work.state not in (WorkState.FAILED, WorkState.CANCELLED):
            raise WhetError(f"Work {work.id} is {work.state}.", advice="Only failed or cancelled work can be retried.")
        if not work.queue:
            raise WhetError(f"Work {work.id} is part of other work.", advice="Retry that, or submit it again.")
        made = self._client.fork_workflow(
            work.id, self._first_again(work), application_version=VERSION, queue_name=work.queue
        )
        self._client.update_workflow_attributes(made.workflow_id, {QUEUE: work.queue})  # nobody died in this one
        return self.find(made.workflow_id)

    def _first_again(self, work: Work) -> int:
        """The step from which work is done again: the one that failed, or before it the first order for a part that
        did not come to its end. Parts that did are remembered by what they made, under whichever order."""
        steps = self._client.list_workflow_steps(work.id)
        parts = self._client.list_workflows(parent_workflow_id=work.id, **UNREAD)
        ended = {part.workflow_id for part in parts if STATES.get(part.status) is WorkState.DONE}
        failed = [step["function_id"] for step in steps if _failed(step)]
        missed = [step["function_id"] for step in steps if (step["child_workflow_id"] or "") not in {"", *ended}]
        return min((*failed[-1:], *missed[:1]), default=len(steps) + 1)

    def open_queues(self, names: Sequence[str], *, concurrency: int, poll_seconds: float) -> None:
        """Queues from which a worker takes so many orders at a time. What is many and short should not wait."""
        for name in names:
            seconds = SHORT_POLL_SECONDS if name.partition("@")[0] in SHORT else poll_seconds
            self._client.register_queue(name, worker_concurrency=concurrency, polling_interval_sec=seconds)

    def put_back(self, ids: Collection[str]) -> None:
        """Have orders that a worker gave back taken by another, from the step that they had come to."""
        for found in self._client.list_workflows(workflow_ids=list(ids), status="PENDING", load_output=False):
            self._client.resume_workflows([found.workflow_id], queue_name=_queue_of(found))

    def let_go(self, *, before: float, most: int) -> int:
        """Delete this home's work that ended: what was given before a time, and what goes beyond the newest so many.

        Parts stay as long as their whole is open. Says how many were deleted.
        """
        client = self._client
        queues = [self._system.queue(queue) for queue in Queue] if self._system.owner.id else []
        end = datetime.fromtimestamp(before, UTC).isoformat()
        bounds: tuple[dict[str, Any], ...] = ({"end_time": end}, {"offset": most, "sort_desc": True})

        def ended(*states: str, **narrowed: Any) -> list[WorkflowStatus]:
            bare: dict[str, Any] = {"name": WORKFLOW, "status": list(states), "limit": AT_ONCE, **UNREAD, **narrowed}
            return [each for bound in bounds for each in client.list_workflows(**bare, **bound)]

        listed = ended(*ENDED, queue_name=queues or None)
        if queues:  # what is cancelled stands in no queue any more, so it is found among everybody's
            listed += [each for each in ended("CANCELLED") if _queue_of(each) in queues]
        wholes = list({each.parent_workflow_id for each in listed if each.parent_workflow_id})
        still_open = client.list_workflows(workflow_ids=wholes, status=list(OPEN), **UNREAD) if wholes else []
        kept = {each.workflow_id for each in still_open}
        gone = {each.workflow_id for each in listed if each.parent_workflow_id not in kept}
        client.delete_workflows(list(gone))
        return len(gone)


@contextlib.contextmanager
def given_orders(home: Home) -> Iterator[GivenOrders]:
    """The orders of a home, with a connection that is closed at the end."""
    system = system_of(home)
    distrust_rows()
    with explained(system):
        # One at a time makes the tables in a file; a server sees to that itself.
        with contextlib.nullcontext() if home.database_url else locked(home.folder):
            DBOS.migrate(system.url, schema=system.schema)  # two milliseconds where there is nothing to do
        client = DBOSClient(
            system_database_url=system.url,
            dbos_system_schema=system.schema,
            serializer=DBOSPortableJSONSerializer(),
            application_name=NAME,
            retry_connection_errors=False,
        )
        try:
            yield GivenOrders(client, system)
        except DBOSException as error:
            raise WhetError(
                f"The engine refused: {error}", advice="To see the state of the work, run `whet worker list`."
            ) from error
        finally:
            client.destroy()


def identity(kind: str, key: str) -> str:
    """The id of an order: its kind in clear, its key as a hash, so that any text can be a key."""
    return f"{kind}-{hashlib.blake2b(key.encode(), digest_size=ID_BYTES).hexdigest()}"


def seal_on(system: System, kind: str, body: str) -> str:
    """The seal of the home that gives an order: another home's worker, or a forger, has none that fits."""
    return system.owner.seal(WORKFLOW, kind, body)


def has_given(system: System, kind: str, body: str, seal: str) -> bool:
    """Whether this home gave this very order."""
    return system.owner.has_sealed(seal, WORKFLOW, kind, body)


def _work(found: WorkflowStatus) -> Work:
    (kind, body), noted = arguments_in(found), found.attributes or {}
    is_worn_out = found.status == "CANCELLED" and int(noted.get(TAKEOVERS, 0)) > MOST_TAKEOVERS
    state = WorkState.FAILED if is_worn_out else STATES.get(found.status, WorkState.FAILED)
    error = f"{MOST_TAKEOVERS} workers died while running it" if is_worn_out else str(found.error or "")
    return Work(
        id=found.workflow_id,
        kind=kind,
        queue=_queue_of(found),
        state=state,
        created=(found.created_at or 0) / 1000,
        changed=(found.updated_at or found.created_at or 0) / 1000,
        error=error,
        left=done_in(found.error) or Done(),
        done=done_in(found.output) if state is WorkState.DONE else None,
        body=body,
        worker=found.executor_id or "",
        waits=float(noted.get(WAITS, 0)) if state is WorkState.RUNNING else 0.0,
    )


def _queue_of(found: WorkflowStatus) -> str:
    """The engine takes what is cancelled out of its queue, so its name stands beside it too."""
    return found.queue_name or str((found.attributes or {}).get(QUEUE, ""))


def _failed(step: StepInfo) -> bool:
    """Whether a step ended with an error of ours, or with a person's mistake that it remembered."""
    if step["error"] is not None:
        return True
    try:
        outcome = msgspec.json.decode(text_of(step["output"]), type=Remembered)
    except msgspec.MsgspecError:
        return False  # the engine's own steps give other things
    return bool(outcome.error) or outcome.is_unsure
