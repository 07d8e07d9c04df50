"""Jobs and their runs, for people and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rich.table import Table

from whet.cli.options import CommandList
from whet.cli.output import moment, plain
from whet.errors import WhetError
from whet.own.jobs.job import SLIP, Job, next_after, schedule_of
from whet.own.jobs.runs import DeliveryOutcome, JobRecord, missed_words
from whet.store import job_records
from whet.store.database import Database
from whet.store.home import Home
from whet.store.job_records import JobFile, JobMark
from whet.store.opening import identity_of, owner_of
from whet.text.words import many
from whet.work.life import is_worker_alive

STALE_SECONDS = 180.0
PROBLEMS = (DeliveryOutcome.FAILED, DeliveryOutcome.UNSURE, DeliveryOutcome.GIVEN_UP)
TROUBLE_RUNS = 200


class ListedJob(NamedTuple):
    """A job as its file has it, what is marked of it, its last run, and when this is asked."""

    file: JobFile
    mark: JobMark | None
    last: JobRecord | None
    now: float

    @property
    def state(self) -> str:
        job, mark = self.file.value, self.mark
        if job is None:
            return "broken"
        if job.paused:
            return "paused"
        is_over = mark is not None and _next_run(job, mark, now=mark.accounted) is None
        return "over" if is_over else "active"

    @property
    def next(self) -> float | None:
        return _next_run(self.file.value, self.mark, now=self.now) if self.file.value else None


JOBS: CommandList[ListedJob] = CommandList(
    {
        "job": lambda row: row.file.name,
        "state": lambda row: row.state,
        "schedule": lambda row: row.file.value.schedule if row.file.value else "",
        "next": lambda row: "now" if row.next is not None and row.next <= row.now else moment(row.next),
        "last": lambda row: moment(row.last.scheduled if row.last else None),
        "outcome": lambda row: _outcome(row.last) if row.last else row.file.fault,
    },
)
RUNS: CommandList[JobRecord] = CommandList(
    {
        "run": lambda run: run.id,
        "job": lambda run: run.job.name,
        "scheduled": lambda run: moment(run.scheduled),
        "outcome": lambda run: run.result.outcome.value if run.result else run.state.value,
        "missed": lambda run: run.missed_count or "",
        "delivery": lambda run: run.handing.value if run.handing is not DeliveryOutcome.NONE else "",
        "session": lambda run: run.result.session[:8] if run.result else "",
        "error": lambda run: (run.result.error if run.result else "") or run.handing_error,
    },
    numbers=("missed",),
)


def job_record(row: ListedJob) -> dict[str, Any]:
    """A job for programs."""
    job = row.file.value
    if job is None:
        return {"name": row.file.name, "state": row.state, "fault": row.file.fault}
    return {
        "name": job.name,
        "state": row.state,
        "schedule": job.schedule,
        "timezone": job.timezone,
        "next": row.next,
        "deliver": job.deliver,
        "model": job.model,
        "last": run_record(row.last) if row.last else None,
    }


def run_record(record: JobRecord) -> dict[str, Any]:
    """A run for programs."""
    result = record.result
    return {
        "run": record.id,
        "job": record.job.name,
        "scheduled": record.scheduled,
        "manual": record.manual,
        "state": record.state.value,
        "started": record.started,
        "ended": record.ended,
        "outcome": result.outcome.value if result else None,
        "report": result.report if result else "",
        "error": result.error if result else "",
        "notes": result.notes if result else (),
        "exit_code": result.exit_code if result else None,
        "session": result.session if result else "",
        "model": result.model if result else "",
        "provider": result.provider if result else "",
        "tokens": result.spent.input + result.spent.output if result else 0,
        "cost": result.spent.dollars if result else None,
        "missed": record.missed_count,
        "delivery": record.handing.value,
        "delivery_tries": record.tries,
        "delivery_error": record.handing_error,
        "next_try": record.next_try,
    }


def _next_run(job: Job, mark: JobMark | None, *, now: float) -> float | None:
    """When it runs next, as far as a clock is looked at; None where it does not."""
    if job.paused or (mark is not None and job.repeat and mark.made >= job.repeat):
        return None
    since = max(mark.accounted if mark else job.added or now, 0.0)
    since = now if since > now + SLIP and mark is not None else since  # the clock was set back: it counts from now on
    return next_after(schedule_of(job), since)


def job_lines(home: Home, database: Database, rows: Sequence[ListedJob], *, now: float) -> Iterator[str | Table]:
    """The jobs, then reports that did not arrive, and that nobody looks at the clock."""
    yield JOBS.table(rows)
    runs = job_records.runs(database, owner_of(home), limit=TROUBLE_RUNS)
    troubles = [record for record in runs if record.handing in PROBLEMS]
    for record in troubles[:5]:
        then = f" Next attempt {moment(record.next_try)}." if record.next_try else ""
        what = f"Not delivered ({record.handing}): run {record.id} of {plain(record.job.name)}."
        yield f"{what} {plain(record.handing_error)}{then}"
    if len(troubles) > 5:
        yield f"{many(len(troubles) - 5, 'more report')} not delivered; to list them, run `whet jobs show --runs`."
    mark = job_records.mark_of(database, identity_of(home), job_records.CLOCK)
    if mark is None:
        yield "No worker is running the jobs yet. To start one, run `whet worker`."
    elif not is_worker_alive(home.folder) or now - mark.accounted > STALE_SECONDS:
        yield f"No worker has run the jobs since {moment(mark.accounted)}. To start one, run `whet worker`."


def result_lines(record: JobRecord) -> Iterator[str]:
    """What a run came to, with everything that a person needs to know of it."""
    result = record.result
    if result is None:
        yield f"The run is {record.state}."
        return
    if record.missed_count:
        yield plain(missed_words(record))
    if result.report.strip():
        yield plain(result.report.rstrip())
    if result.error:
        yield f"[bold]{plain(result.outcome.value)}[/bold]: {plain(result.error)}"
    for note in result.notes:
        yield plain(f"Note: {note}")
    if record.handing in PROBLEMS:
        yield f"The report was not delivered ({record.handing}): {plain(record.handing_error)}"


def exit_code(record: JobRecord) -> int:
    """The exit code: 1 where the run failed, or its report did not arrive."""
    if record.result is None:
        raise WhetError(f"Run {record.id} did not finish.", advice="To see it, run `whet jobs show --runs`.")
    return int(record.has_failed or record.handing in PROBLEMS)


def _outcome(record: JobRecord) -> str:
    outcome = record.result.outcome.value if record.result else record.state.value
    trouble = f", not delivered: {record.handing_error}" if record.handing in PROBLEMS else ""
    return f"{outcome}{trouble}"
