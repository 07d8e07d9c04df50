"""whet rules: the rules in force, your own among them."""

import os
import time

import click
from msgspec.structs import replace

from whet.changes.changing import ledger_of
from whet.changes.pending import submit
from whet.cli.acting import actor_of, trust_of
from whet.cli.entries import entry_record
from whet.cli.options import json_option
from whet.cli.output import console, moment, plain, print_json, say, table
from whet.errors import WhetError
from whet.exports import iso
from whet.guidance.rules import catalogue as remedies
from whet.ledger import Entry, Item, Step
from whet.patches import Action, Form, Patch, Scope, digest
from whet.quoting import visible
from whet.store.home import find_home
from whet.store.opening import opened

PURPOSES = click.Choice(["interactive", "unattended"])


@click.group(
    "rules",
    invoke_without_command=True,
    epilog="Example: whet rules add short-answers 'Answer in at most five lines.'",
    help="List the rules that agents are given, the oldest first: learned ones, and your own.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    home = find_home(os.environ)
    with opened(home) as database:
        rules = ledger_of(home, database).state().rules
    if as_json:
        print_json({"rules": [_record(rule) for rule in rules]})
    elif not rules:
        say("There is no rule yet. `whet rules add NAME TEXT` makes one.")
    else:
        rows = [
            (rule.name, rule.trust.label, _scope(rule.scope), moment(rule.since), visible(rule.text)) for rule in rules
        ]
        console().print(table(("rule", "from", "for", "since", "text"), rows))
    return 0


@command.command("add", epilog="Example: whet rules add tidy 'Remove unused imports.' --tool edit", help="Add a rule.")
@click.argument("name")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("--model", "models", multiple=True, help="Only for models whose name holds this.")
@click.option("--tool", "tools", multiple=True, help="Only where this tool is there.")
@click.option("--purpose", "purposes", multiple=True, type=PURPOSES, help="Only in such sessions.")
@json_option
def add(
    name: str,
    words: tuple[str, ...],
    models: tuple[str, ...],
    tools: tuple[str, ...],
    purposes: tuple[str, ...],
    as_json: bool,
) -> int:
    return _give(Patch(Form.RULE, Action.ADD, name, " ".join(words), Scope(models, tools, purposes)), as_json)


@command.command("remove", epilog="Example: whet rules remove tidy", help="Take a rule out of force.")
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        rule = ledger_of(home, database).state().get(Form.RULE, name)
    if rule is None:
        raise WhetError(f"There is no rule {name}.", advice="`whet rules` lists them.")
    return _give(Patch(Form.RULE, Action.REMOVE, name, before=digest(rule.text)), as_json)


@command.command(
    "catalogue", epilog="Example: whet rules catalogue", help="List the rules that come with Whet, by kind of failure."
)
@json_option
def catalogue(as_json: bool) -> int:
    found = sorted(remedies(), key=lambda remedy: (remedy.kind, remedy.name))
    if as_json:
        print_json({"rules": found})
    else:
        rows = [(one.kind, one.name, ", ".join((*one.families, *one.purposes)) or "–", one.text) for one in found]
        console().print(table(("kind", "rule", "for", "text"), rows))
    return 0


def _give(patch: Patch, as_json: bool) -> int:
    home, actor = find_home(os.environ), actor_of(os.environ)
    given = replace(patch, trust=trust_of(actor))
    with opened(home) as database:
        entry = submit(home, database, given, actor=actor, now=time.time())
    if as_json:
        print_json(entry_record(entry))
    else:
        say(_outcome(entry))
    return 0


def _outcome(entry: Entry) -> str:
    if entry.step is Step.PROPOSED:
        return f"It waits for a person's approval: whet pending show {entry.number}"
    stands = "in force" if entry.after else "out of force"
    return f"The rule {plain(entry.patch.name)} is {stands} (entry {entry.number})."


def _record(rule: Item) -> dict[str, object]:
    return {
        "name": rule.name,
        "text": rule.text,
        "trust": rule.trust.label,
        "scope": {"models": rule.scope.models, "tools": rule.scope.tools, "purposes": rule.scope.purposes},
        "since": iso(rule.since),
        "entry": rule.number,
        "canary": rule.canary,
    }


def _scope(scope: Scope) -> str:
    return ", ".join((*scope.models, *scope.tools, *scope.purposes)) or "–"
