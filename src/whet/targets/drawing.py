"""Canaries in files: which of them stand in a file today. A file is drawn for by the day, for its readers share it."""

import os
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from whet.ledger.entries import Item
from whet.store.canary_counts import Delivery
from whet.targets.offering import Offer
from whet.targets.reaching import reader_of, reads
from whet.targets.settings import Target
from whet.trials.canaries import key_of, told_rules
from whet.trials.draws import is_told


def unit_of(path: str, day: str) -> str:
    """What is drawn for: one file on one day. Without a day, nothing is."""
    return f"{os.path.realpath(path)}@{day}" if day else ""


def for_files(offer: Offer, targets: Iterable[Target], hooked: frozenset[str]) -> Offer:
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


def drawn(offer: Offer, path: str, day: str) -> tuple[Item, ...]:
    """The rules as one file holds them on a day."""
    told = told_rules(offer.rules, offer.before, unit_of(path, day))
    return tuple(replace(item, canary=False) if item.canary else item for item in told)


def deliveries_of(offer: Offer, path: str, day: str, targets: Iterable[Target]) -> Iterator[Delivery]:
    """For each canary that is meant for the readers of a file, whether they are told today."""
    readers = tuple(targets)
    for item in offer.rules if day else ():
        if item.canary and any(reads(reader_of(target), item) for target in readers):
            told = is_told(key_of(item), unit_of(path, day), item.share)
            agents = tuple(sorted({target.agent for target in readers}))
            project = readers[0].project if all(target.project == readers[0].project for target in readers) else ""
            yield Delivery(item.number, os.path.realpath(path), day, told, agents, project, 0.0)
