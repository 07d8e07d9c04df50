"""A worker of one machine of a fleet, as a program: it writes down what its model was told."""

import functools
import hashlib
import os
import sys
import time
from pathlib import Path

from patience import until
from proving.trial_scenes import WORDS, obeys, supply_of
from whet.agent.protocols import Chosen, Reply
from whet.agent.providers.choosing import Supply
from whet.own.runs.models import address_of
from whet.own.runs.run import Run
from whet.own.runs.settings import Settings
from whet.proving import attempt, plan, trial
from whet.store.home import Home, find_home
from whet.trials.attempts import AttemptRequest
from whet.trials.design import Trial
from whet.work.given import given_orders
from whet.work.orders import Procedure, Procedures, Queue
from whet.work.worker import launched

FOLDER = Path(os.environ["TRIAL_FOLDER"])


def main() -> None:
    role, id = sys.argv[1:]
    home = find_home(os.environ)
    if role == "first":
        until(lambda: (FOLDER / "second-ready").exists())
    procedures: Procedures = {
        plan.KIND: Procedure(Queue.TRIALS, trial.trial, Trial),
        attempt.KIND: Procedure(
            Queue.ATTEMPTS, functools.partial(attempt.attempt, supply=supply_for(role)), AttemptRequest
        ),
    }
    queues = [Queue.TRIALS, Queue.ATTEMPTS]
    with launched(home, procedures, queues=queues, concurrency=2) as worker, given_orders(home) as orders:
        (FOLDER / f"{role}-ready").touch()
        while orders.find(id).is_open:
            worker.look_after()
            time.sleep(0.1)


def supply_for(role: str) -> Supply:
    """A model that needs settings. The first machine's answers when the second has had its turn."""

    def answer(run: Run) -> Reply:
        prompt = hashlib.blake2b(run.system.encode(), digest_size=8).hexdigest()
        with (FOLDER / "told").open("a") as file:
            file.write(f"{role} {WORDS in run.system} {prompt}\n")
        return obeys(run)

    def supply(home: Home, settings: Settings, model: str) -> Chosen:
        if role == "second":
            (FOLDER / "second-asked").touch()
        else:
            until(lambda: (FOLDER / "second-asked").exists())
        address_of(settings)
        return supply_of(answer)(home, settings, model)

    return supply


if __name__ == "__main__":
    main()
