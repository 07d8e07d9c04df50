"""whet jobs: orders that recur, and what came of them."""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
from rich.table import Table

from whet.changes.writing import keep_job, pause_job, remove_named
from whet.cli.acting import author_at, careful, tell
from whet.cli.chat.inputs import interruptible
from whet.cli.options import AskedRows, CommandList, json_group, model_option, own_store, yes_option
from whet.cli.output import fields, give, moment, plain, step_line
from whet.errors import WhetError
from whet.ledger.entries import Step
from whet.ledger.patches import Form
from whet.own.jobs.job import SLIP, Deliver, Job, name_for, next_after, schedule_of, stamp
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, JobResult, missed_words
from whet.store import job_records
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.job_records import JobFile, JobMark, list_jobs, load, read_text
from whet.store.opening import identity_of, opened, owner_of
from whet.telling.context.zone import local_zone
from whet.text.words import many
from whet.work import job_runs
from whet.work.job_sessions import expect_ready
from whet.work.life import is_worker_alive, living
from whet.work.orders import DirectSteps, Queue

NONE = 'No jobs yet. To add one, run `whet jobs add "0 9 * * mon-fri" "What is new in this repository?"`.'
DELIVERIES = get_args(Deliver)
SALT_BYTES = 4
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
    }
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


@json_group(
    "jobs",
    epilog='Example: whet jobs add "0 9 * * mon-fri" "What changed since yesterday?" --deliver file --to news.md',
)
@JOBS.options
def command(asked: AskedRows) -> int:
    """List the jobs (recurring tasks). `whet worker` runs them when they are due."""
    now = time.time()
    with own_store() as (home, database):
        rows = JOBS.chosen((_listed(home, database, each, now=now) for each in list_jobs(home.folder)), asked)
        lines = job_lines(home, database, rows, now=now) if rows else (NONE,)
        code = int(any(row.file.value is None for row in rows))
        return give({"jobs": list(map(job_record, rows))}, lines, code=code)


def _listed(home: Home, database: Database, file: JobFile, *, now: float) -> ListedJob:
    own = owner_of(home)
    runs = job_records.runs(database, own, file.name, limit=1)
    return ListedJob(file, job_records.mark_of(database, own.id, file.name), runs[0] if runs else None, now)


@command.command(
    "add", epilog='Example: whet jobs add "every 2h" "Look for failed builds" --script ~/bin/builds --deliver stdout'
)
@click.argument("schedule")
@click.argument("prompt", nargs=-1)
@click.option("--name", default="", help="Name. Default: made from the prompt.")
@click.option("--skill", "skills", multiple=True, help="Skill to load first. Repeatable.")
@click.option("--script", default="", help="Command to run first.")
@model_option
@click.option("--workdir", default="", help="Folder the agent works in. Default: the current folder.")
@click.option(
    "--timezone", default="", help="Time zone of the schedule, such as Europe/Berlin. Default: this machine's."
)
@click.option("--deliver", default="none", help=f"Where reports go: {', '.join(DELIVERIES)}. Whet keeps a copy.")
@click.option("--to", default="", help="File, command or URL. $NAME stands for an environment variable.")
@click.option("--tool", "tools", multiple=True, help="Tool set to allow. Repeatable.")
@click.option("--warm", default="", metavar="NAME", help="Template to start from; auto picks one.")
@click.option("--seconds", type=click.FloatRange(1), default=3600.0, help="Time limit of a run, in seconds.")
@yes_option
def add(schedule: str, prompt: tuple[str, ...], yes: bool, **options: Any) -> int:
    """Add a job. SCHEDULE is "every 2h", "in 30m", "2026-12-01 09:00", or five fields of a crontab such as "0 9 * *
    mon-fri". A run loads the skills, then runs the script, whose output is data to the agent, then gives it the
    prompt. Without a prompt the script is the whole job. The script runs as you, outside the sandbox.
    """
    job = _job(find_home(os.environ), schedule, " ".join(prompt), options)
    expect_ready(find_home(os.environ), job)
    with own_store() as (home, database):
        return tell((keep_job(careful(author_at(home, database), yes=yes), job),))


@command.command("show", epilog="Example: whet jobs show morning-news --runs")
@click.argument("name", default="")
@click.option("--runs", "is_history", is_flag=True, help="List the runs, newest first.")
@click.option("--limit", default=30, type=click.IntRange(1), help="Maximum number of runs to list.")
def show(name: str, is_history: bool, limit: int) -> int:
    """Show a job and its last run; with --runs, list the runs of one job or of all: how each ended, what was missed,
    and whether its report was delivered.
    """
    with own_store() as (home, database):
        if is_history:
            found = job_records.runs(database, owner_of(home), name, limit=limit)
            if not found and name:
                load(home.folder, name)
            return give({"runs": [run_record(each) for each in found]}, RUNS.lines(found, none="No runs yet."))
        load(home.folder, name)
        [file] = [each for each in list_jobs(home.folder) if each.name == name]
        row = _listed(home, database, file, now=time.time())
    text = read_text(home.folder, name)
    ran = (f"[bold]Last run[/bold] {moment(row.last.scheduled)}", *result_lines(row.last)) if row.last else ()
    return give({**job_record(row), "text": text}, (plain(text or ""), *ran))


