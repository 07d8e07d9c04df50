"""A job run because a person asked for it: here and now, or by a worker."""

import contextlib
import secrets
import sys
import time
from collections.abc import Iterator

from whet.cli.chat.interrupts import interruptible
from whet.cli.output import print_json, say
from whet.cli.shown.jobs import exit_code, print_result, run_record
from whet.engine.life import living
from whet.engine.orders import Direct, Queue
from whet.errors import WhetError
from whet.jobs.job import Job
from whet.jobs.runs import JobRecord
from whet.scheduling import runs
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.owner import owner_of

SALT_BYTES = 4


def run_here(home: Home, job: Job, *, as_json: bool) -> int:
    """Make the run in this program, and print what came of it."""
    record = _write_down(home, job, is_direct=True)
    with living(home, runs.lock_name(record)), interruptible() as stop, _patience(job):
        steps = Direct(record.id)
        steps.interrupt = stop
        with contextlib.suppress(WhetError):  # it failed as a run, which its record tells better
            runs.job(home, steps, runs.JobRequest(record.id))
    with opened(home) as database:
        ended = job_records.record_of(database, owner_of(home), record.id)
    code = exit_code(ended)
    if as_json:
        print_json(run_record(ended))
    elif ended.job.deliver != "stdout":
        print_result(ended)
    return code


def submit(home: Home, job: Job, *, as_json: bool) -> int:
    """Leave the run to a worker."""
    from whet.engine.work import given_orders

    record = _write_down(home, job, is_direct=False)
    with given_orders(home) as orders:
        id = orders.submit(runs.order(record), Queue.JOBS)
    if as_json:
        print_json({"work": id, "run": record.id})
    else:
        say(f"Queued as {id}. To run it: `whet worker`.")
    return 0


@contextlib.contextmanager
def _patience(job: Job) -> Iterator[None]:
    """Show a person at a terminal that it goes on."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"Running {job.name} …"):
        yield


def _write_down(home: Home, job: Job, *, is_direct: bool) -> JobRecord:
    now = time.time()
    id = runs.run_id(home, job.name, now, manual=secrets.token_hex(SALT_BYTES))
    record = JobRecord(id, job, now, manual=True, is_direct=is_direct)
    with opened(home) as database:
        job_records.add(database, owner_of(home), record)
    return record
