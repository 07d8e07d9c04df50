"""Workers for the tests, one after the other: each dies by kill -9 where it is told to, and the next goes on.

A file in the folder of what is done says where: "die before STEP", "die after STEP", or "die in FUNCTION", which is
when a step comes back from a function of that name. The file is taken away, so that each death happens once.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from proving.trial_scenes import repeats_unless_told, supply_of
from whet.improving import improve
from whet.proving import attempt
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import opened, owner_of
from whet.trials.attempts import AttemptRequest
from whet.trials.improvements import ImproveRequest
from whet.work import clock, job_runs
from whet.work.orders import Done, Procedure, Procedures, Queue, Steps, T
from whet.work.system import CLOCK
from work.engine_worker import main as work_until_idle
from work.engine_worker import one_after_another

MOST_WORKERS = 20
Run = Callable[[Home, Steps, Any], Done]


class Deadly:
    """Steps in which the worker dies before, in or after the effect, once, where the folder holds such a file."""

    def __init__(self, steps: Steps, folder: Path) -> None:
        self.id, self.interrupt = steps.id, steps.interrupt
        self.spread, self.withdraw = steps.spread, steps.withdraw
        self._steps, self._folder = steps, folder

    def do(self, name: str, function: Callable[[], T], type: type[T]) -> T:
        return self._steps.do(name, lambda: self._deadly(name, function), type)

    def once(self, name: str, function: Callable[[], T], type: type[T]) -> T:
        return self._steps.once(name, lambda: self._deadly(name, function), type)

    def _deadly(self, name: str, function: Callable[[], T]) -> T:
        self._die(f"before {name}")
        waiting = {path.name.removeprefix("die in ") for path in self._folder.glob("die in *")}
        if waiting:
            sys.setprofile(partial(self._look, waiting))
        try:
            value = function()
        finally:
            sys.setprofile(None)
        self._die(f"after {name}")
        return value

    def _look(self, waiting: set[str], frame: FrameType, event: str, _given: object) -> None:
        if event == "return" and frame.f_code.co_name in waiting:
            self._die(f"in {frame.f_code.co_name}")

    def _die(self, point: str) -> None:
        try:
            (self._folder / f"die {point}").rename(self._folder / f"died {point}")
        except FileNotFoundError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def procedures(folder: Path) -> Procedures:
    """What the worker can do. The folder of a run is named for its job, that of other work for its kind."""

    def of_job(run: Run, home: Home, steps: Steps, ask: job_runs.JobRequest) -> Done:
        with opened(home) as database:
            record = job_records.record_of(database, owner_of(home), ask.run)
        return run(home, Deadly(steps, folder / record.job.name), ask)

    def of_kind(kind: str, run: Run, home: Home, steps: Steps, ask: object) -> Done:
        return run(home, Deadly(steps, folder / kind), ask)

    supply = supply_of(repeats_unless_told, folder / "log")
    return {
        job_runs.KIND: Procedure(Queue.JOBS, partial(of_job, job_runs.job), job_runs.JobRequest),
        job_runs.DELIVERY: Procedure(Queue.JOBS, partial(of_job, job_runs.delivery), job_runs.JobRequest),
        improve.KIND: Procedure(
            Queue.TRIALS, partial(of_kind, improve.KIND, partial(improve.improve, supply=supply)), ImproveRequest
        ),
        attempt.KIND: Procedure(Queue.ATTEMPTS, partial(attempt.attempt, supply=supply), AttemptRequest),
        CLOCK: Procedure(Queue.CHORES, partial(of_kind, CLOCK, clock.clock), str),
    }


def work_off(folder: Path) -> None:
    able = procedures(folder)
    queues = [Queue.JOBS]  # one thing after the other, so that each death hits what it is meant for
    if not (folder / CLOCK).exists():
        able = {kind: procedure for kind, procedure in able.items() if kind != CLOCK}
        queues = [Queue.JOBS, Queue.TRIALS, Queue.ATTEMPTS]
    work_until_idle(able, queues)


if __name__ == "__main__":
    ended = one_after_another(partial(work_off, Path(sys.argv[1])), most=MOST_WORKERS)
    sys.stdout.write(f"{len(ended) - 1} {ended[-1]}\n")
