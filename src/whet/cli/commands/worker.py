"""whet worker: carry out the work that waits, and say what is queued, running, done and failed."""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from whet.cli.options import AskedRows, CommandList, json_group
from whet.cli.output import fields, give, is_json, moment, plain, print_json_line, say
from whet.cli.procedures import with_clock
from whet.cli.shown.lessons import report_lines
from whet.own.runs.run import Spent
from whet.reading.learn import KIND, LearnReport
from whet.store.home import Home, find_home
from whet.store.opening import connect, opened
from whet.telling.targets.known_projects import KnownProjects
from whet.text.characters import safe
from whet.text.words import many, short
from whet.work.life import is_alive, is_worker_alive
from whet.work.orders import Queue, decoded

if TYPE_CHECKING:
    from whet.work.given import Work

QUEUES = ("reviews", "jobs", "trials", "attempts", "chores")
LOOK_SECONDS = 2.0
ASKED = 40  # characters of a name or an id
NEXT = {True: "; a worker is running.", False: ". To run it, start `whet worker`."}


@json_group("worker", epilog="Example: whet worker --queue reviews --queue jobs")
@click.option(
    "--queue",
    "queues",
    multiple=True,
    type=click.Choice(QUEUES),
    help="Process only this queue. Repeatable. Default: all queues.",
)
@click.option("--concurrency", default=2, type=click.IntRange(1, 64), help="Maximum number of tasks at once per queue.")
@click.option("--until-idle", is_flag=True, help="Stop when nothing is left to do.")
def command(queues: tuple[str, ...], concurrency: int, until_idle: bool) -> int:
    """Run queued work: reviews, jobs and trials. Several workers can share the queues. If a worker is killed, the next
    one resumes its work. Ctrl-C stops it after the current steps, a second Ctrl-C at once.
    """
    import whet.work.faults  # noqa: F401 - says what is missing before anything is promised

    chosen = [Queue(name) for name in queues or QUEUES]
    home = find_home(os.environ)
    if until_idle:
        return work_off(home, chosen, concurrency=concurrency)
    if is_json():
        print_json_line({"queues": [queue.value for queue in chosen]})
    say(f"Working on {', '.join(chosen)}. To list the work, run `whet worker list`. Ctrl-C stops.")
    return work_off(home, chosen, concurrency=concurrency, until_idle=False)


def work_off(home: Home, queues: list[Queue], *, concurrency: int, until_idle: bool = True) -> int:
    """Carry out what waits on some queues, until nothing is left or somebody stops it."""
    from whet.work.worker import launched

    def tell(news: str) -> None:
        click.echo(safe(news), err=True)

    stop = _stopping()
    with launched(home, with_clock(), queues=queues, concurrency=concurrency, tell=tell) as worker:
        while not stop.is_set():
            worker.look_after()
            if until_idle and (worker.is_idle() or worker.is_held_up()):
                break
            stop.wait(LOOK_SECONDS)
    return 0


def _stopping() -> Event:
    """Set by Ctrl-C and by a polite kill; the second one ends the program at once, as a crash does."""
    stop = Event()

    def heed(number: int, _frame: object) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, heed)
    return stop


class ListedWork(NamedTuple):
    """A piece of work, and whether it had begun with a worker that is no longer there."""

    work: "Work"
    is_left: bool


WORK: CommandList[ListedWork] = CommandList(
    {
        "id": lambda row: row.work.id,
        "state": lambda row: "waits" if row.work.waits else "waits for a worker" if row.is_left else row.work.state,
        "queue": lambda row: row.work.queue.partition("@")[0],
        "changed": lambda row: moment(row.work.changed),
        "cost": lambda row: _cost(row.work.spent),
        "what": lambda row: row.work.error or (row.work.done.summary if row.work.done else "") or _ask(row.work),
    },
    at=lambda row: row.work.changed,
)


