"""Workers for the tests, one after the other: each dies by kill -9 where it is told to, and the next goes on."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from whet.engine.orders import Done, Procedure, Procedures, Queue
from whet.engine.steps import Steps
from whet.engine.worker import launched
from whet.learning import job_runs
from whet.store import job_records
from whet.store.home import Home, find_home
from whet.store.opening import opened

MOST_WORKERS = 20


class Deadly:
    """Steps in which the worker dies before or after the effect, once, where the folder holds a file that says so."""

    def __init__(self, steps: Steps, folder: Path) -> None:
        self.id, self.interrupt = steps.id, steps.interrupt
        self.spread = steps.spread
        self._steps, self._folder = steps, folder

    def do(self, name: str, function: Callable[[], str]) -> str:
        return self._steps.do(name, lambda: self._deadly(name, function))

    def once(self, name: str, function: Callable[[], str]) -> str:
        return self._steps.once(name, lambda: self._deadly(name, function))

    def _deadly(self, name: str, function: Callable[[], str]) -> str:
        self._die(f"before {name}")
        value = function()
        self._die(f"after {name}")
        return value

    def _die(self, point: str) -> None:
        try:
            (self._folder / f"die {point}").rename(self._folder / f"died {point}")
        except FileNotFoundError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def procedures(folder: Path) -> Procedures:
    def deadly(home: Home, steps: Steps, body: str) -> Done:
        with opened(home) as database:
            record = job_records.record_of(database, msgspec.json.decode(body, type=job_runs.Ask).run)
        return job_runs.job(home, Deadly(steps, folder / record.job.name), body)

    return {job_runs.KIND: Procedure(Queue.JOBS, deadly)}


def work_off(folder: Path) -> None:
    with launched(find_home(os.environ), procedures(folder), queues=[Queue.JOBS], concurrency=1) as worker:
        while True:
            worker.look_after()
            if worker.is_idle():
                break
            time.sleep(0.05)


def main(folder: Path) -> None:
    """Forks, so that what is slow to load is loaded once."""
    for deaths in range(MOST_WORKERS):
        child = os.fork()
        if child == 0:
            work_off(folder)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.stdout.write(f"{deaths} {os.waitstatus_to_exitcode(status)}\n")
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
