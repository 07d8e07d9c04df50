"""A trial whose workers are killed: it goes on where it was, and nothing that was paid for is repeated."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from command import runner
from lengths import long_on_postgres
from patience import PATIENCE_SECONDS
from proving.trial_scenes import RULE, prepared, questions
from whet.evidence.verdicts import Ruling
from whet.ledger.entries import Step
from whet.proving.plan import WantedTrial, order
from whet.store.attempts import attempts_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.trials.design import TrialProgress
from whet.work.given import WorkState, given_orders
from whet.work.orders import Queue

WORKER = Path(__file__).with_name("trial_worker.py")
DEATHS = (3, 11)


def work_off(home: Home, folder: Path) -> int:
    environment = {
        **os.environ,
        "WHET_HOME": str(home.folder),
        "WHET_DATABASE_URL": home.database_url,
        "TRIAL_FOLDER": str(folder),
        "PYTHONPATH": str(WORKER.parents[1]),
    }
    return subprocess.run(
        [sys.executable, str(WORKER)], env=environment, timeout=PATIENCE_SECONDS, check=False
    ).returncode


@long_on_postgres
def test_a_trial_survives_kill_9_without_paying_twice(home: Home, database: Database, tmp_path: Path) -> None:
    for number in DEATHS:
        (tmp_path / f"die-{number}").touch()
    ready = prepared(home, database, WantedTrial(RULE, questions(20)))
    with given_orders(home) as orders:
        id = orders.submit(order(ready), Queue.TRIALS)
        assert orders.submit(msgspec.structs.replace(order(ready), key="again"), Queue.TRIALS) == id, "it is open"
    ends = [work_off(home, tmp_path) for _ in range(len(DEATHS) + 1)]
    assert ends == [-signal.SIGKILL] * len(DEATHS) + [0]
    with given_orders(home) as orders:
        work = orders.find(id)
    assert work.state is WorkState.DONE
    assert work.done is not None
    progress = msgspec.json.decode(work.done.value, type=TrialProgress)
    assert progress.result.verdict.ruling is Ruling.ACCEPT
    asked = Counter((tmp_path / "log").read_text().splitlines())
    # Of each attempt's one call only those are repeated that were under way in a worker that died, or at the end.
    made = len(attempts_of(database, ready.id))
    assert made >= progress.attempts, "some were begun ahead"
    assert 1 <= sum(asked.values()) - made <= 2 * (len(DEATHS) + 1)
    assert progress.result.spent.model_calls == progress.attempts
    assert [entry.step for entry in Ledger(database).entries()] == [Step.ACCEPTED]


@pytest.mark.parametrize("home", ["sqlite"], indirect=True)
def test_a_trial_that_was_cancelled_goes_on_where_it_was(
    home: Home, database: Database, tmp_path: Path, person: Path
) -> None:
    """Its worker was killed in an attempt, so that some attempts were made, some had begun and some had not."""
    whet = runner(home.folder, person)
    (tmp_path / "die-3").touch()
    ready = prepared(home, database, WantedTrial(RULE, questions(4)))
    with given_orders(home) as orders:
        id = orders.submit(order(ready), Queue.TRIALS)
    assert work_off(home, tmp_path) == -signal.SIGKILL
    cancelled = whet("worker", "cancel", id, "--json")
    assert cancelled.json["state"] == "cancelled", cancelled.err
    assert work_off(home, tmp_path) == 0
    made = (tmp_path / "log").read_text()
    again = whet("worker", "retry", id, "--json")
    assert (again.json["state"], again.json["queue"]) == ("queued", "trials"), again.err
    assert work_off(home, tmp_path) == 0
    assert whet("worker", "list", again.json["id"], "--json").json["state"] == "done"
    asked = Counter((tmp_path / "log").read_text().splitlines())
    assert len(asked) == 8, "four cases with the rule and without it; the placebo is asked the same"
    assert 0 < sum(asked.values()) - 12 <= 2, "only what was under way when the worker died"
    assert (tmp_path / "log").read_text().startswith(made)
    assert len(Ledger(database).entries()) == 1
