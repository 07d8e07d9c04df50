"""whet jobs: orders that recur, and what came of them."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from whet.changes.author import keep_job, pause_job, remove_named
from whet.cli.authoring import author_at, careful, tell
from whet.cli.options import json_option, own_store, yes_option
from whet.cli.output import give, moment, plain
from whet.cli.shown.jobs import job_lines, job_record, result_lines, run_record, runs_table
from whet.errors import WhetError
from whet.jobs.job import Deliver, Job, name_for, stamp
from whet.ledger.entries import Step
from whet.ledger.patches import Form
from whet.store import job_records
from whet.store.home import Home, find_home
from whet.store.job_records import list_jobs, load, read_text
from whet.store.opening import opened
from whet.store.owner import owner_of

if TYPE_CHECKING:
    from whet.store.database import Database

NONE = 'No jobs yet. To add one, run `whet jobs add "0 9 * * mon-fri" "What is new in this repository?"`.'
DELIVERIES = get_args(Deliver)


@click.group(
    "jobs",
    invoke_without_command=True,
    epilog='Example: whet jobs add "0 9 * * mon-fri" "What changed since yesterday?" --deliver file --to news.md',
    help="List the jobs (recurring tasks). `whet worker` runs them when they are due.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    return 0 if context.invoked_subcommand else _list(as_json)


@command.command(
    "add",
    epilog='Example: whet jobs add "every 2h" "Look for failed builds" --script ~/bin/builds --deliver stdout',
    help='Add a job. SCHEDULE is "every 2h", "in 30m", "2026-12-01 09:00", or five fields of a crontab such as'
    ' "0 9 * * mon-fri". A run loads the skills, then runs the script, whose output is data to the agent, then gives'
    " it the prompt. Without a prompt the script is the whole job. The script runs as you, outside the sandbox.",
)
@click.argument("schedule")
@click.argument("prompt", nargs=-1)
@click.option("--name", default="", help="Name. Default: made from the prompt.")
@click.option("--skill", "skills", multiple=True, help="Skill to load first. Repeatable.")
@click.option("--script", default="", help="Command to run first.")
@click.option("--model", default="", help="Model to use instead of the one in the settings, as provider:name.")
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
@json_option
def add(schedule: str, prompt: tuple[str, ...], yes: bool, as_json: bool, **options: Any) -> int:
    from whet.work.material import expect_ready

    home = find_home(os.environ)
    job = _job(home, schedule, " ".join(prompt), options)
    expect_ready(home, job)
    with opened(home) as database:
        entry = keep_job(careful(author_at(home, database), yes=yes), job)
        return tell((entry,), as_json=as_json)


@command.command(
    "show",
    epilog="Example: whet jobs show morning-news --runs",
    help="Show a job and its last run; with --runs, list the runs of one job or of all: how each ended, what was "
    "missed, and whether its report was delivered.",
)
@click.argument("name", default="")
@click.option("--runs", "is_history", is_flag=True, help="List the runs, newest first.")
@click.option("--limit", default=30, type=click.IntRange(1), help="Maximum number of runs to list.")
@json_option
def show(name: str, is_history: bool, limit: int, as_json: bool) -> int:
    home = find_home(os.environ)
    if is_history:
        return _history(home, name, limit=limit, as_json=as_json)
    load(home.folder, name)
    with opened(home) as database:
        [(found, mark, last)] = [each for each in _found(home, database) if each[0].name == name]
    text = read_text(home.folder, name)
    ran = (f"[bold]Last run[/bold] {moment(last.scheduled)}", *result_lines(last)) if last else ()
    record = {**job_record(found, mark, last, now=time.time()), "text": text}
    return give(record, (plain(text or ""), *ran), as_json=as_json)


@command.command(
    "run",
    epilog="Example: whet jobs run morning-news",
    help="Run a job now, regardless of its schedule, and print its report. Exit code 1 if the run failed or its "
    "report was not delivered.",
)
@click.argument("name")
@click.option("--background", is_flag=True, help="Queue it for `whet worker`; `whet worker list` lists it.")
@json_option
def run(name: str, background: bool, as_json: bool) -> int:
    from whet.cli.jobs_running import run_here, submit

    home = find_home(os.environ)
    job = load(home.folder, name)
    return submit(home, job, as_json=as_json) if background else run_here(home, job, as_json=as_json)


@command.command(
    "pause",
    epilog="Example: whet jobs pause morning-news",
    help="Pause a job. Runs that fall due while it is paused are skipped and not counted as missed.",
)
@click.argument("name")
@click.option("--resume", "is_resumed", is_flag=True, help="Go on with a paused job instead.")
@yes_option
@json_option
def pause_(name: str, is_resumed: bool, yes: bool, as_json: bool) -> int:
    with own_store() as (home, database):
        entry = pause_job(careful(author_at(home, database), yes=yes), name, paused=not is_resumed)
        if is_resumed and entry.step is Step.APPLIED:  # what an agent asked for waits, and so does the job
            known = job_records.mark_of(database, owner_of(home).id, name)
            job = load(home.folder, name)
            mark = known or job_records.JobMark(owner_of(home).id, name, stamp(job), 0.0, added=job.added)
            job_records.keep_mark(database, mark._replace(accounted=time.time()))
        return tell((entry,), as_json=as_json, done="Resumed" if is_resumed else "Paused")


@command.command(
    "remove",
    epilog="Example: whet jobs remove morning-news",
    help="Remove a job. To restore it, run `whet ledger undo`.",
)
@click.argument("name")
@yes_option
@json_option
def remove_(name: str, yes: bool, as_json: bool) -> int:
    with own_store() as (home, database):
        return tell((remove_named(careful(author_at(home, database), yes=yes), Form.JOB, name),), as_json=as_json)


def _history(home: Home, name: str, *, limit: int, as_json: bool) -> int:
    with opened(home) as database:
        found = job_records.runs(database, owner_of(home), name, limit=limit)
    if not found and name:
        load(home.folder, name)
    record = {"runs": [run_record(each) for each in found]}
    return give(record, (runs_table(found),) if found else ("No runs yet.",), as_json=as_json)


def _list(as_json: bool) -> int:
    now = time.time()
    with own_store() as (home, database):
        found = _found(home, database)
        lines = (NONE,) if not found else job_lines(home, database, found, now=now)
        give({"jobs": [job_record(*each, now=now) for each in found]}, lines, as_json=as_json)
    return int(any(each.job is None for each, _, _ in found))


def _found(home: Home, database: "Database") -> list[Any]:
    own = owner_of(home)
    found = []
    for each in list_jobs(home.folder):
        runs = job_records.runs(database, own, each.name, limit=1)
        found.append((each, job_records.mark_of(database, own.id, each.name), runs[0] if runs else None))
    return found


def _job(home: Home, schedule: str, prompt: str, options: dict[str, Any]) -> Job:
    from whet.context.zone import local_zone

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
