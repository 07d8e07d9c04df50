"""Who is told a rule, and by what: hooks at the start of a session, and the files of targets."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from whet.cli.output import plain, print_json, say
from whet.cli.shown.entries import diff_lines
from whet.cli.shown.reviewing import labelled, reviewed
from whet.hooks.installing import installed_hosts
from whet.machine.hooking import first_step
from whet.store.database import Database
from whet.store.home import Home
from whet.targets import sync
from whet.targets.reaching import hooked_agents
from whet.targets.sync import SyncOrder, TargetChange


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


FAILED = ("conflict", "skipped")


def order_of(home: Home, database: Database, *, dry_run: bool = False, force: bool = False) -> SyncOrder:
    return sync.order_of(home, database, now=time.time(), dry_run=dry_run, force=force)


def print_changes(changes: Iterable[TargetChange], *, held: tuple[str, ...] = (), dry_run: bool, as_json: bool) -> int:
    """Show what became of every file; the exit code is 1 if something could not be written."""
    shown = tuple(changes)
    if as_json:
        print_json(changes_record(shown, held=held, dry_run=dry_run))
    else:
        _print(shown, dry_run=dry_run)
        if held:
            say(
                f"[bold]Not written[/], for nobody approved it: {plain(', '.join(held))}. See `whet lessons --waiting`."
            )
    return exit_code(shown, held=held)


def changes_record(changes: Iterable[TargetChange], *, held: tuple[str, ...], dry_run: bool) -> dict[str, object]:
    """The same for programs."""
    return {"changes": [each._asdict() for each in changes], "held": held, "dry_run": dry_run}


def exit_code(changes: Iterable[TargetChange], *, held: tuple[str, ...]) -> int:
    return int(bool(held) or any(change.kind in FAILED for change in changes))


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


def _print(changes: tuple[TargetChange, ...], *, dry_run: bool) -> None:
    if not changes:
        say("Nothing to write.")
        return
    for change in changes:
        say(f"[bold]{plain(', '.join(change.targets))}[/]: {_word(change, dry_run)} {plain(change.path)}")
        for line in labelled("", change.note) if change.note else ():
            say(line)
        if change.diff and (dry_run or change.kind == "conflict") and change.kind != "unchanged":
            head = "\n".join(change.diff.split("\n")[:2])  # which side is whose
            for line in (*reviewed(head, style="dim"), *diff_lines(change.diff)):
                say(line)


def _word(change: TargetChange, dry_run: bool) -> str:
    is_only_block = change.kind == "removed" and Path(change.path).is_file()
    word = "block removed" if is_only_block else change.kind
    return f"would be {word}" if dry_run and change.kind in ("written", "removed") else word
