"""A worker for the tests of trials, as a program: it dies at a call of its model when it is told to, by kill -9."""

import functools
import os
import signal
import time
from pathlib import Path

from proving.trial_scenes import obeys, supply_of
from whet.agent.protocols import Reply
from whet.own.runs.run import Run
from whet.proving import attempt, plan, trial
from whet.store.home import find_home
from whet.trials.attempts import AttemptRequest
from whet.trials.design import Trial
from whet.work.orders import Procedure, Procedures, Queue
from whet.work.worker import launched


def main() -> None:
    folder = Path(os.environ["TRIAL_FOLDER"])
    supply = supply_of(functools.partial(mortal, folder), folder / "log")
    procedures: Procedures = {
        plan.KIND: Procedure(Queue.TRIALS, trial.trial, Trial),
        attempt.KIND: Procedure(Queue.ATTEMPTS, functools.partial(attempt.attempt, supply=supply), AttemptRequest),
    }
    queues = [Queue.TRIALS, Queue.ATTEMPTS]
    with launched(find_home(os.environ), procedures, queues=queues, concurrency=2) as worker:
        while not worker.is_idle():
            worker.look_after()
            time.sleep(0.1)


def mortal(folder: Path, run: Run) -> Reply:
    """Answers, or dies at the first call from the one on that a file names, which is then taken away.

    Two calls at once may both be in the log before either looks, so a death waits for no exact number of calls.
    """
    calls = len((folder / "log").read_text().splitlines())
    for path in folder.glob("die-*"):
        if int(path.name.removeprefix("die-")) <= calls:
            path.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
    return obeys(run)


if __name__ == "__main__":
    main()
