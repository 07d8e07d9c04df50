"""Canaries in files: which of them stand in a file today. A file is drawn for by the day, for its readers share it.

What there is to write: the rules in force as the ledger has them, the skills of the home, and the text of a block.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.entries import Item, State
from whet.ledger.folding import fold, is_vouched_for, seen_from
from whet.ledger.patches import Form
from whet.own.told.prompt import Budgets, line_of
from whet.sessions.trust import Trust
from whet.shipped import guidance
from whet.store import files, skill_files
from whet.store.canary_counts import Delivery
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.telling.targets.settings import Target, reader_of, reads
from whet.telling.targets.skill_folders import MAIN_FILE, Content
from whet.text import words
from whet.trials.draws import is_told
from whet.trials.told_rules import key_of, replaced_by, told_rules


class TextsToTell(NamedTuple):
    """The rules and the skills, and the names of those that no person approved though one should have."""

    rules: tuple[Item, ...]
    skills: Mapping[str, Content]
    held: tuple[str, ...] = ()
    before: Mapping[int, Item | None] = MappingProxyType({})  # what stood where a canary is, by its number


def offered(home: Home, ledger: Ledger) -> TextsToTell:
    """What may be told to other agents now."""
    state, held = _in_force(ledger)
    doubtful = {item.name.partition("/")[0] for item in held if item.form is not Form.RULE}
    skills = {name: content for name, content in skills_of(home) if name not in doubtful}
    return _offer(state, held)._replace(skills=skills)


def offered_rules(ledger: Ledger) -> TextsToTell:
    """The rules of what may be told, without looking at the skills in the home."""
    return _offer(*_in_force(ledger))


def _in_force(ledger: Ledger) -> tuple[State, tuple[Item, ...]]:
    """What is in force, and what of it no person approved though one should have."""
    entries = ledger.entries()
    state = seen_from(ledger.home, fold(entries))
    parts = (*state.rules, *state.skills, *state.of(Form.FILE))
    return state, tuple(item for item in parts if not is_vouched_for(item, entries))


def _offer(state: State, held: tuple[Item, ...]) -> TextsToTell:
    rules = tuple(rule for rule in state.rules if rule not in held)
    before = {number: item for number, item in replaced_by(state).items() if item is None or item not in held}
    return TextsToTell(rules, {}, tuple(item.name for item in held), before)


def skills_of(home: Home) -> Iterator[tuple[str, Content]]:
    """The skills in the home folder that have no fault, each with its support files."""
    for skill in skill_files.usable(home.folder):
        names = (MAIN_FILE, *skill_files.support_files(home.folder, skill.name))
        content = {name: files.read(skill_files.place_of(home.folder, skill.name, name)) for name in names}
        yield skill.name, {name: body for name, body in content.items() if body is not None}


def unit_of(path: str, day: str) -> str:
    """What is drawn for: one file on one day. Without a day, nothing is."""
    return f"{os.path.realpath(path)}@{day}" if day else ""


def for_files(offer: TextsToTell, targets: Iterable[Target], hooked: frozenset[str]) -> TextsToTell:
    """What is there for a file. Where an agent that reads it has hooks, new rules on trial are told by those alone:
    each session draws for itself. A change of a rule stays the file's, or sessions would be told the old one too.
    Where all that read it have hooks, so are rules that are to be told at the start.
    """
    readers = tuple(targets)
    if not any(target.agent in hooked for target in readers):
        return offer
    kept = (rule for rule in offer.rules if not rule.canary or offer.before.get(rule.number) is not None)
    if _are_hooked(readers, hooked):
        kept = (rule for rule in kept if rule.canary or not rule.scope.at_start)
    return offer._replace(rules=tuple(kept))


def is_movable(rule: Item, targets: Iterable[Target], hooked: frozenset[str]) -> bool:
    """Whether a rule stands in a file that it would leave if it were told at the start."""
    by_file: dict[str, list[Target]] = {}
    for target in targets:
        if target.file:
            by_file.setdefault(os.path.realpath(target.file), []).append(target)
    moved = [readers for readers in by_file.values() if _are_hooked(readers, hooked)]
    is_told = any(reads(reader_of(target), rule) for readers in moved for target in readers)
    return not rule.scope.at_start and not rule.canary and is_told


def _are_hooked(readers: Iterable[Target], hooked: frozenset[str]) -> bool:
    return all(target.agent in hooked for target in readers)


def drawn(offer: TextsToTell, path: str, day: str) -> tuple[Item, ...]:
    """The rules as one file holds them on a day."""
    told = told_rules(offer.rules, offer.before, unit_of(path, day))
    return tuple(replace(item, canary=False) if item.canary else item for item in told)


def deliveries_of(offer: TextsToTell, path: str, day: str, targets: Iterable[Target]) -> Iterator[Delivery]:
    """For each canary that is meant for the readers of a file, whether they are told today."""
    readers = tuple(targets)
    for item in offer.rules if day else ():
        if item.canary and any(reads(reader_of(target), item) for target in readers):
            told = is_told(key_of(item), unit_of(path, day), item.share)
            agents = tuple(sorted({target.agent for target in readers}))
            project = readers[0].project if all(target.project == readers[0].project for target in readers) else ""
            yield Delivery(item.number, os.path.realpath(path), day, told, agents, project, 0.0)


class Rendered(NamedTuple):
    """The text of a block; none where no rule holds. What is beyond the budget of the prompt is left out here too."""

    text: str
    left_out: int = 0
    entries: tuple[int, ...] = ()  # of the rules that are in it


def text_for(targets: Iterable[Target], rules: Iterable[Item], *, budget: int = Budgets().rules) -> Rendered:
    """What stands in a file that these targets share: the rules that hold for one of them, the operator's first.

    A rule on trial is left out: a file is read by every session, and a trial needs some without it.
    """
    readers = tuple(map(reader_of, targets))
    held = [rule for rule in rules if not rule.canary and any(reads(reader, rule) for reader in readers)]
    held.sort(key=lambda rule: rule.trust is not Trust.OPERATOR)
    wanted = [scoped_line(rule) for rule in held]
    lines = words.fitting(wanted, budget - words.estimate(frame()))
    text = frame().replace("{body}", "\n".join(lines)) if lines else ""
    told = (rule.number for rule, line in zip(held, wanted, strict=True) if line in lines)
    return Rendered(text, len({*wanted} - {*lines}), tuple(sorted(told)))


def frame() -> str:
    """What stands around rules in a file, or at the start of a session."""
    return _text("rules.md")


def reminder_frame() -> str:
    """What stands around rules that an agent is reminded of."""
    return _text("reminder.md")


@cache
def _text(name: str) -> str:
    return (guidance.HERE / "targets" / name).read_text(encoding="utf-8").strip()


def scoped_line(rule: Item) -> str:
    """One rule as an item of a list. What its scope asks for is said, for the file is read in every session."""
    conditions = [("tool", name) for name in rule.scope.tools] + [("model", name) for name in rule.scope.models]
    said = ", ".join(f"{kind} {name}" for kind, name in conditions)
    return line_of(rule.text, said=said)
