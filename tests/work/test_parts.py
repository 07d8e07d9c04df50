"""Work spread over the workers: given ahead, taken in the planned order, and put back by those who cannot do it."""

import signal
from pathlib import Path

from lengths import long_on_postgres
from whet.store.home import Home
from whet.work.given import WorkState, given_orders
from whet.work.orders import Queue
from work.test_engine import submit, times, work_off


@long_on_postgres
def test_a_part_that_is_put_back_is_given_again_and_not_once_more_when_the_whole_is_retried(
    home: Home, tmp_path: Path
) -> None:
    id = submit(home, "patient", str(tmp_path), queue=Queue.TRIALS)
    assert work_off(home) == 0
    with given_orders(home) as orders:
        assert orders.find(id).state is WorkState.FAILED
        assert [times(tmp_path, f"shy-{number}") for number in range(2)] == [3, 3]
        (tmp_path / "needed").touch()
        again = orders.retry(id).id
    assert work_off(home) == 0
    with given_orders(home) as orders:
        work = orders.find(again)
    assert work.state is WorkState.DONE, work.error
    assert work.done is not None
    assert work.done.summary == "shy-0 shy-1"
    assert [times(tmp_path, f"shy-{number}") for number in range(2)] == [3, 3]


@long_on_postgres
def test_what_was_given_ahead_is_taken_in_order_and_the_rest_is_taken_back(home: Home, tmp_path: Path) -> None:
    (tmp_path / "die-between").touch()
    id = submit(home, "rolling", str(tmp_path), queue=Queue.TRIALS)
    assert [work_off(home) for _ in range(2)] == [-signal.SIGKILL, 0]
    with given_orders(home) as orders:
        work = orders.find(id)
        assert orders.open() == ()
    assert work.done is not None
    assert work.done.summary == "part-0 part-1 part-2 part-3"
    made = [number for number in range(40) if times(tmp_path, f"part-{number}")]
    assert made[:4] == [0, 1, 2, 3]
    assert len(made) < 40, "what was not begun is not done"
