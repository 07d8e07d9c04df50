"""A job run because a person asked for it: here and now, or by a worker."""

import contextlib
import secrets
import time

from whet.cli.chat.interrupts import interruptible
from whet.cli.output import give, spinner
from whet.cli.shown.jobs import exit_code, result_lines, run_record
from whet.errors import WhetError
from whet.jobs.job import Job
from whet.jobs.runs import JobRecord
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.owner import owner_of
from whet.work import job_runs
from whet.work.life import living
from whet.work.orders import Direct, Queue

SALT_BYTES = 4


def run_here(home: Home, job: Job, *, as_json: bool) -> int:
    """Make the run in this program, and print what came of it."""
    record = _write_down(home, job, is_direct=True)
    with living(home, job_runs.lock_name(record)), interruptible() as stop, spinner(f"Running {job.name} …"):
        steps = Direct(record.id)
        steps.interrupt = stop
        with contextlib.suppress(WhetError):  # it failed as a run, which its record tells better
            job_runs.job(home, steps, job_runs.JobRequest(record.id))
    with opened(home) as database:
        ended = job_records.record_of(database, owner_of(home), record.id)
    code = exit_code(ended)
    lines = result_lines(ended) if ended.job.deliver != "stdout" else ()
    give(run_record(ended), lines, as_json=as_json)
    return code


def submit(home: Home, job: Job, *, as_json: bool) -> int:
    """Leave the run to a worker."""
    from whet.work.given import given_orders

    record = _write_down(home, job, is_direct=False)
    with given_orders(home) as orders:
        id = orders.submit(job_runs.order(record), Queue.JOBS)
    return give({"work": id, "run": record.id}, (f"Queued as {id}. To run it: `whet worker`.",), as_json=as_json)


def _write_down(home: Home, job: Job, *, is_direct: bool) -> JobRecord:
    now = time.time()
    id = job_runs.run_id(home, job.name, now, manual=secrets.token_hex(SALT_BYTES))
    record = JobRecord(id, job, now, manual=True, is_direct=is_direct)
    with opened(home) as database:
        job_records.add(database, owner_of(home), record)
    return record
