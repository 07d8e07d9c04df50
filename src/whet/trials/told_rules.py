"""Which rules a session is told while some are tried live; without the bets on them, which no start needs."""

from collections.abc import Iterable, Mapping

from whet.ledger.entries import Item, State
from whet.ledger.patches import digest
from whet.trials.draws import is_told

SHARE = 0.5


def key_of(item: Item) -> str:
    """What a canary's draws are made by: the entry that began it and its text, so that each new try draws anew.

    The lessons of a bundle draw as one.
    """
    if item.bundle:
        return f"bundle/{item.bundle}"
    return f"{item.number}/{item.name}/{digest(item.text)}"


def told_rules(rules: Iterable[Item], before: Mapping[int, Item | None], unit: str) -> tuple[Item, ...]:
    """The rules that a unit is told, the oldest first. One that is not told of a change keeps what stood before.

    Without a unit there is nothing to draw by, and no canary is told.
    """
    told: list[Item] = []
    for rule in rules:
        item: Item | None = rule
        while item is not None and item.canary and not (unit and is_told(key_of(item), unit, item.share)):
            item = before.get(item.number)
        told += [item] if item is not None else []
    return tuple(told)


def replaced_by(state: State) -> dict[int, Item | None]:
    """What stood where a canary is now, by the number of its entry."""
    return {change.number: change.before for change in state.done if change.after and change.after.canary}
