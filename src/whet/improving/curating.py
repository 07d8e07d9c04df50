"""Curating: what was found to overlap or to be stale waits for a person, as changes with a diff."""

from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.apply import Refused
from whet.changes.pending import propose
from whet.changes.skill_changes import known
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry
from whet.own.told.overlaps import STALE_DAYS, Overlap, findings
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.memory_files import MemoryFolder, load
from whet.store.skill_files import skill_uses, usable

PAGES = ("memory", "user")


class Proposed(NamedTuple):
    """A finding, the entries that wait for a person, and why a change could not be proposed."""

    finding: Overlap
    entries: tuple[Entry, ...]
    refused: tuple[str, ...] = ()


def look(home: Home, database: Database, *, now: float, days: float = STALE_DAYS) -> tuple[Overlap, ...]:
    """What overlaps or is stale, without proposing anything."""
    counted = skill_uses(database)
    skills = [
        replace(skill, uses=counted[skill.name].views) if skill.name in counted else skill
        for skill in usable(home.folder)
    ]
    state = ledger_of(home, database).state()
    memories = [load(MemoryFolder(home.folder), page, known(state, page)) for page in PAGES]
    return findings(skills, memories, now=now, days=days)


def curate(home: Home, database: Database, *, now: float, days: float = STALE_DAYS) -> tuple[Proposed, ...]:
    """Propose what would put things right. A person decides on each change; nothing is changed here."""
    return tuple(_propose(home, database, finding, now) for finding in look(home, database, now=now, days=days))


def _propose(home: Home, database: Database, finding: Overlap, now: float) -> Proposed:
    entries, refused = [], []
    for patch in finding.patches:
        try:
            entries.append(propose(home, database, patch, actor=Actor.POLICY, now=now))
        except (Refused, WhetError) as error:
            refused.append(str(error))
    return Proposed(finding, tuple(entries), tuple(refused))
