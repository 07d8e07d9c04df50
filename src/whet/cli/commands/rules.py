"""whet rules: the rules in force, your own among them."""

import os
import time
from collections.abc import Iterator, Sequence

import click
from msgspec.structs import replace
from rich.table import Table

from whet.changes.pending import submit
from whet.cli.acting import actor_of, trust_at
from whet.cli.authoring import why_waits
from whet.cli.deciding import told_to
from whet.cli.options import AskedRows, ListedRows, json_option, list_options, own_store, yes_option
from whet.cli.output import console, give, moment, next_lines, plain, table
from whet.cli.shown.entries import entry_record, scope_record, scope_words
from whet.ledger.entries import Entry, Item, Step
from whet.ledger.folding import grounds_of, is_untried
from whet.ledger.patches import Action, Form, Patch, Scope, digest
from whet.sessions.exports import iso
from whet.store.home import find_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.targets.known_projects import KnownProjects
from whet.targets.project_names import name_of_project
from whet.text.showing import shown
from whet.text.words import many

HEADINGS = ("rule", "from", "maker", "for", "since", "grounds", "text")
NEXT = "`whet rules show` says whether they are followed, `whet sync` brings them to agents."
NONE = "No rules yet. To add one, run `whet rules add NAME TEXT`; `whet lessons` lists what your sessions teach."
NONE_MATCH = "No rule matches: try fewer filters."
RULES: ListedRows[Item] = ListedRows(
    lambda rule: rule.scope.project,
    lambda rule: rule.since,
    {"oldest": lambda rule: rule.number, "newest": lambda rule: -rule.number, "name": lambda rule: rule.name},
)
ROOMY = 120  # columns in which a table has room for the words of a rule
PURPOSES = click.Choice(["interactive", "unattended"])


