"""whet pending: changes that wait for a person's approval."""

import os
import time

import click

from whet.changes import pending
from whet.cli.acting import actor_of, need_terminal
from whet.cli.options import json_option
from whet.cli.output import console, moment, plain, print_json, say, table
from whet.cli.shown.entries import entry_lines, entry_record, patch_cells
from whet.cli.shown.reviewing import size_of
from whet.errors import WhetError
from whet.ledger.entries import Entry, Step
from whet.ledger.patch_faults import LIMITS
from whet.ledger.traces import Move, difference
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.opening import opened
from whet.text.quoting import visible

HEADINGS = ("id", "until", "by", "maker", "trust", "what", "text")


@click.group(
    "pending",
    invoke_without_command=True,
    epilog="Example: whet pending approve 12",
    help="List the changes that need your approval. Text that comes from a tool or a stranger reaches no agent "
    "until you approve its exact wording. In a team, the same holds for rules of other members, unless they are "
    "among your team.admins. Changes that nobody decides on expire.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    home = find_home(os.environ)
    with opened(home) as database:
        found = pending.pending(home, database, now=time.time())
    if as_json:
        print_json({"pending": [entry_record(entry) for entry in found]})
    elif not found:
        say("Nothing needs your approval.")
    else:
        console().print(table(HEADINGS, [_row(entry) for entry in found], numbers=("id",)))
        say("Next: `whet pending show ID`, then `whet pending approve ID` or `whet pending refuse ID`.")
    return 0


@command.command("show", epilog="Example: whet pending show 12", help="Show one change as a diff, with its source.")
@click.argument("number", type=int, metavar="ID")
@json_option
def show(number: int, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        entry, move = _waiting(home, database, number)
    if as_json:
        print_json({**entry_record(entry), "diff": difference(move.before, move.after)})
    else:
        _show(entry, move)
    return 0


@command.command(
    "approve",
    epilog="Example: whet pending approve 12",
    help="Apply a change exactly as shown. You see the text and confirm; this needs a terminal.",
)
@click.argument("number", type=int, metavar="ID")
@json_option
def approve(number: int, as_json: bool) -> int:
    actor = actor_of(os.environ)
    pending.need_person(actor)
    need_terminal()
    home = find_home(os.environ)
    with opened(home) as database:
        entry, move = _waiting(home, database, number)
        _show(entry, move)
        click.confirm(f"Approve exactly this ({size_of(move.after or '')})?", abort=True, err=True)
        made = pending.approve(home, database, number, actor=actor, now=time.time())
    if as_json:
        print_json({"applied": entry_record(made)})
    else:
        say(f"Approved and in force: {made.patch.form} {plain(made.patch.name)} (entry {made.number}).")
    return 0


@command.command("refuse", epilog="Example: whet pending refuse 12", help="Refuse a change permanently.")
@click.argument("number", type=int, metavar="ID")
@click.option("--note", default="", help="Why.")
@json_option
def refuse(number: int, note: str, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        made = pending.refuse(home, database, number, actor=actor_of(os.environ), now=time.time(), note=note)
    if as_json:
        print_json({"refused": entry_record(made)})
    else:
        say(f"Refused: {made.patch.form} {plain(made.patch.name)}.")
    return 0


def _row(entry: Entry) -> tuple[str, ...]:
    until = "–" if entry.step is Step.SUGGESTED else moment(entry.at + LIMITS.pending_seconds)
    who = (entry.actor, visible(entry.maker))
    return (str(entry.number), until, *who, entry.patch.trust.label, *patch_cells(entry.patch))


def _waiting(home: Home, database: Database, number: int) -> tuple[Entry, Move]:
    found = {entry.number: entry for entry in pending.pending(home, database, now=time.time())}
    if number not in found:
        raise WhetError(
            f"No change {number} waits for approval.", advice="To list pending changes, run `whet pending`."
        )
    return found[number], pending.move_for(home, database, found[number])


def _show(entry: Entry, move: Move) -> None:
    for line in entry_lines(entry, move):
        say(line)
