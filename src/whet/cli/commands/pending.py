"""whet pending: changes that wait for a person's approval."""

import os
import time

import click

from whet.changes import pending
from whet.cli.acting import actor_of, has_terminal, need_terminal
from whet.cli.deciding import Desk, decide_all, in_force
from whet.cli.options import json_option, yes_option
from whet.cli.output import many, next_step, plain, print_json, say
from whet.cli.shown.entries import entry_lines, entry_record
from whet.cli.shown.reviewing import size_of
from whet.cli.shown.waiting import WaitingChange, in_order, last_trial, waiting_lines, waiting_record
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.ledger.folding import fold
from whet.ledger.reach import scope_of
from whet.ledger.traces import difference
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.targets.known_projects import KnownProjects

NEXT = "Next: run `whet pending` on a terminal, or `whet pending approve ID...`, `refuse ID...` or `never ID...`."
_PROJECT = "project"
numbers_argument = click.argument("numbers", type=int, nargs=-1, required=True, metavar="ID...")
note_option = click.option("--note", default="", help="Why.")


@click.group(
    "pending",
    invoke_without_command=True,
    epilog="Example: whet pending approve 12 14",
    help="List the changes that need your approval, by project, each with its exact text, its source, quotes and "
    "verdict; on a terminal, one key approves, edits, refuses, says never or skips. Text that comes from a tool or a "
    "stranger reaches no agent until you approve its exact wording. In a team, the same holds for rules of other "
    "members, unless they are among your team.admins. Changes that nobody decides on expire.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    return 0 if context.invoked_subcommand else _list(as_json, is_asking=True)


@command.command("list", epilog="Example: whet pending list", help="List the changes that need your approval.")
@json_option
def list_(as_json: bool) -> int:
    return _list(as_json, is_asking=False)


def _list(as_json: bool, *, is_asking: bool) -> int:
    home, actor = find_home(os.environ), actor_of(os.environ)
    with opened(home) as database:
        found = _find(home, database)
        if as_json:
            print_json({"pending": [waiting_record(change) for change in found]})
        elif not found:
            say("Nothing needs your approval.")
            next_step("`whet improve` proposes changes, `whet rules` lists what is active.")
        elif is_asking and actor is Actor.PERSON and has_terminal():
            projects = len({change.project for change in found if change.project})
            say(f"{many(len(found), 'change')}{f' of {many(projects, _PROJECT)}' if projects else ''} to decide on.")
            decide_all(Desk(home, database, actor), found)
        else:
            for line in waiting_lines(found):
                say(line)
            say(NEXT)
    return 0


@command.command("show", epilog="Example: whet pending show 12", help="Show one change as a diff, with its source.")
@click.argument("number", type=int, metavar="ID")
@json_option
def show(number: int, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        (change,) = _chosen(home, database, (number,))
    if as_json:
        print_json({**waiting_record(change), "diff": difference(change.move.before, change.move.after)})
    else:
        _show(change)
    return 0


@command.command(
    "approve",
    epilog="Example: whet pending approve 12 14",
    help="Apply changes exactly as shown. You see each text and confirm, on a terminal; without one, only with --yes"
    " and where the setting trust.commands allows it.",
)
@numbers_argument
@yes_option
@json_option
def approve(numbers: tuple[int, ...], yes: bool, as_json: bool) -> int:
    actor, home = actor_of(os.environ), find_home(os.environ)
    pending.need_person(actor)
    is_allowed = yes and load(home).trust.commands
    if not is_allowed:
        need_terminal()
    with opened(home) as database:
        changes = _chosen(home, database, numbers)
        if not as_json or not is_allowed:
            for change in changes:
                _show(change)
        if not is_allowed:
            sizes = "; ".join(size_of(change.move.after or "") for change in changes)
            what = "this" if len(changes) == 1 else f"these {len(changes)}"
            click.confirm(f"Approve exactly {what} ({sizes})?", abort=True, err=True)
        made = [
            pending.approve(home, database, change.entry.number, actor=actor, now=time.time()) for change in changes
        ]
        if as_json:
            print_json({"applied": [entry_record(entry) for entry in made]})
        for entry in () if as_json else made:
            say(in_force(entry, home, database))
    return 0


@command.command("refuse", epilog="Example: whet pending refuse 12 14", help="Refuse changes permanently.")
@numbers_argument
@note_option
@json_option
def refuse(numbers: tuple[int, ...], note: str, as_json: bool) -> int:
    return _refuse(numbers, note, is_never=False, as_json=as_json)


@command.command(
    "never",
    epilog="Example: whet pending never 12 14",
    help="Refuse changes, and never propose again what says the same or is for the same failure.",
)
@numbers_argument
@note_option
@json_option
def never(numbers: tuple[int, ...], note: str, as_json: bool) -> int:
    return _refuse(numbers, note, is_never=True, as_json=as_json)


def _refuse(numbers: tuple[int, ...], note: str, *, is_never: bool, as_json: bool) -> int:
    home, actor = find_home(os.environ), actor_of(os.environ)
    with opened(home) as database:
        chosen = [change.entry.number for change in _chosen(home, database, numbers)]
        decide = pending.say_never if is_never else pending.refuse
        made = [decide(home, database, number, actor=actor, now=time.time(), note=note) for number in chosen]
    if as_json:
        print_json({"refused": [entry_record(entry) for entry in made]})
    for entry in () if as_json else made:
        say(f"{'Never again' if is_never else 'Refused'}: {entry.patch.form} {plain(entry.patch.name)}.")
    if made and not as_json:
        numbered = " ".join(str(entry.number) for entry in made)
        say(f"To take this back, run `whet pending reopen {numbered}`.")
    return 0


@command.command(
    "reopen",
    epilog="Example: whet pending reopen 15",
    help="Take refusals back, those for ever too: each change needs your approval again. ID is the entry of the"
    " refusal in `whet ledger`.",
)
@numbers_argument
@json_option
def reopen(numbers: tuple[int, ...], as_json: bool) -> int:
    home, actor = find_home(os.environ), actor_of(os.environ)
    with opened(home) as database, database.writing():
        made = [pending.reopen(home, database, number, actor=actor, now=time.time()) for number in numbers]
    if as_json:
        print_json({"reopened": [entry_record(entry) for entry in made]})
    for entry in () if as_json else made:
        say(f"Waits again: {entry.patch.form} {plain(entry.patch.name)} (entry {entry.number}).")
    return 0


def _find(home: Home, database: Database) -> list[WaitingChange]:
    found = pending.pending(home, database, now=time.time())
    entries = ledger_of(home, database).entries() if found else []
    state, named = fold(entries), KnownProjects(database).shown
    return in_order(
        WaitingChange(
            entry,
            pending.move_for(home, database, entry),
            last_trial(entry.patch, entries),
            scope_of(entry, state),
            named(scope_of(entry, state).project),
        )
        for entry in found
    )


def _chosen(home: Home, database: Database, numbers: tuple[int, ...]) -> list[WaitingChange]:
    """The changes of these numbers; nothing is done where one of them does not wait."""
    found = {change.entry.number: change for change in _find(home, database)}
    for number in numbers:
        if number not in found:
            raise WhetError(f"No pending change {number}.", advice="To list pending changes, run `whet pending`.")
    return [found[number] for number in dict.fromkeys(numbers)]


def _show(change: WaitingChange) -> None:
    for line in entry_lines(change.entry, change.move, lambda _: change.place):
        say(line)
