"""The rules in force, compiled into one file of the home, so that a hook needs no database to tell them."""

import os
from collections.abc import Mapping

import msgspec

from whet.agents.registry import hosts
from whet.ledger.entries import Item
from whet.lessons.call_patterns import CallPattern
from whet.lessons.following import pattern_of, situation_of
from whet.own.told.prompt import Budgets
from whet.sessions.trust import Trust
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home, find_home, prepare_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.telling.hooks.events import FOLDER, REMINDERS, RULES, has_hooks
from whet.telling.targets.drawing import TextsToTell, frame, offered_rules, reminder_frame, scoped_line
from whet.telling.targets.settings import Reader, reads
from whet.trials.told_rules import key_of
from whet.values import Value


class CompiledRule(Value, frozen=True):
    """One rule as a hook reads it, all fields written out: `canary` is what is drawn by, empty for a rule for all."""

    entry: int
    line: str
    agents: tuple[str, ...]
    purposes: tuple[str, ...]
    project: str
    operator: bool
    canary: str
    share: float
    before: "CompiledRule | None"


class CompiledReminder(Value, frozen=True):
    """One rule that is told again at calls that match its pattern, as a hook reads it."""

    entry: int
    line: str
    agents: tuple[str, ...]
    purposes: tuple[str, ...]
    project: str
    calls: CallPattern


class CompiledReminders(Value, frozen=True):
    """All rules to be reminded of, and the text that stands around them."""

    frame: str
    reminders: tuple[CompiledReminder, ...]


class CompiledRules(Value, frozen=True):
    """All rules in force, the oldest first, and the text that stands around them."""

    frame: str
    budget: int
    rules: tuple[CompiledRule, ...]


def compile_rules(offer: TextsToTell) -> CompiledRules:
    """What hooks may tell, of what there is to tell."""
    return CompiledRules(frame(), Budgets().rules, tuple(_compiled(rule, offer) for rule in offer.rules))


def compile_reminders(offer: TextsToTell) -> CompiledReminders:
    """What hooks remind of. Nothing that is on trial: its sessions are to differ by the rule alone."""
    wanted = (rule for rule in offer.rules if rule.scope.at_call and not rule.canary)
    found = ((rule, pattern_of(situation_of(rule))) for rule in wanted)
    return CompiledReminders(
        reminder_frame(), tuple(_reminder(rule, pattern) for rule, pattern in found if pattern is not None)
    )


def refresh_compiled(home: Home, database: Database) -> bool:
    """Bring the compiled files up to date; whether one had to be written. A home without hooks has none."""
    if not has_hooks(home.folder):
        return False
    offer = offered_rules(ledger_of(home, database))
    reminders = compile_reminders(offer)
    bodies = {
        RULES: msgspec.json.encode(compile_rules(offer)),
        REMINDERS: msgspec.json.encode(reminders) if reminders.reminders else None,
    }
    changed = [name for name, body in bodies.items() if _put(home, name, body)]
    return bool(changed)


def compile_now(environment: Mapping[str, str]) -> None:
    """Compile from the store as the environment names it."""
    home = find_home(environment)
    prepare_home(home)
    os.makedirs(home.folder / FOLDER, mode=0o700, exist_ok=True)
    with opened(home) as database:
        refresh_compiled(home, database)


def _put(home: Home, name: str, body: bytes | None) -> bool:
    """The file as it should be, None for no file; whether it had to be changed."""
    place = files.beneath(home.folder, FOLDER, name)
    standing = files.read(place)
    if standing == body:
        return False
    try:
        if body is not None:
            files.write(place, body, expected=standing)
        elif standing is not None:
            files.remove(place, expected=standing)
    except files.Conflict:  # another process wrote what is as new
        return False
    return True


def _reminder(rule: Item, pattern: CallPattern) -> CompiledReminder:
    return CompiledReminder(
        entry=rule.number,
        line=scoped_line(rule),
        agents=tuple(host for host in hosts() if reads(Reader(host), rule)),
        purposes=rule.scope.purposes,
        project=rule.scope.project,
        calls=pattern,
    )


def _compiled(rule: Item, offer: TextsToTell) -> CompiledRule:
    before = offer.before.get(rule.number) if rule.canary else None
    return CompiledRule(
        entry=rule.number,
        line=scoped_line(rule),
        agents=tuple(host for host in hosts() if reads(Reader(host), rule)),
        purposes=rule.scope.purposes,
        project=rule.scope.project,
        operator=rule.trust is Trust.OPERATOR,
        canary=key_of(rule) if rule.canary else "",
        share=rule.share,
        before=_compiled(before, offer) if before is not None else None,
    )