@command.command("list", epilog="Example: whet worker list")
@click.argument("id", required=False)
@WORK.options
@click.option("--all", "with_all", is_flag=True, help="Include work that was done long ago.")
def list_(id: str | None, asked: AskedRows, with_all: bool) -> int:
    """List background work: queued, running, done and failed, with cost and error; with ID, show one piece."""
    from whet.work.given import given_orders

    if id:
        return _about(id, "find")
    home = find_home(os.environ)
    with given_orders(home) as orders:
        found = orders.all(limit=5000 if with_all else 30)
    rows = WORK.chosen(_listed(home, found), asked)
    held_up = [work for work in found if work.waits > time.time()]
    after = []
    if held_up:
        after = [
            f"{many(len(held_up), 'piece')} of work waits for the daily limit until {moment(held_up[0].waits)}.",
            "To see what was spent, run `whet status`; to raise it: `whet config background.tokens_per_day N`.",
        ]
    waiting = sum(work.is_open for work in found)
    if waiting > len(held_up):
        is_taken = is_worker_alive(home.folder) or any(row.work.state == "running" and not row.is_left for row in rows)
        after.append(f"{many(waiting, 'piece')} of work open{NEXT[is_taken]}")
    none = "No background work yet. Reviews, jobs and trials appear here."
    return give({"work": list(map(_record, rows))}, WORK.lines(rows, *after, none=none))


@command.command("cancel", epilog="Example: whet worker cancel job-3f9a")
@click.argument("id")
def cancel(id: str) -> int:
    """Cancel a piece of work. It stops at its next step at the latest."""
    return _about(id, "cancel")


@command.command("retry", epilog="Example: whet worker retry trial-3f9a")
@click.argument("id")
def retry(id: str) -> int:
    """Resume failed or cancelled work where it stopped. Finished steps are not repeated or paid for again."""
    return _about(id, "retry")


def _about(id: str, what: str) -> int:
    from whet.work.given import given_orders

    home = find_home(os.environ)
    with given_orders(home) as orders:
        act = {"find": orders.find, "cancel": orders.cancel, "retry": orders.retry}[what]
        work = act(id)
    record = _record(*_listed(home, [work]))
    lines = [
        f"[bold]{name:<9}[/bold] {plain(value)}" for name, value in record.items() if value not in ("", None, [], {})
    ]
    if work.kind == KIND and work.done is not None:
        report = decoded(work.done.value, LearnReport)
        with opened(home) as database:
            named = {each.project: KnownProjects(database).shown(each.project) for each in report.projects}
        lines += report_lines(report, named)
    return give(record, lines)


def _listed(home: Home, found: Sequence["Work"]) -> list[ListedWork]:
    """The work with what its worker left: what one that is gone had begun waits for another."""
    names = {work.worker for work in found if work.state == "running"}
    living: set[str] = set()
    if names:
        with contextlib.closing(connect(home)) as database:
            living = {name for name in names if is_alive(home, name, database)}
    return [
        ListedWork(work, work.state == "running" and not work.waits and work.worker not in living) for work in found
    ]


def _ask(work: "Work") -> str:
    """What an order asks for, as far as its body tells."""
    try:
        body = msgspec.json.decode(work.body, type=dict[str, object])
    except msgspec.MsgspecError:  # in a team, anybody may have written it
        body = {}
    names = (str(body[name])[:ASKED] for name in ("name", "run", "session") if body.get(name))
    return " ".join((work.kind, *names))


def _cost(spent: Spent) -> str:
    tokens = spent.input + spent.output
    return f"${spent.dollars:.4f}" if spent.dollars is not None else f"{short(tokens)} tokens" if tokens else ""


def _record(row: ListedWork) -> dict[str, object]:
    work, came = row.work, row.work.done or row.work.left
    return {
        **fields(work, "id", "kind"),
        "queue": work.queue.partition("@")[0],
        "state": "queued" if row.is_left else work.state,
        **fields(work, "created", "changed", "step"),
        "waits_until": work.waits or None,
        "error": work.error,
        "summary": work.done.summary if work.done else "",
        "sessions": list(came.sessions),
        "tokens": came.spent.input + came.spent.output,
        "cost": came.spent.dollars,
    }