@command.command("run", epilog="Example: whet jobs run morning-news")
@click.argument("name")
@click.option("--background", is_flag=True, help="Queue it for `whet worker`; `whet worker list` lists it.")
def run(name: str, background: bool) -> int:
    """Run a job now, regardless of its schedule, and print its report. Exit code 1 if the run failed or its report was
    not delivered.
    """
    home = find_home(os.environ)
    job = load(home.folder, name)
    now = time.time()
    id = job_runs.run_id(home, job.name, now, manual=secrets.token_hex(SALT_BYTES))
    record = JobRecord(id, job, now, manual=True, is_direct=not background)
    with opened(home) as database:
        job_records.add(database, owner_of(home), record)
    if background:
        from whet.work.given import given_orders

        with given_orders(home) as orders:
            work = orders.submit(job_runs.order(record), Queue.JOBS)
        return give({"work": work, "run": record.id}, (f"Queued as {work}. To run it: `whet worker`.",))
    with living(home, job_runs.lock_name(record)), interruptible() as stop, step_line(f"Running {job.name}"):
        steps = DirectSteps(record.id)
        steps.interrupt = stop
        with contextlib.suppress(WhetError):  # it failed as a run, which its record tells better
            job_runs.job(home, steps, job_runs.JobRequest(record.id))
    with opened(home) as database:
        ended = job_records.record_of(database, owner_of(home), record.id)
    if ended.result is None:
        raise WhetError(f"Run {ended.id} did not finish.", advice="To see it, run `whet jobs show --runs`.")
    code = int(ended.has_failed or ended.handing in PROBLEMS)
    return give(run_record(ended), result_lines(ended) if ended.job.deliver != "stdout" else (), code=code)


@command.command("pause", epilog="Example: whet jobs pause morning-news")
@click.argument("name")
@click.option("--resume", "is_resumed", is_flag=True, help="Go on with a paused job instead.")
@yes_option
def pause_(name: str, is_resumed: bool, yes: bool) -> int:
    """Pause a job. Runs that fall due while it is paused are skipped and not counted as missed."""
    with own_store() as (home, database):
        entry = pause_job(careful(author_at(home, database), yes=yes), name, paused=not is_resumed)
        if is_resumed and entry.step is Step.APPLIED:  # what an agent asked for waits, and so does the job
            known = job_records.mark_of(database, owner_of(home).id, name)
            job = load(home.folder, name)
            mark = known or job_records.JobMark(owner_of(home).id, name, stamp(job), 0.0, added=job.added)
            job_records.keep_mark(database, mark._replace(accounted=time.time()))
        return tell((entry,), done="Resumed" if is_resumed else "Paused")


@command.command("remove", epilog="Example: whet jobs remove morning-news")
@click.argument("name")
@yes_option
def remove_(name: str, yes: bool) -> int:
    """Remove a job. To restore it, run `whet ledger undo`."""
    with own_store() as (home, database):
        return tell((remove_named(careful(author_at(home, database), yes=yes), Form.JOB, name),))


def _job(home: Home, schedule: str, prompt: str, options: dict[str, Any]) -> Job:
    if options["deliver"] not in DELIVERIES:
        raise WhetError(f"{options['deliver']!r} is not a delivery.", advice=f"Use one of: {', '.join(DELIVERIES)}.")
    taken = [found.name for found in list_jobs(home.folder)]
    words = prompt or options["script"]
    return Job(
        **{
            **options,
            "name": options["name"] or name_for(Path(words).stem if not prompt else words, taken),
            "schedule": schedule,
            "prompt": prompt.encode(errors="replace").decode(),
            "workdir": _absolute(options["workdir"] or "."),
            "timezone": options["timezone"] or local_zone(os.environ),
            "added": float(int(time.time())),
            "to": _absolute(options["to"]) if options["deliver"] == "file" else options["to"],
        }
    )


def _absolute(path: str) -> str:
    return str(Path(os.path.expanduser(path)).absolute()) if path and not path.startswith("$") else path


def job_record(row: ListedJob) -> dict[str, Any]:
    """A job for programs."""
    job = row.file.value
    if job is None:
        return {"name": row.file.name, "state": row.state, "fault": row.file.fault}
    return {
        "name": job.name,
        "state": row.state,
        **fields(job, "schedule", "timezone"),
        "next": row.next,
        **fields(job, "deliver", "model"),
        "last": run_record(row.last) if row.last else None,
    }


def run_record(record: JobRecord) -> dict[str, Any]:
    """A run for programs."""
    result = record.result or JobResult(JobOutcome.UNREPORTED)
    return {
        "run": record.id,
        "job": record.job.name,
        **fields(record, "scheduled", "manual", "state", "started", "ended"),
        "outcome": result.outcome if record.result else None,
        **fields(result, "report", "error", "notes", "exit_code", "session", "model", "provider"),
        "tokens": result.spent.input + result.spent.output,
        "cost": result.spent.dollars,
        "missed": record.missed_count,
        "delivery": record.handing,
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


def _outcome(record: JobRecord) -> str:
    outcome = record.result.outcome.value if record.result else record.state.value
    trouble = f", not delivered: {record.handing_error}" if record.handing in PROBLEMS else ""
    return f"{outcome}{trouble}"
