"""A rolling upgrade: a worker whose store is newer takes nothing and ends, and a newer one goes on with its work."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lengths import long_on_postgres
from patience import PATIENCE_SECONDS
from patience import until as wait_for
from whet.store.home import Home
from whet.store.opening import NEWEST, connect, opened
from whet.work.given import WorkState, given_orders
from whet.work.orders import Queue
from work.engine_worker import LETTER, STEPS
from work.test_engine import submit, times, until, work_off

WORKER = Path(__file__).with_name("engine_worker.py")


def start(home: Home) -> "subprocess.Popen[str]":
    environment = {**os.environ, "WHET_HOME": str(home.folder), "WHET_DATABASE_URL": home.database_url}
    return subprocess.Popen([sys.executable, str(WORKER)], env=environment, stderr=subprocess.PIPE, text=True)


def upgrade(home: Home) -> None:
    """What a newer Whet does to the store, as far as this one can see it."""
    with opened(home) as database:
        database.execute("INSERT INTO schema_steps (number, name) VALUES (999, 'from the future')")


def install_that_version(home: Home) -> None:
    """From here on this program is as new as the store."""
    with contextlib.closing(connect(home)) as database:
        database.execute("DELETE FROM schema_steps WHERE number = 999")


def test_a_worker_that_is_older_than_the_store_takes_nothing_and_says_so(home: Home, tmp_path: Path) -> None:
    id = submit(home, "tale", str(tmp_path))
    upgrade(home)
    worker = start(home)
    _, err = worker.communicate(timeout=PATIENCE_SECONDS)
    assert worker.returncode == 1
    assert f"schema 999; this one knows {NEWEST}" in err
    assert until(home, id, WorkState.QUEUED)
    assert times(tmp_path, STEPS[0]) == 0


@long_on_postgres
def test_work_of_a_worker_that_the_upgrade_overtakes_is_gone_on_with_by_a_newer_one(home: Home, tmp_path: Path) -> None:
    id = submit(home, "overtaken", str(tmp_path), queue=Queue.REVIEWS)
    worker = start(home)
    wait_for(lambda: (tmp_path / "begun").exists())
    later = submit(home, "tale", str(tmp_path), key="later")
    upgrade(home)
    (tmp_path / "is-newer").touch()
    worker.communicate(timeout=PATIENCE_SECONDS)
    assert worker.returncode == 1
    with given_orders(home) as orders:
        assert [orders.find(each).state for each in (id, later)] == [WorkState.QUEUED] * 2
    install_that_version(home)
    assert work_off(home) == 0
    assert until(home, id, WorkState.DONE)
    assert until(home, later, WorkState.DONE)
    assert [times(tmp_path, name) for name in ("begun", LETTER)] == [1, 1]


@pytest.mark.parametrize("home", ["sqlite"], indirect=True)
def test_a_worker_that_is_newer_than_the_store_brings_it_up_to_date(home: Home, tmp_path: Path) -> None:
    id = submit(home, "tale", str(tmp_path))
    assert not home.database_path.exists()
    assert work_off(home) == 0
    assert until(home, id, WorkState.DONE)
    with opened(home) as database:
        assert database.query("SELECT max(number) FROM schema_steps") == [(NEWEST,)]
