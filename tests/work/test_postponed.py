"""Work that the day has no room for: it waits in its worker, says so, and is done again when there is room."""

from pathlib import Path

from lengths import long_on_postgres
from patience import until
from whet.own.runs.models import Postponed
from whet.store.home import Home
from whet.store.opening import opened
from whet.work.given import WorkState, given_orders
from whet.work.orders import Done, Order, Procedure, Procedures, Queue, Steps
from whet.work.system import OpenWork, count_open_work
from whet.work.worker import launched

TOMORROW = 4_000_000_000.0
LATER = TOMORROW - 1


def part(_home: Home, steps: Steps, body: str) -> Done:
    """Waits until the file is there."""

    def spend() -> str:
        if not Path(body).exists():
            raise Postponed(TOMORROW, Path(body).exists)
        return "spent"

    return Done(value=f'"{steps.do("spend", spend, str)}"')


def whole(_home: Home, steps: Steps, body: str) -> Done:
    [value] = steps.spread("part", [(f"{steps.id}/1", body)], str)
    return Done(summary=value)


PROCEDURES: Procedures = {
    "whole": Procedure(Queue.TRIALS, whole, str),
    "part": Procedure(Queue.ATTEMPTS, part, str),
}
QUEUES = (Queue.TRIALS, Queue.ATTEMPTS)


def test_a_part_without_room_holds_its_whole_up_and_both_end_when_there_is_room(home: Home, tmp_path: Path) -> None:
    room = tmp_path / "room"
    with given_orders(home) as orders:
        id = orders.submit(Order("whole", "one", str(room)), Queue.TRIALS)
    with launched(home, PROCEDURES, queues=QUEUES, concurrency=1) as worker, given_orders(home) as orders:

        def is_held_up() -> bool:
            worker.look_after()
            return worker.is_held_up()

        until(is_held_up)
        [held] = [work for work in orders.open() if work.waits]
        assert (held.kind, held.waits, held.state) == ("part", TOMORROW, WorkState.RUNNING)
        with opened(home) as database:
            assert count_open_work(home, database, now=LATER) == OpenWork(0, 1, 1, TOMORROW)
        room.touch()
        until(lambda: orders.find(id).state is WorkState.DONE)
        worker.look_after()
        assert not worker.is_held_up()
        assert [work.waits for work in orders.all()] == [0, 0]


@long_on_postgres
def test_work_that_waits_can_be_cancelled(home: Home, tmp_path: Path) -> None:
    with given_orders(home) as orders:
        id = orders.submit(Order("part", "one", str(tmp_path / "never")), Queue.ATTEMPTS)
    with launched(home, PROCEDURES, queues=QUEUES, concurrency=1) as worker, given_orders(home) as orders:

        def is_held_up() -> bool:
            worker.look_after()
            return worker.is_held_up()

        until(is_held_up)
        orders.cancel(id)

        def is_stopped() -> bool:
            worker.look_after()
            return worker.is_idle()

        until(is_stopped)
        assert orders.find(id).state is WorkState.CANCELLED
