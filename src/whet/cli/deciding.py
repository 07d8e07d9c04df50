"""A person at a terminal decides on what waits: one key for each change."""

import os
import sys
import termios
import time
import tty
from collections.abc import Callable, Sequence
from typing import NamedTuple

import click

from whet.changes.pending import approve, approve_edited, refuse, say_never
from whet.cli.output import many, plain, say
from whet.cli.shown.reviewing import cautions, reviewed, size_of
from whet.cli.shown.waiting import QUOTES_SHOWN, WaitingChange, change_lines
from whet.cli.told_by_hooks import hook_tellers, told_sentences
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry
from whet.ledger.patches import Form
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.targets.known_projects import KnownProjects
from whet.targets.reaching import Reader, command_for, readers_of, reads
from whet.text.showing import shown

KEYS = "a approve · e edit · r refuse · n never · s skip · q quit"
BACK = "To take this back, run `whet pending reopen {}`."
QUITTING = ("", "q", "\x1b", "\x04")  # the end of input, q, Escape, Ctrl-D


class Desk(NamedTuple):
    """Where a person decides."""

    home: Home
    database: Database
    actor: Actor


def decide_all(desk: Desk, changes: Sequence[WaitingChange]) -> None:
    """Ask about one change after another, until all are decided on or the person stops."""
    decided = 0
    for place, change in enumerate(changes, start=1):
        say(f"[bold]{place} of {len(changes)}: {plain(shown(change.group))}[/]")
        for line in change_lines(change, quotes=QUOTES_SHOWN):
            say(line)
        made = _decide(desk, change)
        if made is None:
            break
        decided += made
    left = len(changes) - decided
    rest = f" {many(left, 'change')} left: to continue, run `whet pending`." if left else ""
    say(f"Decided on {many(decided, 'change')}.{rest}")


def _decide(desk: Desk, change: WaitingChange) -> bool | None:
    """Whether the person decided; None where they quit. What cannot be done is said, and asked again."""
    while True:
        key = _press(f"{KEYS} ({size_of(change.move.after or '')})")
        if key in QUITTING:
            return None
        if key == "s":
            return False
        act = ACTS.get(key)
        if act is None:
            continue
        try:
            done = act(desk, change)
        except WhetError as error:
            say(f"[red]{plain(error.message)}[/] {plain(error.advice)}")
            continue
        if done:
            say(done)
            return True


def _press(prompt: str) -> str:
    """The key that is pressed after the prompt is shown: what was typed before it decides nothing."""
    terminal = sys.stdin.fileno()
    settings = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSAFLUSH)
        say(prompt)
        return os.read(terminal, 1).decode(errors="replace").lower()
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, settings)


def _approve(desk: Desk, change: WaitingChange) -> str:
    made = approve(desk.home, desk.database, change.entry.number, actor=desk.actor, now=time.time())
    return in_force(made, desk.home, desk.database)


def _edit(desk: Desk, change: WaitingChange) -> str:
    """Ask for the person's own words and show them; empty if they are left unchanged."""
    words = change.entry.patch.text
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        text = (click.edit(words, extension=".md") or "").rstrip("\n")
    else:
        text = str(click.prompt("New text", default="", show_default=False, err=True)).strip()
    if not text or text == words:
        say("The text is unchanged.")
        return ""
    for line in (*reviewed(text), *cautions(text)):
        say(line)
    number = change.entry.number
    made = approve_edited(desk.home, desk.database, number, text, actor=desk.actor, now=time.time())
    return in_force(made, desk.home, desk.database)


def _refuse(desk: Desk, change: WaitingChange) -> str:
    made = refuse(desk.home, desk.database, change.entry.number, actor=desk.actor, now=time.time())
    return f"Refused. {BACK.format(made.number)}"


def _refuse_for_ever(desk: Desk, change: WaitingChange) -> str:
    made = say_never(desk.home, desk.database, change.entry.number, actor=desk.actor, now=time.time())
    return f"Refused. Nothing that says the same will be proposed again. {BACK.format(made.number)}"


def in_force(made: Entry, home: Home, database: Database) -> str:
    """What a person reads after a yes: that it is active, and who is told it."""
    active = f"Approved and active: {made.patch.form} {plain(made.patch.name)} (entry {made.number})."
    if made.patch.form is not Form.RULE or not made.after:
        return active
    return f"{active}\n{plain(told_to(made, home, database))}"


def told_to(made: Entry, home: Home, database: Database) -> str:
    """Which agents are told a rule and by what, or the command that is missing."""
    rule = ledger_of(home, database).state().get(Form.RULE, made.patch.name)
    assert rule is not None
    scope = rule.scope
    _, paths = readers_of(home, rule, now=time.time())
    project = f" in {shown(KnownProjects(database).shown(scope.project))}" if scope.project else ""
    tellers = hook_tellers(home)
    told = told_sentences(
        tellers.among(name for each in tellers for name in each if reads(Reader(name), rule)), project
    )
    if paths:
        told.append(f"To write it to {', '.join(paths)}, run `whet sync`.")
    if told:
        return " ".join(told)
    command = command_for(database, scope.project)
    return f"No agent is told it yet. Run `{command}` and `whet sync`, or `whet setup` for hooks."


ACTS: dict[str, Callable[[Desk, WaitingChange], str]] = {"a": _approve, "e": _edit, "r": _refuse, "n": _refuse_for_ever}
