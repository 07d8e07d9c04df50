"""Ended work is kept for a time and up to a number: the engine's database does not grow for ever."""

import signal
from pathlib import Path

import pytest

from whet.store.home import Home
from whet.work.clock import DAY, look
from whet.work.given import WorkState, given_orders
from whet.work.orders import Order, Queue
from whet.work.system import FILE
from work.test_engine import submit, until, work_off

KEPT = 20
FAR_OFF = 4e9  # later than any work that ended


def end(home: Home, count: int, *, first: int = 0) -> None:
    """Orders that ended, each with a body as long as a usual one."""
    with given_orders(home) as orders:
        for number in range(first, first + count):
            orders.cancel(orders.submit(Order("tale", str(number), "x" * 500), Queue.JOBS))


def test_the_newest_ended_work_is_kept_and_all_that_is_open(home: Home) -> None:
    open_one = submit(home, "tale", "waits")
    end(home, KEPT + 5)
    with given_orders(home) as orders:
        assert orders.let_go(before=0.0, most=KEPT) == 5
        assert orders.let_go(before=0.0, most=KEPT) == 0
        assert len(orders.all()) == KEPT + 1
        assert orders.let_go(before=FAR_OFF, most=KEPT) == KEPT
        assert [work.id for work in orders.all()] == [open_one]


def test_the_clock_lets_go_of_old_work(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    end(home, 3)
    with given_orders(home) as orders:
        now = max(work.changed for work in orders.all())
    look(home, now=now + 29 * DAY)
    with given_orders(home) as orders:
        assert len(orders.all()) == 3
    look(home, now=now + 31 * DAY)
    with given_orders(home) as orders:
        assert orders.all() == ()


def test_a_home_lets_go_of_its_own_work_only(tmp_path: Path, postgres_url: str) -> None:
    one, two = (Home(tmp_path / name, postgres_url) for name in ("one", "two"))
    end(one, 2)
    end(two, 2, first=2)
    with given_orders(one) as orders:
        assert orders.let_go(before=FAR_OFF, most=KEPT) == 2
        assert len(orders.all()) == 2


@pytest.mark.parametrize("home", ["sqlite"], indirect=True)
def test_the_file_stops_growing(home: Home) -> None:
    sizes = []
    for round in range(6):
        end(home, KEPT, first=round * KEPT)
        with given_orders(home) as orders:
            orders.let_go(before=0.0, most=KEPT)
        sizes.append((home.folder / FILE).stat().st_size)
    assert sizes[-1] == sizes[2]


def test_parts_stay_while_their_whole_is_open(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    (tmp_path / "die-after-part-3").touch()
    id = submit(home, "crowd", str(tmp_path), queue=Queue.TRIALS)
    assert work_off(home) == -signal.SIGKILL
    with given_orders(home) as orders:
        assert any(work.state is WorkState.DONE for work in orders.all())
        assert orders.let_go(before=0.0, most=0) == 0
    assert work_off(home) == 0
    assert until(home, id, WorkState.DONE)
    with given_orders(home) as orders:
        assert orders.let_go(before=0.0, most=0) == 13, "the whole and its twelve parts"
