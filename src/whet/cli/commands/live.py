"""whet live: rules that a share of the sessions is told, and what came of it."""

import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import click

from whet.changes.apply import promote, revert, try_out
from whet.changes.pending import approve_live
from whet.cli.acting import actor_of, need_terminal, trust_at
from whet.cli.delivery import touched, touched_lines
from whet.cli.options import json_option, yes_option
from whet.cli.output import plain, print_json, say
from whet.cli.shown.entries import entry_record
from whet.cli.shown.live import live_record, measured_record, show_live, show_measured
from whet.cli.shown.reviewing import cautions, reviewed, size_of
from whet.cli.told_by_hooks import hook_tellers
from whet.errors import WhetError
from whet.improving.live_pace import days_until_known
from whet.improving.watch import live_lessons, look
from whet.ledger.entries import Entry, Item, Step
from whet.ledger.holding import Whereabouts, holds
from whet.ledger.patches import Action, Form, Patch, digest
from whet.ledger.reach import scope_of
from whet.setup.hooking import first_step
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.recording import SOURCE
from whet.store.settings_file import load as load_settings
from whet.targets import settings
from whet.targets.reaching import Reader, reader_of, reads
from whet.targets.readers import command_for
from whet.targets.sync import TargetChange
from whet.targets.telling import tell

HOOK, FILE, PROMPT = "hook", "file", "prompt"
SHARE = 0.5
share_option = click.option(
    "--share",
    default=SHARE,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of sessions that get the rule.",
)


