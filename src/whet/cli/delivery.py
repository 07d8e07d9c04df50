"""Who is told a rule, and by what: hooks, the files of targets, and at first a share of the sessions."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from whet.agents.registry import first_step
from whet.changes.pending import approve_live
from whet.cli.output import labelled, plain, reviewed
from whet.cli.shown.entries import diff_lines
from whet.errors import WhetError
from whet.improving.live_sessions import days_until_known
from whet.ledger.entries import Actor, Entry, Item
from whet.ledger.holding import WorkLocation, holds
from whet.ledger.patches import Action, Form, Patch
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.recording import SOURCE
from whet.store.settings_file import load as load_settings
from whet.telling.hooks.installing import installed_hosts
from whet.telling.targets import settings
from whet.telling.targets.settings import Reader, command_for, hooked_agents, reader_of, reads
from whet.telling.targets.sync import TargetChange, tell
from whet.text.words import many

HOOK, FILE, PROMPT = "hook", "file", "prompt"
SHARE = 0.5
FAILED = ("conflict", "skipped")


class LiveReader(NamedTuple):
    """An agent, and what tells its sessions: a hook, a file that is drawn for by the day, or Whet's own prompt."""

    agent: str
    by: str
    file: str = ""

    @property
    def words(self) -> str:
        how = {HOOK: f"{self.agent} (hook)", FILE: f"{self.agent} ({self.file}, drawn each day)"}
        return how.get(self.by, "Whet's own agent")


def live_readers(home: Home, rule: Item, *, is_new: bool) -> tuple[LiveReader, ...]:
    """Who would be told a rule on trial. A new rule is told by hooks where an agent that reads a file has them."""
    tellers = hook_tellers(home)
    ready = (*tellers.calling, *(name for name in tellers.silent if not first_step(name)))
    hooked = (LiveReader(name, HOOK) for name in sorted(ready) if reads(Reader(name), rule))
    model = load_settings(home).model  # without one, Whet's own agent does not run
    own = (LiveReader(SOURCE, PROMPT),) if model and holds(rule.scope, WorkLocation(model=model)) else ()
    return (*hooked, *_by_file(home, rule, tellers.calling if is_new else ()), *own)


def _by_file(home: Home, rule: Item, hooked: tuple[str, ...]) -> Iterator[LiveReader]:
    targets = [target for target in settings.load(home) if target.file]
    drawn_by_hooks = {os.path.realpath(target.file) for target in targets if target.agent in hooked}
    for target in targets:
        if os.path.realpath(target.file) not in drawn_by_hooks and reads(reader_of(target), rule):
            yield LiveReader(target.agent, FILE, target.file)


def expect_told(home: Home, database: Database, patch: Patch) -> tuple[LiveReader, ...]:
    """Who would be told a rule; raises WhetError with what to run where nobody would be."""
    rule = Item(patch.form, patch.name, patch.text, patch.scope, patch.trust)
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
    """Rules that are live from now on, or no more: their entries, who is told, the files written, and in words."""

    entries: tuple[Entry, ...]
    told: tuple[LiveReader, ...] | None
    files: tuple[TargetChange, ...]
    words: str


def begin_waiting(home: Home, database: Database, *entries: Entry, actor: Actor, share: float = SHARE) -> BegunLive:
    """Tell changes that wait to a share of the sessions, by a person's yes; raises where nobody would be told."""
    told = expect_told(home, database, entries[0].patch)
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
    days = days_until_known(database, rules, by_day=all(each.by == FILE for each in told), now=time.time())
    when = f" (about {many(days, 'day')})" if days else ""
    whom = ", ".join(each.words for each in told)
    helps = f"the {len(made)} help together" if len(made) > 1 else "it helps"
    what = f"told to {100 * share:.0f} % of new sessions of {whom} until it is known whether {helps}{when}"
    return BegunLive(made, told, files, f"{what}; to see how it goes, run `whet live`")


class HookTellers(NamedTuple):
    """Agents whose hooks tell rules: those seen calling lately, and those that have them and were not seen yet."""

    calling: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    def among(self, names: Iterable[str]) -> "HookTellers":
        kept = frozenset(names)
        return HookTellers(*(tuple(name for name in each if name in kept) for each in self))


def hook_tellers(home: Home) -> HookTellers:
    """The agents on this machine that hooks tell."""
    calling = hooked_agents(home, now=time.time())
    silent = installed_hosts(home, Path.home(), os.environ) - calling
    return HookTellers(tuple(sorted(calling)), tuple(sorted(silent)))


def told_sentences(tellers: HookTellers, where: str = "") -> list[str]:
    """Who is told at the start of which sessions; empty where no hook tells anybody."""
    at_once = [name for name in tellers.silent if not first_step(name)]
    sentences = []
    if tellers.calling:
        sentences.append(f"Told at the start of each session{where}: {', '.join(tellers.calling)}.")
    if at_once:
        hooks = "their hooks are" if len(at_once) > 1 else "its hook is"
        sentences.append(
            f"Told from the next session{where} on: {', '.join(at_once)} ({hooks} installed, and not yet seen calling)."
        )
    for name in tellers.silent:
        if step := first_step(name):
            sentences.append(f"{name} is not told yet: {step}.")
    return sentences


def touched(changes: Iterable[TargetChange]) -> list[dict[str, str]]:
    """For programs: the files that a change of what is in force reached, or could not reach."""
    return [{"path": each.path, "change": each.kind} for each in changes if each.kind != "unchanged"]


def touched_lines(changes: Iterable[TargetChange]) -> Iterator[str]:
    """The same for people, a line for each file."""
    for change in changes:
        if change.kind in FAILED:
            yield f"[yellow]Not updated[/]: {plain(change.path)}. {plain(change.note)} To look at it: `whet sync`."
        elif change.kind != "unchanged":
            yield f"{_word(change, dry_run=False).capitalize()}: {plain(change.path)}"


def change_lines(changes: Sequence[TargetChange], *, held: tuple[str, ...] = (), dry_run: bool) -> Iterator[str]:
    """What became of every file."""
    if not changes:
        yield "Nothing to write."
    for change in changes:
        yield f"[bold]{plain(', '.join(change.targets))}[/]: {_word(change, dry_run)} {plain(change.path)}"
        yield from labelled("", change.note) if change.note else ()
        if change.diff and (dry_run or change.kind == "conflict") and change.kind != "unchanged":
            head = "\n".join(change.diff.split("\n")[:2])  # which side is whose
            yield from (*reviewed(head, style="dim"), *diff_lines(change.diff))
    if held:
        yield f"[bold]Not written[/], for nobody approved it: {plain(', '.join(held))}. See `whet lessons --waiting`."


def _word(change: TargetChange, dry_run: bool) -> str:
    is_only_block = change.kind == "removed" and Path(change.path).is_file()
    word = "block removed" if is_only_block else change.kind
    return f"would be {word}" if dry_run and change.kind in ("written", "removed") else word
