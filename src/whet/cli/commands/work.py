"""whet work: what is queued, running, done and failed."""

import os
import time
from typing import TYPE_CHECKING

import click

from whet.cli.options import json_option
from whet.cli.output import console, many, moment, plain, print_json, say, table

if TYPE_CHECKING:
    from whet.engine.work import Work


@click.group(
    "work",
    invoke_without_command=True,
    epilog="Example: whet work cancel job-3f9a",
    help="List background work: queued, running, done and failed, with cost and error. `whet worker` runs it.",
)
@click.option("--all", "with_all", is_flag=True, help="Include work that was done long ago.")
@json_option
@click.pass_context
def command(context: click.Context, with_all: bool, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    from whet.engine.work import office
    from whet.store.home import find_home

    with office(find_home(os.environ)) as counter:
        found = counter.all(limit=5000 if with_all else 30)
    if as_json:
        print_json({"work": [_record(work) for work in found]})
        return 0
    if not found:
        say("No background work yet. Reviews, jobs and trials appear here.")
        return 0
    headings = ("id", "state", "queue", "changed", "cost", "what")
    console().print(table(headings, [_row(work) for work in found]))
    held_up = [work for work in found if work.waits > time.time()]
    if held_up:
        say(f"{many(len(held_up), 'piece')} of work waits for the daily limit until {moment(held_up[0].waits)}.")
        say("To see what was spent, run `whet status`; to raise it: `whet config set background.tokens_per_day N`.")
    waiting = sum(work.is_open for work in found)
    if waiting > len(held_up):
        say(f"{many(waiting, 'piece')} of work open. To run it, start `whet worker`.")
    return 0


@command.command("show", epilog="Example: whet work show review-3f9a", help="Show one piece of work.")
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> int:
    return _about(id, "find", as_json)


@command.command(
    "cancel",
    epilog="Example: whet work cancel job-3f9a",
    help="Cancel a piece of work. It stops at its next step at the latest.",
)
@click.argument("id")
@json_option
def cancel(id: str, as_json: bool) -> int:
    return _about(id, "cancel", as_json)


@command.command(
    "retry",
    epilog="Example: whet work retry trial-3f9a",
    help="Resume failed or cancelled work where it stopped. Finished steps are not repeated or paid for again.",
)
@click.argument("id")
@json_option
def retry(id: str, as_json: bool) -> int:
    return _about(id, "retry", as_json)


def _about(id: str, what: str, as_json: bool) -> int:
    from whet.engine.work import office
    from whet.store.home import find_home

    with office(find_home(os.environ)) as counter:
        act = {"find": counter.find, "cancel": counter.cancel, "retry": counter.retry}[what]
        work = act(id)
    if as_json:
        print_json(_record(work))
        return 0
    for label, value in _record(work).items():
        if value not in ("", None, [], {}):
            say(f"[bold]{label:<9}[/bold] {plain(value)}")
    return 0


def _row(work: "Work") -> tuple[str, ...]:
    tokens = work.spent.input + work.spent.output
    cost = f"${work.spent.dollars:.4f}" if work.spent.dollars is not None else f"{tokens:,} tokens" if tokens else ""
    what = work.error or (work.done.summary if work.done else "")
    state = "waits" if work.waits else work.state.value
    return (work.id, state, work.queue, moment(work.changed), cost, what)


def _record(work: "Work") -> dict[str, object]:
    came = work.done or work.left
    return {
        "id": work.id,
        "kind": work.kind,
        "queue": work.queue,
        "state": work.state.value,
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
