"""Durable work: done once, whoever dies; listed, cancelled and retried."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lengths import long, long_on_postgres
from patience import PATIENCE_SECONDS
from patience import until as wait_for
from whet.errors import WhetError
from whet.store.home import Home
from whet.work.given import Work, WorkState, given_orders
from whet.work.orders import Done, Order, Queue, decoded, encoded
from work.engine_worker import LETTER, PAID, STEPS, Load

WORKER = Path(__file__).with_name("engine_worker.py")
ALL_POINTS = (*(f"{when}-{name}" for name in (*STEPS, LETTER) for when in ("before", "after")), "between")
SOME_POINTS = ("after-second", f"after-{LETTER}")


def start(home: Home, *lives: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "WHET_HOME": str(home.folder), "WHET_DATABASE_URL": home.database_url}
    return subprocess.Popen([sys.executable, str(WORKER), *lives], env=environment, stdout=subprocess.PIPE, text=True)


def work_off(home: Home) -> int:
    """Run a worker until nothing is left, or until it dies."""
    worker = start(home)
    worker.communicate(timeout=PATIENCE_SECONDS)
    return worker.returncode


def lives(home: Home, most: int) -> list[int]:
    """How workers ended, one after another, until nothing was left."""
    said, _ = start(home, str(most)).communicate(timeout=most * PATIENCE_SECONDS)
    return [int(end) for end in said.split()]


@contextlib.contextmanager
def running(home: Home, count: int) -> Iterator[list["subprocess.Popen[str]"]]:
    workers = [start(home) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def until(home: Home, id: str, *states: WorkState) -> Work:
    """Wait until the work has come so far."""
    with given_orders(home) as orders:
        wait_for(lambda: orders.find(id).state in states)
        return orders.find(id)


def submit(home: Home, kind: str, body: str, *, key: str = "one", queue: Queue = Queue.JOBS) -> str:
    with given_orders(home) as orders:
        return orders.submit(Order(kind, key, body), queue)


def times(folder: Path, name: str) -> int:
    path = folder / name
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("points", [SOME_POINTS, pytest.param(ALL_POINTS, marks=long)], ids=["some", "all"])
def test_a_worker_that_dies_anywhere_loses_nothing_and_repeats_only_what_may_be_repeated(
    home: Home, tmp_path: Path, points: tuple[str, ...]
) -> None:
    """Many points of death at once: one worker after another dies at its own, in orders that all must end."""
    ids = {}
    for point in (*points, "nowhere"):
        folder = tmp_path / point
        folder.mkdir()
        if point != "nowhere":
            (folder / f"die-{point}").touch()
        ids[point] = submit(home, "tale", str(folder), key=point)
    *deaths, end = lives(home, len(ids))
    assert set(deaths) == {-signal.SIGKILL}
    assert end == 0
    for point, id in ids.items():
        folder = tmp_path / point
        work = until(home, id, WorkState.DONE)
        assert work.done is not None
        told = work.done.summary.split()
        assert told[:3] == list(STEPS)
        assert told[3] in (LETTER, "unsure")
        assert not list(folder.glob("die-*")), point
        assert times(folder, LETTER) <= 1
        assert (told[3] == LETTER) <= (times(folder, LETTER) == 1), "what is reported as done was done"
        repeated = {name: 2 if point == f"after-{name}" else 1 for name in STEPS}
        assert {name: times(folder, name) for name in STEPS} == repeated
    assert times(tmp_path / "nowhere", LETTER) == 1


def test_workers_share_the_parts_and_the_living_finish_what_the_dead_began(home: Home, tmp_path: Path) -> None:
    (tmp_path / "die-after-part-3").touch()
    id = submit(home, "crowd", str(tmp_path), queue=Queue.TRIALS)
    with running(home, 2):
        work = until(home, id, WorkState.DONE)
        assert work.done == Done(summary="12 parts")
    assert not (tmp_path / "die-after-part-3").exists()
    assert [times(tmp_path, f"part-{number}") for number in range(12) if number != 3] == [1] * 11


def test_the_same_key_is_the_same_work(home: Home, tmp_path: Path) -> None:
    assert submit(home, "tale", str(tmp_path)) == submit(home, "tale", "elsewhere")
    with given_orders(home) as orders:
        assert [work.body for work in orders.all()] == [str(tmp_path)]


def test_of_work_that_stands_alone_only_one_is_open_at_a_time(home: Home) -> None:
    with given_orders(home) as orders:
        first = orders.submit(Order("tale", "one", "a", alone="session"), Queue.JOBS)
        assert orders.submit(Order("tale", "two", "b", alone="session"), Queue.JOBS) == first
        assert orders.submit(Order("tale", "three", "c", alone="other"), Queue.JOBS) != first
        orders.cancel(first)
        assert orders.submit(Order("tale", "four", "d", alone="session"), Queue.JOBS) != first


@long_on_postgres
def test_what_failed_says_why_and_is_retried_from_where_it_failed(home: Home, tmp_path: Path) -> None:
    id = submit(home, "failing", str(tmp_path / "needed"))
    assert work_off(home) == 0
    failed = until(home, id, WorkState.FAILED)
    assert failed.error == "The file is not there. Make it."
    assert failed.spent == PAID, "and what it cost all the same"
    (tmp_path / "needed").touch()
    with given_orders(home) as orders:
        again = orders.retry(id)
    assert work_off(home) == 0
    done = until(home, again.id, WorkState.DONE)
    assert done.done is not None
    assert done.done.summary == "there"
    assert times(tmp_path, "before") == 1


def test_a_part_that_failed_is_done_again_when_the_whole_is_retried(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    id = submit(home, "leading", str(tmp_path), queue=Queue.TRIALS)
    assert work_off(home) == 0
    failed = until(home, id, WorkState.FAILED)
    assert "The file is not there" in failed.error
    assert failed.spent == PAID
    (tmp_path / "needed").touch()
    with given_orders(home) as orders:
        again = orders.retry(id)
    assert work_off(home) == 0
    assert until(home, again.id, WorkState.DONE)
    assert [times(tmp_path, name) for name in ("one", "two")] == [1, 1]


@long_on_postgres
def test_what_was_cancelled_can_be_retried(home: Home, tmp_path: Path) -> None:
    with given_orders(home) as orders:
        id = orders.submit(Order("tale", "one", str(tmp_path)), Queue.JOBS)
        queue = orders.find(id).queue
        orders.cancel(id)
        again = orders.retry(id)
        assert (again.state, again.queue, again.body) == (WorkState.QUEUED, queue, str(tmp_path))
    assert work_off(home) == 0
    assert until(home, again.id, WorkState.DONE)
    assert [times(tmp_path, name) for name in (*STEPS, LETTER)] == [1, 1, 1, 1]
    with given_orders(home) as orders, pytest.raises(WhetError, match="is done"):
        orders.retry(again.id)


@long_on_postgres
def test_cancelling_stops_a_step_that_listens(home: Home, tmp_path: Path) -> None:
    id = submit(home, "endless", str(tmp_path / "begun"))
    with running(home, 1) as [worker]:
        until(home, id, WorkState.RUNNING)
        with given_orders(home) as orders:
            assert orders.cancel(id).state is WorkState.CANCELLED
        worker.communicate(timeout=PATIENCE_SECONDS)
    with given_orders(home) as orders:
        assert orders.find(id).state is WorkState.CANCELLED
        with pytest.raises(WhetError, match="already cancelled"):
            orders.cancel(id)


def test_unknown_work_is_a_persons_mistake(home: Home) -> None:
    with given_orders(home) as orders:
        assert orders.all() == ()
        with pytest.raises(WhetError, match="no work nothing"):
            orders.find("nothing")


def test_work_that_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    id = submit(home, "deadly", str(tmp_path / "deaths"))
    assert lives(home, 5) == [-signal.SIGKILL] * 4 + [0]
    with given_orders(home) as orders:
        assert orders.find(id).state is WorkState.FAILED
        assert "workers died" in orders.find(id).error


def test_work_of_a_kind_that_this_version_does_not_know_is_refused_not_lost(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    id = submit(home, "dance", "{}")
    assert work_off(home) == 0
    assert "does not know work of the kind dance" in until(home, id, WorkState.FAILED).error


def test_requests_and_steps_are_values_whoever_goes_on_with_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    (tmp_path / "die-between").touch()
    id = submit(home, "carrying", encoded(Load(str(tmp_path), (Queue.CHORES,))))
    assert [work_off(home), work_off(home)] == [-signal.SIGKILL, 0]
    done = until(home, id, WorkState.DONE).done
    assert done is not None
    assert decoded(done.value, Load) == Load(str(tmp_path), (Queue.JOBS, Queue.CHORES))


def test_work_that_another_version_ordered_in_another_form_is_refused_with_advice(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    id = submit(home, "carrying", '{"folder": 7}')
    assert work_off(home) == 0
    error = until(home, id, WorkState.FAILED).error
    assert "Another version of Whet" in error
    assert "Submit it again." in error
