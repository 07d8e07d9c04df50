"""The rules in force, compiled into one file of the home, so that a hook needs no database to tell them."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from whet.agents.registry import hosts
from whet.ledger.entries import Item
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


def compile_rules(offer: TextsToTell) -> dict[str, Any]:
    """What hooks may tell, of what there is to tell, the oldest first, with the text that stands around it."""
    return {"frame": frame(), "budget": Budgets().rules, "rules": [_compiled(rule, offer) for rule in offer.rules]}


def compile_reminders(offer: TextsToTell) -> dict[str, Any]:
    """What hooks remind of. Nothing that is on trial: its sessions are to differ by the rule alone."""
    wanted = (rule for rule in offer.rules if rule.scope.at_call and not rule.canary)
    found = ((rule, pattern_of(situation_of(rule))) for rule in wanted)
    reminders = [{**_for_whom(rule), "calls": pattern} for rule, pattern in found if pattern is not None]
    return {"frame": reminder_frame(), "reminders": reminders}


def _compiled(rule: Item, offer: TextsToTell) -> dict[str, Any]:
    """A rule with all that a hook needs. `canary` is what is drawn by, empty for a rule for all."""
    before = offer.before.get(rule.number) if rule.canary else None
    return {
        **_for_whom(rule),
        "operator": rule.trust is Trust.OPERATOR,
        "canary": key_of(rule) if rule.canary else "",
        "share": rule.share,
        "before": _compiled(before, offer) if before is not None else None,
    }


def _for_whom(rule: Item) -> dict[str, Any]:
    return {
        "entry": rule.number,
        "line": scoped_line(rule),
        "agents": tuple(host for host in hosts() if reads(Reader(host), rule)),
        "purposes": rule.scope.purposes,
        "project": rule.scope.project,
    }


def refresh_compiled(home: Home, database: Database) -> bool:
    """Bring the compiled files up to date; whether one had to be written. A home without hooks has none."""
    if not has_hooks(home.folder):
        return False
    offer = offered_rules(ledger_of(home, database))
    reminders = compile_reminders(offer)
    bodies = {
        RULES: msgspec.json.encode(compile_rules(offer)),
        REMINDERS: msgspec.json.encode(reminders) if reminders["reminders"] else None,
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
