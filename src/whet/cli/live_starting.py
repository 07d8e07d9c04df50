"""A rule told to a share of the sessions: who would be told it, and how it begins."""

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from whet.changes.pending import approve_live
from whet.cli.delivery import hook_tellers
from whet.errors import WhetError
from whet.improving.live_pace import days_until_known
from whet.ledger.entries import Actor, Entry, Item, Whereabouts, holds
from whet.ledger.folding import scope_of
from whet.ledger.patches import Action, Form
from whet.machine.hooking import first_step
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.recording import SOURCE
from whet.store.settings_file import load as load_settings
from whet.targets import settings
from whet.targets.reaching import Reader, command_for, reader_of, reads
from whet.targets.sync import TargetChange, tell

HOOK, FILE, PROMPT = "hook", "file", "prompt"
SHARE = 0.5


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


def expect_told(home: Home, database: Database, entry: Entry) -> tuple[LiveReader, ...]:
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


class BegunLive(NamedTuple):
    """Rules that are live from now on: their entries, who is told, the files written, and the same in words."""

    entries: tuple[Entry, ...]
    told: tuple[LiveReader, ...]
    files: tuple[TargetChange, ...]
    words: str


def begin_waiting(home: Home, database: Database, *entries: Entry, actor: Actor, share: float = SHARE) -> BegunLive:
    """Tell changes that wait to a share of the sessions, by a person's yes; raises where nobody would be told."""
    told = expect_told(home, database, entries[0])
    numbers = [entry.number for entry in entries]
    made = approve_live(home, database, numbers, actor=actor, now=time.time(), share=share)
    return begun(home, database, made, told, share=share)


def begun(
    home: Home, database: Database, made: tuple[Entry, ...], told: tuple[LiveReader, ...], *, share: float
) -> BegunLive:
    """What became of it: the files brought up to date, and about how long it takes to know."""
    files = tell(home, database, now=time.time())
    state = ledger_of(home, database).state()
    rules = [rule for entry in made if (rule := state.get(Form.RULE, entry.patch.name))]
    days = days_until_known(database, rules, now=time.time())
    when = f" (about {days} days)" if days else ""
    whom = ", ".join(each.words for each in told)
    helps = f"the {len(made)} help together" if len(made) > 1 else "it helps"
    what = f"told to {100 * share:.0f} % of new sessions of {whom} until it is known whether {helps}{when}"
    return BegunLive(made, told, files, f"{what}; to see how it goes, run `whet live`")
