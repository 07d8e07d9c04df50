"""whet rules: the rules in force, your own among them."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click
from msgspec.structs import asdict, replace

from whet.changes.pending import submit
from whet.cli.acting import actor_of, trust_at, why_waits
from whet.cli.analysed import active_rule, look_at_rules
from whet.cli.deciding import told_to
from whet.cli.options import AskedRows, CommandList, json_group, own_store, yes_option
from whet.cli.output import console, fields, give, is_json, labelled, moment, next_lines, plain, reviewed
from whet.cli.shown.entries import EXAMPLE, entry_record, scope_record, scope_words
from whet.ledger.entries import Entry, Item, Step
from whet.ledger.folding import grounds_of, is_untried
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope, digest
from whet.lessons.following import Following, count_following, situation_of
from whet.sessions.exports import iso
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project
from whet.telling.targets.sync import FileStay, load_log, stays_of
from whet.text.showing import shown
from whet.text.words import many
from whet.trials.ladder import is_unheeded

NEXT = "`whet rules show` says whether they are followed, `whet sync` brings them to agents."
NONE = "No rules yet. To add one, run `whet rules add NAME TEXT`; `whet lessons` lists what your sessions teach."
NONE_MATCH = "No rule matches: `whet rules` lists all of them."
ROOMY = 120  # columns in which a table has room for the words of a rule
PURPOSES = click.Choice(["interactive", "unattended"])


class ListedRule(NamedTuple):
    """A rule with where it holds, in words, and on what grounds it is active."""

    rule: Item
    place: str
    grounds: str


RULES: CommandList[ListedRule] = CommandList(
    {
        "rule": lambda row: row.rule.name,
        "from": lambda row: row.rule.trust.label,
        "maker": lambda row: shown(row.rule.maker),
        "for": lambda row: shown(row.place) or "–",
        "since": lambda row: moment(row.rule.since),
        "grounds": lambda row: row.grounds,
        "text": lambda row: shown(row.rule.text),
    },
    spare=("maker", "from", "since", "for"),
    project=lambda row: row.rule.scope.project,
    at=lambda row: row.rule.since,
)


@json_group("rules", epilog="Example: whet rules add short-answers 'Answer in at most five lines.'")
@RULES.options
def command(asked: AskedRows) -> int:
    """List the rules that agents get, oldest first: learned ones and your own."""
    with own_store() as (home, database):
        ledger, known = ledger_of(home, database), KnownProjects(database)
        rows, entries = RULES.chosen(_listed(ledger, known), asked, known), ledger.entries()
    untried = sum(is_untried(each.rule, entries) for each in rows)
    said = f", {untried:,} of them not tried: `whet try --without NAME` says whether it helps." if untried else "."
    listed = (RULES.table(rows),) if console().width >= ROOMY else _narrow_lines(rows)
    lines = (*listed, f"[dim]{many(len(rows), 'rule')}{said}[/]", *next_lines(NEXT))
    none = NONE_MATCH if any(asked) else NONE
    return give({"rules": [_record(each.rule, each.grounds) for each in rows]}, lines if rows else (none,))


def _listed(ledger: Ledger, known: KnownProjects, names: Sequence[str] = ()) -> list[ListedRule]:
    """The rules of these names; all of them where none is named."""
    state, entries = ledger.state(), ledger.entries()
    rules = [active_rule(state, name) for name in names] or state.rules
    return [ListedRule(each, scope_words(each.scope, known.shown), grounds_of(each, entries)) for each in rules]


def _narrow_lines(rows: Sequence[ListedRule]) -> Iterator[str]:
    """In a narrow terminal the words of a rule matter most."""
    for rule, place, grounds in rows:
        yield f"[bold]{plain(shown(rule.name))}[/]: {plain(shown(rule.text))}"
        where = shown(place) or "everywhere"
        yield f"  [dim]{plain(f'{where} · since {moment(rule.since)} · {grounds}')}[/]"


@command.command("show", epilog="Example: whet rules show tidy")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def show(names: tuple[str, ...]) -> int:
    """Show rules, default: all, with the situation that each is for and what became of it in the sessions since: in how
    many the situation came up, in how many of these the agent was told the rule, and in how many it was followed.
    """
    with own_store() as (home, database):
        rows = _listed(ledger_of(home, database), KnownProjects(database), names)
        seen = look_at_rules(database, home, [each.rule for each in rows])
    fared, log = {name: count_following(every) for name, every in seen.items()}, load_log(home)
    records: list[dict[str, object]] = []
    lines: list[str] = []
    for rule, place, grounds in rows:
        stays = stays_of(log, rule.number)
        records.append({**_record(rule, grounds), **_following_record(rule, fared[rule.name], stays)})
        lines += _rule_lines(ListedRule(rule, place, grounds), fared[rule.name], stays)
    if any(each.came_up for each in fared.values()):
        lines += next_lines("`whet sessions --rule NAME` lists the sessions behind a number.")
    return give({"rules": records}, lines or (NONE,))


@command.command("add", epilog="Example: whet rules add tidy 'Remove unused imports.' --tool edit")
@click.argument("name")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("--model", "models", multiple=True, help="Apply only to models whose name contains this.")
@click.option("--tool", "tools", multiple=True, help="Apply only if the agent has this tool.")
@click.option("--purpose", "purposes", multiple=True, type=PURPOSES, help="Apply only in sessions of this purpose.")
@click.option("--project", metavar="FOLDER", help="Only in this folder's project, all clones and worktrees.")
@click.option("--replace", "is_change", is_flag=True, help="Change the text of the rule NAME.")
@yes_option
def add(
    name: str,
    words: tuple[str, ...],
    models: tuple[str, ...],
    tools: tuple[str, ...],
    purposes: tuple[str, ...],
    project: str | None,
    is_change: bool,
    yes: bool,
) -> int:
    """Add a rule of your own; with --replace, change the text of one, and where it applies stays the same."""
    scope = Scope(models, tools, purposes, name_of_project(os.path.abspath(project)) if project else "")
    given = Patch(Form.RULE, Action.ADD, name, " ".join(words), scope)
    return _give(given, is_change=is_change, yes=yes)


@command.command("remove", epilog="Example: whet rules remove tidy")
@click.argument("name")
@yes_option
def remove(name: str, yes: bool) -> int:
    """Remove a rule."""
    return _give(Patch(Form.RULE, Action.REMOVE, name), is_change=True, yes=yes)


def _give(patch: Patch, *, is_change: bool, yes: bool) -> int:
    actor = actor_of(os.environ)
    with own_store() as (home, database):
        if is_change:
            rule = active_rule(ledger_of(home, database).state(), patch.name)
            patch = replace(patch, before=digest(rule.text))
            if patch.text:
                patch = replace(patch, action=Action.CHANGE, scope=rule.scope, situation=rule.situation)
        given = replace(patch, trust=trust_at(home, actor, yes=yes))
        entry = submit(home, database, given, actor=actor, now=time.time())
        told = "" if is_json() else _outcome(entry, home, database)
    return give(entry_record(entry), (told, *why_waits((entry,))))


def _outcome(entry: Entry, home: Home, database: Database) -> str:
    if entry.step is Step.PROPOSED:
        return f"It needs a person's approval: whet lessons show {entry.number}"
    stands = "active" if entry.after else "removed"
    then = told_to(entry, home, database) if entry.after else "To take it out of your agents' files, run `whet sync`."
    return f"Rule {plain(entry.patch.name)} is {stands} (entry {entry.number}).\n{plain(then)}"


def _record(rule: Item, grounds: str) -> dict[str, object]:
    return {
        **fields(rule, "name", "text"),
        "example": rule.example or None,
        "trust": rule.trust.label,
        "scope": scope_record(rule.scope),
        "since": iso(rule.since),
        "entry": rule.number,
        "maker": rule.maker or None,
        "canary": rule.canary,
        "grounds": grounds,
    }


def _following_record(rule: Item, fared: Following, stays: Sequence[FileStay]) -> dict[str, object]:
    situation = situation_of(rule)
    return {
        "files": [{"file": each.file, "since": iso(each.since), "until": iso(each.until)} for each in stays],
        "situation": asdict(situation) if situation != RuleSituation() else None,
        "following": {**asdict(fared), "told_unknown": fared.unknown},
    }


def _rule_lines(listed: ListedRule, fared: Following, stays: Sequence[FileStay]) -> Iterator[str]:
    rule, place, grounds = listed
    since = f"trust {rule.trust.label}, since {moment(rule.since)}, {grounds}"
    yield from labelled(f"[{rule.number}] ", f"{rule.name}{f', for {place}' if place else ''}")
    yield from reviewed(rule.text)
    if rule.example:
        yield from labelled(f"   {EXAMPLE}", rule.example)
    yield f"   [dim]{plain(since)}[/]"
    situation = situation_of(rule)
    for label, words in (("goes wrong: ", situation.call), ("with: ", situation.error), ("works: ", situation.fix)):
        if words:
            yield from labelled(f"   {label}", words)
    for stay in stays:
        until = f" until {moment(stay.until)}" if stay.until is not None else ""
        yield f"   [dim]in {plain(stay.file)} since {moment(stay.since)}{until}[/]"
    yield f"   {_following_words(fared) if situation != RuleSituation() else 'no situation on record'}"
    if is_unheeded(rule, fared):
        yield "   [yellow]Told and mostly not followed. To have the next step proposed, run `whet try`.[/]"
    yield ""


def _following_words(fared: Following) -> str:
    """How a rule fared, in a line."""
    if not fared.came_up:
        return f"situation in none of {many(fared.looked, 'session')} since"
    unknown = f" (unknown in {fared.unknown})" if fared.unknown else ""
    of_told = f" ({fared.told_followed} of those told)" if fared.told else ""
    reminded = f", reminded in {fared.reminded} ({fared.reminded_followed} followed it then)" if fared.reminded else ""
    return (
        f"situation in {fared.came_up} of {many(fared.looked, 'session')} since, told in {fared.told}{unknown},"
        f" followed in {fared.followed}{of_told}{reminded}"
    )
