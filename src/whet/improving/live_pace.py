"""How long it takes until live sessions tell whether a rule helps, at the pace of late."""

import math
from collections.abc import Sequence

from whet.evidence.coin_looks import LOOKS
from whet.improving.live_sessions import DrawnUnit, live_sessions, measure, where_of
from whet.ledger.entries import Item
from whet.ledger.holding import holds
from whet.lessons.following import detector_of
from whet.store.database import Database
from whet.telling.targets.known_projects import KnownProjects

DAYS, DAY_SECONDS = 28, 86_400
MOST_READ, LEAST_READ = 60, 10
ENOUGH = LOOKS[2]
"""After so many sessions in its situation a rule that spares most failures is known to (evidence.coin_looks)."""


def days_until_known(database: Database, rules: Sequence[Item], *, by_day: bool = False, now: float) -> int | None:
    """In about how many days enough sessions will have come into a situation of the rules; None where nothing tells.

    Where a file is drawn for by the day, all sessions of a day count as one.
    """
    rules = [rule for rule in rules if detector_of(rule.situation)]
    if not rules:
        return None
    projects = KnownProjects(database)
    recent = live_sessions(database, since=now - DAYS * DAY_SECONDS)
    meant = [each for each in recent if holds(rules[0].scope, where_of(each, projects.identity(each.folder)))]
    read = [DrawnUnit("", False, (each,)) for each in meant[-max(LEAST_READ, MOST_READ // len(rules)) :]]
    came_up = sum(any(measure(database, one.situation, each).failed is not None for one in rules) for each in read)
    if not came_up:
        return None
    a_day = came_up * len(meant) / len(read) / days_seen(meant[0].dated, now=now)
    return math.ceil(ENOUGH / (min(a_day, 1.0) if by_day else a_day))


def days_seen(first: float, *, now: float) -> float:
    """Over how many days sessions are known: who began yesterday has not had four weeks of few."""
    return min(DAYS, max(1.0, (now - first) / DAY_SECONDS))
