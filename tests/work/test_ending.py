"""The end of a worker, which Python's own end must not overtake."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from patience import PATIENCE_SECONDS
from whet.store.home import Home
from whet.work.orders import Queue
from whet.work.worker import launched
from work.engine_worker import PROCEDURES

TORN_DOWN = "Python took itself apart"
PROGRAM = f"""
import atexit, sys, threading
from whet.work.worker import leave
atexit.register(print, {TORN_DOWN!r})
threading.Thread(target=threading.Event().wait, args=([None, 0][sys.argv[1] == "ends"],), daemon=True).start()
while sys.argv[1] == "ends" and threading.active_count() > 1:
    pass
leave(3)
"""


def test_a_worker_ends_after_the_last_of_its_threads(tmp_path: Path) -> None:
    """One that outlives the engine's own, as a thread does whose disk is slow."""
    ended = threading.Event()

    def outlive(others: list[threading.Thread]) -> None:
        for thread in others:
            thread.join()
        threading.Event().wait(0.3)  # for a worker that does not wait to be noticed
        ended.set()

    before = threading.enumerate()
    with launched(Home(tmp_path / "home"), PROCEDURES, queues=list(Queue), concurrency=1):
        begun = [thread for thread in threading.enumerate() if thread not in before]
        threading.Thread(target=outlive, args=(begun,), daemon=True).start()
    assert ended.is_set()
    assert not [thread for thread in threading.enumerate() if thread.daemon and thread not in before]


def test_a_worker_waits_for_no_thread_that_has_to_outlive_its_engine(home: Home) -> None:
    told: list[str] = []
    with launched(home, PROCEDURES, queues=list(Queue), concurrency=1, tell=told.append):
        pass
    assert told == []


@pytest.mark.parametrize("thread", ["stays", "ends"])
def test_nothing_is_torn_down_under_a_thread_that_will_not_end(thread: str) -> None:
    command = [sys.executable, "-c", PROGRAM, thread]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 3, done.stderr
    assert (TORN_DOWN in done.stdout) is (thread == "ends")
