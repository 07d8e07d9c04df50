"""Who is told a rule, and by what: hooks at the start of a session, and the files of targets."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from whet.cli.output import plain
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


def changes_record(changes: Iterable[TargetChange], *, held: tuple[str, ...], dry_run: bool) -> dict[str, object]:
    """What became of every file, for programs."""
    return {"changes": [each._asdict() for each in changes], "held": held, "dry_run": dry_run}


def exit_code(changes: Iterable[TargetChange], *, held: tuple[str, ...]) -> int:
    """1 if something could not be written."""
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
