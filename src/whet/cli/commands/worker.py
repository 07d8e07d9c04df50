"""whet worker: carry out the work that waits, and say what is queued, running, done and failed."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from threading import Event
from typing import TYPE_CHECKING

import click
from rich.table import Table

from whet.cli.options import json_option
from whet.cli.output import give, moment, plain, print_json_line, say, table
from whet.text.words import many, short

if TYPE_CHECKING:
    from whet.store.home import Home
    from whet.work.given import Work
    from whet.work.orders import Queue

QUEUES = ("reviews", "jobs", "trials", "attempts", "chores")
LOOK_SECONDS = 2.0
ASKED = 40  # characters of a name or an id
NEXT = {True: "; a worker is running.", False: ". To run it, start `whet worker`."}


@click.group(
    "worker",
    invoke_without_command=True,
    epilog="Example: whet worker --queue reviews --queue jobs",
    help="Run queued work: reviews, jobs and trials. Several workers can share the queues. If a worker is killed, "
    "the next one resumes its work. Ctrl-C stops it after the current steps, a second Ctrl-C at once.",
)
@click.option(
    "--queue",
    "queues",
    multiple=True,
    type=click.Choice(QUEUES),
    help="Process only this queue. Repeatable. Default: all queues.",
)
@click.option("--concurrency", default=2, type=click.IntRange(1, 64), help="Maximum number of tasks at once per queue.")
@click.option("--until-idle", is_flag=True, help="Stop when nothing is left to do.")
@json_option
@click.pass_context
def command(context: click.Context, queues: tuple[str, ...], concurrency: int, until_idle: bool, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    import whet.work.library  # noqa: F401 - says what is missing before anything is promised
    from whet.store.home import find_home
    from whet.work.orders import Queue

    chosen = [Queue(name) for name in queues or QUEUES]
    home = find_home(os.environ)
    if until_idle:
        return work_off(home, chosen, concurrency=concurrency)
    if as_json:
        print_json_line({"queues": [queue.value for queue in chosen]})
        sys.stdout.flush()
    else:
        say(f"Working on {', '.join(chosen)}. To list the work, run `whet worker list`. Ctrl-C stops.")
    return work_off(home, chosen, concurrency=concurrency, until_idle=False)


def work_off(home: "Home", queues: "list[Queue]", *, concurrency: int, until_idle: bool = True) -> int:
    """Carry out what waits on some queues, until nothing is left or somebody stops it."""
    from whet.cli.procedures import with_clock
    from whet.text.characters import safe
    from whet.work.worker import launched

    def tell(trouble: str) -> None:
        click.echo(safe(f"{trouble} Waiting for it." if trouble else "The server is back."), err=True)

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


@command.command(
    "list",
    epilog="Example: whet worker list",
    help="List background work: queued, running, done and failed, with cost and error; with ID, show one piece.",
)
@click.argument("id", required=False)
@click.option("--all", "with_all", is_flag=True, help="Include work that was done long ago.")
@json_option
def list_(id: str | None, with_all: bool, as_json: bool) -> int:
    return _about(id, "find", as_json) if id else _list(with_all, as_json)


def _list(with_all: bool, as_json: bool) -> int:
    from whet.store.home import find_home
    from whet.work.given import given_orders
    from whet.work.life import is_worker_alive

    home = find_home(os.environ)
    with given_orders(home) as orders:
        found = orders.all(limit=5000 if with_all else 30)
    living = _living(home, found)
    lines: list[str | Table] = ["No background work yet. Reviews, jobs and trials appear here."]
    if found:
        headings = ("id", "state", "queue", "changed", "cost", "what")
        lines = [table(headings, [_row(work, living) for work in found])]
    held_up = [work for work in found if work.waits > time.time()]
    if held_up:
        lines += [
            f"{many(len(held_up), 'piece')} of work waits for the daily limit until {moment(held_up[0].waits)}.",
            "To see what was spent, run `whet status`; to raise it: `whet config background.tokens_per_day N`.",
        ]
    waiting = sum(work.is_open for work in found)
    if waiting > len(held_up):
        is_taken = living or is_worker_alive(home.folder)
        lines.append(f"{many(waiting, 'piece')} of work open{NEXT[bool(is_taken)]}")
    return give({"work": [_record(work, living) for work in found]}, lines, as_json=as_json)


@command.command(
    "cancel",
    epilog="Example: whet worker cancel job-3f9a",
    help="Cancel a piece of work. It stops at its next step at the latest.",
)
@click.argument("id")
@json_option
def cancel(id: str, as_json: bool) -> int:
    return _about(id, "cancel", as_json)


@command.command(
    "retry",
    epilog="Example: whet worker retry trial-3f9a",
    help="Resume failed or cancelled work where it stopped. Finished steps are not repeated or paid for again.",
)
@click.argument("id")
@json_option
def retry(id: str, as_json: bool) -> int:
    return _about(id, "retry", as_json)


def _about(id: str, what: str, as_json: bool) -> int:
    from whet.store.home import find_home
    from whet.work.given import given_orders

    home = find_home(os.environ)
    with given_orders(home) as orders:
        act = {"find": orders.find, "cancel": orders.cancel, "retry": orders.retry}[what]
        work = act(id)
    record = _record(work, _living(home, [work]))
    facts = (
        f"[bold]{name:<9}[/bold] {plain(value)}" for name, value in record.items() if value not in ("", None, [], {})
    )
    return give(record, (*facts, *_learned(home, work)), as_json=as_json)


def _living(home: "Home", found: Sequence["Work"]) -> frozenset[str]:
    """The workers of what runs that are still there: what the others had begun waits for another."""
    from whet.store.opening import connect
    from whet.work.life import is_alive

    names = {work.worker for work in found if work.state == "running"}
    if not names:
        return frozenset()
    with contextlib.closing(connect(home)) as database:
        return frozenset(name for name in names if is_alive(home, name, database))


def _is_left(work: "Work", living: frozenset[str]) -> bool:
    return work.state == "running" and not work.waits and work.worker not in living


def _ask(work: "Work") -> str:
    """What an order asks for, as far as its body tells."""
    import msgspec

    try:
        body = msgspec.json.decode(work.body, type=dict[str, object])
    except msgspec.MsgspecError:  # in a team, anybody may have written it
        body = {}
    names = (str(body[name])[:ASKED] for name in ("name", "run", "session") if body.get(name))
    return " ".join((work.kind, *names))


def _row(work: "Work", living: frozenset[str]) -> tuple[str, ...]:
    tokens = work.spent.input + work.spent.output
    cost = (
        f"${work.spent.dollars:.4f}" if work.spent.dollars is not None else f"{short(tokens)} tokens" if tokens else ""
    )
    what = work.error or (work.done.summary if work.done else "") or _ask(work)
    state = "waits" if work.waits else "waits for a worker" if _is_left(work, living) else work.state.value
    return (work.id, state, work.queue.partition("@")[0], moment(work.changed), cost, what)


def _record(work: "Work", living: frozenset[str]) -> dict[str, object]:
    came = work.done or work.left
    return {
        "id": work.id,
        "kind": work.kind,
        "queue": work.queue.partition("@")[0],
        "state": "queued" if _is_left(work, living) else work.state.value,
        "created": work.created,
        "changed": work.changed,
        "step": work.step,
        "waits_until": work.waits or None,
        "error": work.error,
        "summary": work.done.summary if work.done else "",
        "sessions": list(came.sessions),
        "tokens": came.spent.input + came.spent.output,
        "cost": came.spent.dollars,
    }


def _learned(home: "Home", work: "Work") -> Iterable[str]:
    """What a reader's run came to, in a few lines."""
    from whet.cli.shown.learning import report_lines
    from whet.reading.learn import KIND, LearnReport
    from whet.store.opening import opened
    from whet.targets.known_projects import KnownProjects
    from whet.work.orders import decoded

    if work.kind != KIND or work.done is None:
        return ()
    report = decoded(work.done.value, LearnReport)
    with opened(home) as database:
        named = {each.project: KnownProjects(database).shown(each.project) for each in report.projects}
    return report_lines(report, named)
