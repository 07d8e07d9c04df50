"""whet canary: a rule told to a share of the sessions."""

import os
import time
from typing import TYPE_CHECKING

import click

from whet.cli.options import json_option, yes_option
from whet.cli.output import plain, print_json, say
from whet.errors import WhetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from whet.cli.canary_readers import CanaryReader
    from whet.ledger.entries import Entry, Item
    from whet.store.database import Database
    from whet.store.home import Home
    from whet.targets.sync import TargetChange

WAYS = "Give one of: --rule TEXT, --pending N."


@click.group(
    "canary",
    invoke_without_command=True,
    epilog='Example: whet canary start --rule "Read a file before you edit it." --share 0.5',
    help="List the rules that only a share of sessions gets, with the evidence so far. A hash of the session id "
    "decides which sessions; for the files of other agents, a hash of the day. `whet watch` promotes or "
    "reverts them.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    return 0 if context.invoked_subcommand else _list(as_json)


@command.command("list", epilog="Example: whet canary list", help="List the rules that only a share of sessions gets.")
@json_option
def list_(as_json: bool) -> int:
    return _list(as_json)


def _list(as_json: bool) -> int:
    from whet.cli.shown.canaries import canary_record, show_canaries
    from whet.improving.watch import standing
    from whet.store.home import find_home
    from whet.store.opening import opened

    home = find_home(os.environ)
    with opened(home) as database:
        found = standing(home, database)
    if as_json:
        print_json({"canaries": [canary_record(each) for each in found]})
    else:
        show_canaries(found)
    return 0


@command.command(
    "start",
    epilog="Example: whet canary start --pending 4 --share 0.3",
    help="Give a rule to a share of new sessions.",
)
@click.option("--rule", default="", metavar="TEXT", help="Text of the rule.")
@click.option("--pending", type=int, metavar="N", help="Number of a pending rule: this approves it for these sessions.")
@click.option(
    "--share",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of sessions that get the rule.",
)
@yes_option
@json_option
def start(rule: str, pending: int | None, share: float, yes: bool, as_json: bool) -> int:
    from whet.changes.apply import try_out
    from whet.cli.acting import actor_of, trust_at
    from whet.ledger.entries import Entry, Step
    from whet.ledger.patches import Action, Form, Patch, digest
    from whet.store.home import find_home
    from whet.store.ledger import ledger_of
    from whet.store.opening import opened
    from whet.targets.telling import tell

    if bool(rule) == bool(pending):
        raise WhetError("Give exactly one change to try.", advice=WAYS)
    home, actor, now = find_home(os.environ), actor_of(os.environ), time.time()
    with opened(home) as database:
        if pending:
            told = _expect_told(home, database, ledger_of(home, database).entry(pending))
            entry = _approved(home, database, pending, share)
        else:
            trust = trust_at(home, actor, yes=yes)
            patch = Patch(Form.RULE, Action.ADD, f"tried-{digest(rule)[:8]}", rule.strip(), trust=trust)
            told = _expect_told(home, database, Entry(0, Step.CANARY, patch, actor, now))
            entry = try_out(home, database, patch, actor=actor, now=now, share=share)
        files = tell(home, database, now=now)
    what = f"told to {100 * share:.0f} % of new sessions of {', '.join(each.words for each in told)}"
    return _said(entry, files, f"{what}; to compare results, run `whet watch`", as_json, told)


@command.command(
    "stop",
    epilog="Example: whet canary stop read-before-edit",
    help="Stop a canary and remove its rule. Give its name or entry.",
)
@click.argument("name")
@json_option
def stop(name: str, as_json: bool) -> int:
    from whet.changes.apply import revert

    return _ended(name, revert, "taken back", as_json)


@command.command(
    "promote", epilog="Example: whet canary promote read-before-edit", help="Give a canary's rule to every session."
)
@click.argument("name")
@json_option
def promote(name: str, as_json: bool) -> int:
    from whet.changes.apply import promote

    return _ended(name, promote, "applied to every new session", as_json)


def _ended(name: str, act: "Callable[..., Entry]", what: str, as_json: bool) -> int:
    from whet.cli.acting import actor_of
    from whet.store.home import find_home
    from whet.store.ledger import ledger_of
    from whet.store.opening import opened
    from whet.targets.telling import tell

    home, now = find_home(os.environ), time.time()
    with opened(home) as database:
        item = _canary(ledger_of(home, database).state().rules, name)
        entry = act(home, database, item.number, actor=actor_of(os.environ), now=now, note="by hand")
        files = tell(home, database, now=now)
    return _said(entry, files, what, as_json)


def _canary(rules: "tuple[Item, ...]", name: str) -> "Item":
    found = next((item for item in rules if item.canary and name in (item.name, str(item.number))), None)
    if found is None:
        known = ", ".join(item.name for item in rules if item.canary) or "none"
        raise WhetError(f"There is no canary {name}.", advice=f"Canaries: {known}.")
    return found


def _expect_told(home: "Home", database: "Database", entry: "Entry") -> "tuple[CanaryReader, ...]":
    """Who would be told a rule; raises WhetError where nobody would be."""
    from whet.cli.canary_readers import expect_readers
    from whet.ledger.entries import Item
    from whet.ledger.patches import Action
    from whet.ledger.reach import scope_of
    from whet.store.ledger import ledger_of

    patch = entry.patch
    rule = Item(patch.form, patch.name, patch.text, scope_of(entry, ledger_of(home, database).state()), patch.trust)
    return expect_readers(home, database, rule, is_new=patch.action is Action.ADD)


def _approved(home: "Home", database: "Database", number: int, share: float) -> "Entry":
    from whet.changes.pending import approve_live
    from whet.cli.acting import actor_of, need_terminal
    from whet.cli.shown.reviewing import cautions, reviewed, size_of
    from whet.store.ledger import ledger_of

    patch = ledger_of(home, database).entry(number).patch
    if patch.is_foreign:
        need_terminal()
        for line in (*reviewed(patch.text), *cautions(patch.text)):
            say(line)
        question = f"Approve exactly this ({size_of(patch.text)}) for a share of sessions?"
        click.confirm(question, abort=True, err=True)
    return approve_live(home, database, number, actor=actor_of(os.environ), now=time.time(), share=share)


def _said(
    entry: "Entry",
    files: "tuple[TargetChange, ...]",
    what: str,
    as_json: bool,
    told: "tuple[CanaryReader, ...] | None" = None,
) -> int:
    from whet.cli.delivery import touched, touched_lines
    from whet.cli.shown.entries import entry_record

    if as_json:
        readers = {} if told is None else {"told": [each._asdict() for each in told]}
        print_json({**entry_record(entry), "files": touched(files), **readers})
        return 0
    say(f"Entry {entry.number}: rule {plain(entry.patch.name)} is {plain(what)}.")
    for line in touched_lines(files):
        say(line)
    return 0
