"""Workers killed while they look at the clock, hand over late reports or improve: nothing twice, nothing lost."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from lengths import long, long_on_postgres
from proving.trial_scenes import declare_shop, failing
from whet.improving import improve
from whet.ledger.entries import Step
from whet.own.jobs.job import Deliver, Job
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, JobResult, RunState, finished
from whet.store import job_records
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.opening import opened, owner_of
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.trials.design import TrialDesign
from whet.trials.improvements import ImproveReport, ImproveRequest, LessonResult
from whet.work.given import WorkState as WorkState
from whet.work.given import given_orders
from whet.work.orders import Queue, decoded
from whet.work.system import CLOCK
from work.job_scenes import deaths, lines, write

# Written down and not ordered; ordered and not noted; done and not remembered.
IN_CLOCK = ("in _write_down_due", "in submit", "after look", "after watch")
IN_DELIVERY: dict[str, tuple[str, Deliver, str]] = {
    "sent": ("after deliver", "command", "cat > letter; echo sent >> sent"),
    "unsent": ("before deliver", "command", "echo sent >> sent"),
    "noted": ("after note the delivery", "command", "echo sent >> sent"),
    "filed": ("after deliver", "file", "sent"),
}
IN_IMPROVEMENT = ("after prepare 1", "after verdict", "after keep 1")


def mortal(folder: Path, *points: str) -> None:
    folder.mkdir()
    for point in points:
        (folder / f"die {point}").touch()


def undelivered(home: Home, job: Job, now: float) -> None:
    """A run whose report did not arrive the first time."""
    ended = finished(JobRecord(f"run-{job.name}", job, now), JobResult(JobOutcome.DONE, "Two leaves."), now=now)
    with opened(home) as database:
        late = replace(ended, handing=DeliveryOutcome.FAILED, tries=1, next_try=now)
        job_records.save(database, owner_of(home), late)


@long_on_postgres
def test_the_clock_orders_once_and_late_reports_arrive_once_or_are_said_to_be_unsure(
    home: Home, tmp_path: Path
) -> None:
    now = time.time()
    write(home, Job("due", "every 2h", added=now - 3 * 3600, script="echo rain >> rain", workdir=str(tmp_path)))
    names = ("sent",) if home.database_url else tuple(IN_DELIVERY)
    points = IN_CLOCK[:2] if home.database_url else IN_CLOCK
    mortal(tmp_path / CLOCK, *points)
    for name in names:
        point, deliver, to = IN_DELIVERY[name]
        mortal(tmp_path / name, point)
        job = Job(name, "every 2h", added=now, script="echo", workdir=str(tmp_path / name), deliver=deliver, to=to)
        write(home, job)
        undelivered(home, job, now)
    assert deaths(home, tmp_path) == len(points) + len(names)
    assert not list(tmp_path.glob("*/die *"))
    with opened(home) as database, given_orders(home) as orders:
        [run] = job_records.runs(database, owner_of(home), "due", limit=9)
        assert run.state is RunState.ENDED
        assert (orders.open(), lines(tmp_path / "rain")) == ((), 1)
        assert sum(work.kind == "job" for work in orders.all()) == 1
        assert sum(work.kind == "delivery" for work in orders.all()) == len(names)
        found = {name: job_records.record_of(database, owner_of(home), f"run-{name}") for name in names}
    for name, record in found.items():
        assert record.handing is (
            DeliveryOutcome.UNSURE if name in ("sent", "unsent") else DeliveryOutcome.DELIVERED
        ), name
        assert record.tries == 2, name
        sent = (tmp_path / name / "sent").read_text() if name != "unsent" else ""
        assert sent.count("Two leaves." if name == "filed" else "sent") == (name != "unsent"), name


@long  # killed in every step, but in one process, in tests/improving
@pytest.mark.parametrize("home", ["sqlite"], indirect=True)  # trials are killed on both
def test_an_improvement_pays_for_no_attempt_twice_and_keeps_one_rule(
    home: Home, database: Database, tmp_path: Path
) -> None:
    declare_shop(home)
    for number in range(1, 13):
        keep(database, prepare(failing(number)), Provenance("", float(number), float(number)))
    mortal(tmp_path / improve.KIND, *IN_IMPROVEMENT)
    with given_orders(home) as orders:
        id = orders.submit(
            improve.order(ImproveRequest(model="scripted", design=TrialDesign(placebo=False), most=1), key="night"),
            Queue.TRIALS,
        )
    assert deaths(home, tmp_path) == len(IN_IMPROVEMENT)
    with given_orders(home) as orders:
        work = orders.find(id)
    assert work.done is not None, work.error
    [outcome] = decoded(work.done.value, ImproveReport).outcomes
    assert outcome.became is LessonResult.CANARY
    assert [entry.step for entry in Ledger(database).entries()] == [Step.ACCEPTED, Step.CANARY]
    assert lines(tmp_path / "log") == outcome.attempts
