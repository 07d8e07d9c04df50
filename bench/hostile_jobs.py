"""Attacks on the jobs of another home: rows that say what to run, for whom, and where to."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from hostile_stage import NOW, WORDS, Stage, text_in, write_job
from whet.own.jobs.job import Job
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, JobResult, RunState
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import identity_of, opened, owner_of
from whet.work import job_runs
from whet.work.given import given_orders
from whet.work.orders import Queue


def good(stage: Stage) -> Job:
    return Job("news", "every 2h", added=NOW, script="true", deliver="file", to=str(stage.folder / "out"))


def evil_jobs(stage: Stage) -> Iterator[Job]:
    """What a row may say of a job: other commands, other destinations, other words for the agent, another name."""
    own = good(stage)
    yield replace(own, script=stage.mark("script"))
    yield replace(own, deliver="command", to=stage.mark("deliver"))
    yield replace(own, to=str(stage.folder / "mark-to"))
    yield replace(own, script="", prompt=WORDS, workdir="/", model="scripted:/nowhere")
    yield replace(own, prompt=WORDS, workdir="/tmp", skills=("evil",), deliver="none", to="")
    yield replace(own, name="other", script=stage.mark("other"))
    yield replace(own, name="../../evil", script=stage.mark("path"))


def states(job: Job, id: str) -> Iterator[JobRecord]:
    told = JobResult(JobOutcome.DONE, WORDS)
    yield JobRecord(f"{id}due", job, NOW)
    yield JobRecord(f"{id}run", job, NOW, state=RunState.RUNNING)
    yield JobRecord(f"{id}end", job, NOW, state=RunState.ENDED, result=told, handing=DeliveryOutcome.WAITING)
    yield JobRecord(
        f"{id}try", job, NOW, state=RunState.ENDED, result=told, handing=DeliveryOutcome.FAILED, next_try=0.0
    )


def write_run(connection: Any, home: Home, record: JobRecord) -> None:
    connection.execute(
        "INSERT INTO job_runs (id, home, job, scheduled, state, handing, body, seal) VALUES"
        " (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET state = excluded.state,"
        " handing = excluded.handing, body = excluded.body",
        (record.id, identity_of(home), record.job.name, record.scheduled, record.state.value, record.handing.value,
         msgspec.json.encode(record), "0" * 32),
    )  # fmt: skip


def runs_in_anothers_name(stage: Stage) -> tuple[int, int]:
    write_job(stage, good(stage))
    records = [record for number, job in enumerate(evil_jobs(stage)) for record in states(job, f"j{number}")]
    records += states(good(stage), "own")
    with stage.rows() as connection:
        for record in records:
            write_run(connection, stage.alice, record)
    stage.work()
    return len(records), stage.marks() + (stage.folder / "out").exists() * text_in(stage.folder / "out")


def runs_changed_in_place(stage: Stage) -> tuple[int, int]:
    """Alice's own runs, ordered by her, with other words put into their rows before her worker comes."""
    write_job(stage, good(stage))
    jobs = list(evil_jobs(stage))
    with opened(stage.alice) as database, given_orders(stage.alice) as orders:
        for number, job in enumerate(jobs):
            record = JobRecord(f"mine{number}", good(stage), NOW + number, state=RunState.ORDERED)
            job_records.save(database, owner_of(stage.alice), record)
            orders.submit(job_runs.order(record), Queue.JOBS)
            with stage.rows() as connection:
                write_run(connection, stage.alice, replace(record, job=job))
    stage.work()
    return len(jobs), stage.marks() + text_in(stage.folder / "out")