@click.group(
    "rules",
    invoke_without_command=True,
    epilog="Example: whet rules add short-answers 'Answer in at most five lines.'",
    help="List the rules that agents get, oldest first: learned ones and your own.",
)
@list_options(*RULES.orders)
@json_option
@click.pass_context
def command(context: click.Context, asked: AskedRows, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    with own_store() as (home, database):
        ledger, known = ledger_of(home, database), KnownProjects(database)
        rules, entries = RULES.chosen(ledger.state().rules, asked, known), ledger.entries()
    places = {rule.number: scope_words(rule.scope, known.shown) for rule in rules}
    grounds = {rule.number: grounds_of(rule, entries) for rule in rules}
    untried = sum(is_untried(rule, entries) for rule in rules)
    record = {"rules": [_record(rule, grounds[rule.number]) for rule in rules]}
    lines = _lines(rules, grounds, places, untried) if rules else (NONE_MATCH if asked.is_narrowed else NONE,)
    return give(record, lines, as_json=as_json)


def _lines(
    rules: Sequence[Item], grounds: dict[int, str], places: dict[int, str], untried: int
) -> Iterator[str | Table]:
    """The rules as a table; in a narrow terminal as lines, for there the words of a rule matter most."""
    counted = f"[dim]{_counted(len(rules), untried)}[/]"
    if console().width < ROOMY:
        for rule in rules:
            yield f"[bold]{plain(shown(rule.name))}[/]: {plain(shown(rule.text))}"
            where = shown(places[rule.number]) or "everywhere"
            yield f"  [dim]{plain(f'{where} · since {moment(rule.since)} · {grounds[rule.number]}')}[/]"
        yield from (counted, *next_lines(NEXT))
        return
    rows = [
        (
            rule.name,
            rule.trust.label,
            shown(rule.maker),
            shown(places[rule.number]) or "–",
            moment(rule.since),
            grounds[rule.number],
            shown(rule.text),
        )
        for rule in rules
    ]
    yield table(HEADINGS, rows, spare=("maker", "from", "since", "for"))
    yield from (counted, *next_lines(NEXT))


@command.command(
    "show",
    epilog="Example: whet rules show tidy",
    help="Show rules, default: all, with the situation that each is for and what became of it in the sessions since:"
    " in how many the situation came up, in how many of these the agent was told the rule, and in how many it was"
    " followed.",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@json_option
def show(names: tuple[str, ...], as_json: bool) -> int:
    from whet.cli.analysed import look_at_rules
    from whet.cli.shown.entries import following_record, rule_lines
    from whet.lessons.following import count_following
    from whet.targets.sync_log import load_log, stays_of

    chosen = [_rule(name) for name in names]
    with own_store() as (home, database):
        ledger, named = ledger_of(home, database), KnownProjects(database).shown
        rules, entries = chosen or ledger.state().rules, ledger.entries()
        fared = {name: count_following(seen) for name, seen in look_at_rules(database, home, rules).items()}
    places = {rule.number: scope_words(rule.scope, named) for rule in rules}
    grounds = {rule.number: grounds_of(rule, entries) for rule in rules}
    log = load_log(home)
    stays = {rule.name: stays_of(log, rule.number) for rule in rules}
    records = [
        {**_record(each, grounds[each.number]), **following_record(each, fared[each.name], stays[each.name])}
        for each in rules
    ]
    lines = [
        line
        for rule in rules
        for line in rule_lines(rule, places[rule.number], grounds[rule.number], fared[rule.name], stays[rule.name])
    ]
    if any(each.came_up for each in fared.values()):
        lines += next_lines("`whet sessions --rule NAME --fared told-not-followed` lists the sessions behind a number.")
    return give({"rules": records}, lines or (NONE,), as_json=as_json)


@command.command(
    "add",
    epilog="Example: whet rules add tidy 'Remove unused imports.' --tool edit",
    help="Add a rule of your own; with --replace, change the text of one, and where it applies stays the same.",
)
@click.argument("name")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("--model", "models", multiple=True, help="Apply only to models whose name contains this.")
@click.option("--tool", "tools", multiple=True, help="Apply only if the agent has this tool.")
@click.option("--purpose", "purposes", multiple=True, type=PURPOSES, help="Apply only in sessions of this purpose.")
@click.option("--project", metavar="FOLDER", help="Only in this folder's project, all clones and worktrees.")
@click.option("--replace", "is_change", is_flag=True, help="Change the text of the rule NAME.")
@yes_option
@json_option
def add(
    name: str,
    words: tuple[str, ...],
    models: tuple[str, ...],
    tools: tuple[str, ...],
    purposes: tuple[str, ...],
    project: str | None,
    is_change: bool,
    yes: bool,
    as_json: bool,
) -> int:
    if is_change:
        rule = _rule(name)
        before, text = digest(rule.text), " ".join(words)
        patch = Patch(Form.RULE, Action.CHANGE, name, text, rule.scope, before=before, situation=rule.situation)
        return _give(patch, yes=yes, as_json=as_json)
    scope = Scope(models, tools, purposes, name_of_project(os.path.abspath(project)) if project else "")
    return _give(Patch(Form.RULE, Action.ADD, name, " ".join(words), scope), yes=yes, as_json=as_json)


@command.command("remove", epilog="Example: whet rules remove tidy", help="Remove a rule.")
@click.argument("name")
@yes_option
@json_option
def remove(name: str, yes: bool, as_json: bool) -> int:
    return _give(Patch(Form.RULE, Action.REMOVE, name, before=digest(_rule(name).text)), yes=yes, as_json=as_json)


def _rule(name: str) -> Item:
    from whet.cli.analysed import active_rule

    with own_store() as (home, database):
        return active_rule(database, home, name)


def _give(patch: Patch, *, yes: bool, as_json: bool) -> int:
    home, actor = find_home(os.environ), actor_of(os.environ)
    given = replace(patch, trust=trust_at(home, actor, yes=yes))
    with opened(home) as database:
        entry = submit(home, database, given, actor=actor, now=time.time())
        is_told = not as_json and entry.step is not Step.PROPOSED and bool(entry.after)
        told = told_to(entry, home, database) if is_told else ""
    return give(entry_record(entry), (_outcome(entry, told), *why_waits((entry,))), as_json=as_json)


def _outcome(entry: Entry, told: str) -> str:
    if entry.step is Step.PROPOSED:
        return f"It needs a person's approval: whet lessons show {entry.number}"
    stands = "active" if entry.after else "removed"
    next_line = told if entry.after else "To take it out of your agents' files, run `whet sync`."
    return f"Rule {plain(entry.patch.name)} is {stands} (entry {entry.number}).\n{plain(next_line)}"


def _counted(rules: int, untried: int) -> str:
    said = f", {untried:,} of them not tried: `whet try --without NAME` says whether it helps." if untried else "."
    return f"{many(rules, 'rule')}{said}"


def _record(rule: Item, grounds: str) -> dict[str, object]:
    return {
        "name": rule.name,
        "text": rule.text,
        "example": rule.example or None,
        "trust": rule.trust.label,
        "scope": scope_record(rule.scope),
        "since": iso(rule.since),
        "entry": rule.number,
        "maker": rule.maker or None,
        "canary": rule.canary,
        "grounds": grounds,
    }
