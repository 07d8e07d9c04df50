"""Parts of durable work, spread over the workers: given a little ahead, so that nobody waits, and taken in order."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from threading import Event
from typing import NamedTuple

import msgspec

from whet.engine.library import DBOS, PortableWorkflowError, SetWorkflowID, WorkflowHandle
from whet.engine.orders import Done, Failed
from whet.engine.steps import T, decoded, encoded
from whet.engine.work import identity
from whet.values import Value

LOOK_SECONDS = 0.5
AHEAD = 24  # orders at least that wait for a worker while others are carried out
OPEN = frozenset({"ENQUEUED", "DELAYED", "PENDING"})


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


class PartsQueue(NamedTuple):
    """How parts are given: the queue, what carries them out, and the seal of an order of their kind."""

    queue: str
    carry_out: Callable[[str, str, str], str]
    kind: str
    seal: Callable[[str], str]


class Parts:
    """The parts of one order of one kind. What it does next it decides by steps that are remembered: `keep` keeps one.

    A part that a worker put back is given again, under another id, until a worker can carry it out.
    """

    def __init__(self, queue: PartsQueue, keep: Callable[[str, Callable[[], str]], str], interrupt: Event) -> None:
        self._queue = queue
        self._keep = keep
        self._interrupt = interrupt
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
        queue, carry_out, kind, seal = self._queue
        with SetWorkflowID(identity(kind, key if times == 1 else f"{key} ({times})")):
            handle = DBOS.enqueue_workflow(queue, carry_out, kind, body, seal(body))
        self._open[key] = GivenPart(body, handle, times)

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
                "The result of one part of this work cannot be read.", advice="To see it, run `whet work`."
            ) from error
        except PortableWorkflowError as error:
            left = msgspec.convert(error.data, Done) if isinstance(error.data, dict) else Done()
            why = f"A part of this work failed: {error}"
            raise Failed(why, advice="To see it, run `whet work`.", spent=left.spent, sessions=left.sessions) from error
