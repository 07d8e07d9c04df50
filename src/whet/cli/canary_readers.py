"""Whose sessions a canary is drawn for, and by which way it is told there."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from whet.cli.told_by_hooks import hook_tellers
from whet.errors import WhetError
from whet.ledger.entries import Item
from whet.ledger.holding import Whereabouts, holds
from whet.setup.hooking import first_step
from whet.store.database import Database
from whet.store.home import Home
from whet.store.recording import SOURCE
from whet.store.settings_file import load as load_settings
from whet.targets import settings
from whet.targets.reaching import Reader, command_for, reader_of, reads

HOOK, FILE, PROMPT = "hook", "file", "prompt"


class CanaryReader(NamedTuple):
    """An agent, and what tells its sessions: a hook, a file that is drawn for by the day, or Whet's own prompt."""

    agent: str
    by: str
    file: str = ""

    @property
    def words(self) -> str:
        return {HOOK: f"{self.agent} (hook)", FILE: f"{self.agent} ({self.file}, drawn each day)"}.get(
            self.by, "Whet's own agent"
        )


def canary_readers(home: Home, rule: Item, *, is_new: bool) -> tuple[CanaryReader, ...]:
    """Who would be told a rule on trial. A new rule is told by hooks where an agent that reads a file has them."""
    tellers = hook_tellers(home)
    ready = (*tellers.calling, *(name for name in tellers.silent if not first_step(name)))
    hooked = (CanaryReader(name, HOOK) for name in sorted(ready) if reads(Reader(name), rule))
    return (*hooked, *_by_file(home, rule, tellers.calling if is_new else ()), *_by_prompt(home, rule))


def expect_readers(home: Home, database: Database, rule: Item, *, is_new: bool) -> tuple[CanaryReader, ...]:
    """The same; raises WhetError with what to run where no session would be told."""
    found = canary_readers(home, rule, is_new=is_new)
    if found:
        return found
    unfinished = [f" For {name}: {first_step(name)}." for name in hook_tellers(home).silent if first_step(name)]
    command = command_for(database, rule.scope.project)
    raise WhetError(
        "No session would be told it: no agent has Whet's hooks, no target is for it, and Whet's agent has no model.",
        advice=f"Run `whet setup` for hooks or `{command}` for a file, then start it again.{''.join(unfinished)}",
    )


def _by_file(home: Home, rule: Item, hooked: tuple[str, ...]) -> Iterator[CanaryReader]:
    targets = [target for target in settings.load(home) if target.file]
    drawn_by_hooks = {os.path.realpath(target.file) for target in targets if target.agent in hooked}
    for target in targets:
        if os.path.realpath(target.file) not in drawn_by_hooks and reads(reader_of(target), rule):
            yield CanaryReader(target.agent, FILE, target.file)


def _by_prompt(home: Home, rule: Item) -> Iterator[CanaryReader]:
    """Whet's own agent, where it has a model to run."""
    model = load_settings(home).model
    if model and holds(rule.scope, Whereabouts(model=model)):
        yield CanaryReader(SOURCE, PROMPT)