@click.group(
    "live",
    invoke_without_command=True,
    epilog="Example: whet live start 12",
    help="List the rules that only a share of sessions gets, with the evidence so far. A hash of the session id "
    "decides which sessions; for the files of other agents, a hash of the day. `whet live look` tells a rule that "
    "helps to every session, and takes back one that harms.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    home = find_home(os.environ)
    with opened(home) as database:
        found = live_lessons(home, database)
    if as_json:
        print_json({"live": [live_record(each) for each in found]})
    else:
        show_live(found)
    return 0


@command.command(
    "start",
    epilog="Example: whet live start 4 --share 0.3",
    help="Tell a rule to a share of new sessions until it is known whether it helps. ID is a change that waits: this "
    "approves it for these sessions. It says who is told, and does nothing where nobody would be.",
)
@click.argument("name", metavar="[ID]", required=False)
@click.option("--rule", default="", metavar="TEXT", help="Text of the rule, in place of ID.")
@share_option
@yes_option
@json_option
def start(name: str | None, rule: str, share: float, yes: bool, as_json: bool) -> int:
    if bool(rule) == bool(name):
        raise WhetError("Give exactly one change to try.", advice="Give one of: ID, --rule TEXT.")
    home, actor, now = find_home(os.environ), actor_of(os.environ), time.time()
    with opened(home) as database:
        if name:
            entry = _waiting(home, database, name)
            told = _expect_told(home, database, entry)
            made = _approved(home, database, entry, share)
        else:
            trust = trust_at(home, actor, yes=yes)
            patch = Patch(Form.RULE, Action.ADD, f"tried-{digest(rule)[:8]}", rule.strip(), trust=trust)
            told = _expect_told(home, database, Entry(0, Step.CANARY, patch, actor, now))
            made = try_out(home, database, patch, actor=actor, now=now, share=share)
        files = tell(home, database, now=now)
        rule_told = ledger_of(home, database).state().get(Form.RULE, made.patch.name)
        days = days_until_known(database, rule_told, now=now) if rule_told else None
    when = f" (about {days} days)" if days else ""
    what = f"told to {100 * share:.0f} % of new sessions of {', '.join(each.words for each in told)} until it is known"
    return _said(made, files, f"{what} whether it helps{when}; to see how it goes, run `whet live`", as_json, told)


@command.command(
    "stop",
    epilog="Example: whet live stop read-before-edit",
    help="End a comparison by its name or entry, and take the rule back; with --keep, tell it to every session.",
)
@click.argument("name")
@click.option("--keep", is_flag=True, help="Tell the rule to every session from now on.")
@json_option
def stop(name: str, keep: bool, as_json: bool) -> int:
    act: Callable[..., Entry] = promote if keep else revert
    home, now = find_home(os.environ), time.time()
    with opened(home) as database:
        item = _canary(ledger_of(home, database).state().rules, name)
        entry = act(home, database, item.number, actor=actor_of(os.environ), now=now, note="by hand")
        files = tell(home, database, now=now)
    return _said(entry, files, "applied to every new session" if keep else "taken back", as_json)


@command.command(
    "look",
    epilog="Example: whet live look --json",
    help="Compare finished sessions with and without each rule that is live, tell rules that clearly help to every "
    "session and take back rules that harm. A rule that came of a lesson is compared by its own failure in sessions in "
    "its situation, as a detector sees it, with guards beside it. Templates chosen by `--warm auto` are compared like "
    "rules; one that harms or is not worth its tokens is retired. The worker does this every hour.",
)
@click.option(
    "--settled",
    default=60.0,
    show_default=True,
    type=click.FloatRange(0),
    help="Minutes of inactivity after which a session counts as finished.",
)
@json_option
def look_(settled: float, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        found = look(home, database, now=time.time(), settled_seconds=60 * settled)
    if as_json:
        lessons = [live_record(each) for each in found.canaries]
        print_json({"live": lessons, "templates": [measured_record(each) for each in found.templates]})
        return 0
    if found.canaries or not found.templates:
        show_live(found.canaries)
    show_measured(found.templates)
    return 0


class LiveReader(NamedTuple):
    """An agent, and what tells its sessions: a hook, a file that is drawn for by the day, or Whet's own prompt."""

    agent: str
    by: str
    file: str = ""

    @property
    def words(self) -> str:
        return {HOOK: f"{self.agent} (hook)", FILE: f"{self.agent} ({self.file}, drawn each day)"}.get(
            self.by, "Whet's own agent"
        )


def live_readers(home: Home, rule: Item, *, is_new: bool) -> tuple[LiveReader, ...]:
    """Who would be told a rule on trial. A new rule is told by hooks where an agent that reads a file has them."""
    tellers = hook_tellers(home)
    ready = (*tellers.calling, *(name for name in tellers.silent if not first_step(name)))
    hooked = (LiveReader(name, HOOK) for name in sorted(ready) if reads(Reader(name), rule))
    return (*hooked, *_by_file(home, rule, tellers.calling if is_new else ()), *_by_prompt(home, rule))


def _by_file(home: Home, rule: Item, hooked: tuple[str, ...]) -> Iterator[LiveReader]:
    targets = [target for target in settings.load(home) if target.file]
    drawn_by_hooks = {os.path.realpath(target.file) for target in targets if target.agent in hooked}
    for target in targets:
        if os.path.realpath(target.file) not in drawn_by_hooks and reads(reader_of(target), rule):
            yield LiveReader(target.agent, FILE, target.file)


def _by_prompt(home: Home, rule: Item) -> Iterator[LiveReader]:
    """Whet's own agent, where it has a model to run."""
    model = load_settings(home).model
    if model and holds(rule.scope, Whereabouts(model=model)):
        yield LiveReader(SOURCE, PROMPT)


def _expect_told(home: Home, database: Database, entry: Entry) -> tuple[LiveReader, ...]:
    """Who would be told a rule; raises WhetError with what to run where nobody would be."""
    patch = entry.patch
    rule = Item(patch.form, patch.name, patch.text, scope_of(entry, ledger_of(home, database).state()), patch.trust)
    found = live_readers(home, rule, is_new=patch.action is Action.ADD)
    if found:
        return found
    unfinished = [f" For {name}: {first_step(name)}." for name in hook_tellers(home).silent if first_step(name)]
    command = command_for(database, rule.scope.project)
    raise WhetError(
        "No session would be told it: no agent has Whet's hooks, no target is for it, and Whet's agent has no model.",
        advice=f"Run `whet setup` for hooks or `{command}` for a file, then start it again.{''.join(unfinished)}",
    )


def _waiting(home: Home, database: Database, name: str) -> Entry:
    """The change that waits by its entry, or by the id of its lesson."""
    if name.isdecimal():
        return ledger_of(home, database).entry(int(name))
    from whet.improving.learned import waiting_lessons

    found = (each.proposal for each in waiting_lessons(home, database, now=time.time()) if each.id == name)
    entry = next(found, None)
    if entry is None:
        raise WhetError(f"No lesson {name} waits for you.", advice="To list what waits, run `whet lessons --waiting`.")
    return entry


def _approved(home: Home, database: Database, entry: Entry, share: float) -> Entry:
    patch = entry.patch
    if patch.is_foreign:
        need_terminal()
        for line in (*reviewed(patch.text), *cautions(patch.text)):
            say(line)
        question = f"Approve exactly this ({size_of(patch.text)}) for a share of sessions?"
        click.confirm(question, abort=True, err=True)
    return approve_live(home, database, entry.number, actor=actor_of(os.environ), now=time.time(), share=share)


def _canary(rules: tuple[Item, ...], name: str) -> Item:
    found = next((item for item in rules if item.canary and name in (item.name, str(item.number))), None)
    if found is None:
        known = ", ".join(item.name for item in rules if item.canary) or "none"
        raise WhetError(f"No rule {name} is live.", advice=f"Live: {known}.")
    return found


def _said(
    entry: Entry,
    files: tuple[TargetChange, ...],
    what: str,
    as_json: bool,
    told: tuple[LiveReader, ...] | None = None,
) -> int:
    if as_json:
        readers = {} if told is None else {"told": [each._asdict() for each in told]}
        print_json({**entry_record(entry), "files": touched(files), **readers})
        return 0
    say(f"Entry {entry.number}: rule {plain(entry.patch.name)} is {plain(what)}.")
    for line in touched_lines(files):
        say(line)
    return 0
