"""What there is to write: the rules in force as the ledger has them, and the skills of the home."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from whet.ledger.entries import Item, State
from whet.ledger.folding import fold, seen_from
from whet.ledger.patches import Form
from whet.ledger.traces import is_vouched_for
from whet.store import files, skill_files
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.targets.skill_folders import MAIN_FILE, Content
from whet.trials.canaries import replaced_by


class Offer(NamedTuple):
    """The rules and the skills, and the names of those that no person approved though one should have."""

    rules: tuple[Item, ...]
    skills: Mapping[str, Content]
    held: tuple[str, ...] = ()
    before: Mapping[int, Item | None] = MappingProxyType({})  # what stood where a canary is, by its number


def offered(home: Home, ledger: Ledger) -> Offer:
    """What may be told to other agents now."""
    state, held = _in_force(ledger)
    doubtful = {item.name.partition("/")[0] for item in held if item.form is not Form.RULE}
    skills = {name: content for name, content in skills_of(home) if name not in doubtful}
    return _offer(state, held)._replace(skills=skills)


def offered_rules(ledger: Ledger) -> Offer:
    """The rules of what may be told, without looking at the skills in the home."""
    return _offer(*_in_force(ledger))


def _in_force(ledger: Ledger) -> tuple[State, tuple[Item, ...]]:
    """What is in force, and what of it no person approved though one should have."""
    entries = ledger.entries()
    state = seen_from(ledger.home, fold(entries))
    parts = (*state.rules, *state.skills, *state.of(Form.FILE))
    return state, tuple(item for item in parts if not is_vouched_for(item, entries))


def _offer(state: State, held: tuple[Item, ...]) -> Offer:
    rules = tuple(rule for rule in state.rules if rule not in held)
    before = {number: item for number, item in replaced_by(state).items() if item is None or item not in held}
    return Offer(rules, {}, tuple(item.name for item in held), before)


def skills_of(home: Home) -> Iterator[tuple[str, Content]]:
    """The skills in the home folder that have no fault, each with its support files."""
    for skill in skill_files.usable(home.folder):
        names = (MAIN_FILE, *skill_files.support_files(home.folder, skill.name))
        content = {name: files.read(skill_files.place_of(home.folder, skill.name, name)) for name in names}
        yield skill.name, {name: body for name, body in content.items() if body is not None}
