"""Canaries in the database: what was counted for each, in the order of counting, and what other agents were told.

What was counted once stays as it was, though its session may go on: the evidence was looked at.
"""

from collections.abc import Iterable
from typing import NamedTuple

from whet.store.database import Database


class CountedUnit(NamedTuple):
    """One unit that drew together, a session or a day of a file, and how its sessions went on average."""

    unit: str
    told: bool
    loss: float
    sessions: int


class Delivery(NamedTuple):
    """What stood in a file on a day: with the canary or without it, and for whose sessions."""

    entry: int
    file: str
    day: str
    told: bool
    agents: tuple[str, ...]
    project: str
    at: float


def counted(database: Database, entry: int) -> list[CountedUnit]:
    """What was counted for a canary, the first first."""
    rows = database.query("SELECT unit, told, loss, sessions FROM canary_counts WHERE entry = ? ORDER BY no", (entry,))
    return [CountedUnit(unit, bool(told), loss, sessions) for unit, told, loss, sessions in rows]


def count(database: Database, entry: int, units: Iterable[CountedUnit], *, now: float) -> None:
    """Count units for a canary; one that is counted already stays as it is."""
    database.many(
        "INSERT INTO canary_counts (entry, unit, told, loss, sessions, at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (entry, unit) DO NOTHING",
        [(entry, each.unit, int(each.told), each.loss, each.sessions, now) for each in units],
    )


def keep_delivery(database: Database, delivery: Delivery) -> None:
    """Write down what stands in a file; the first of a day counts."""
    entry, file, day, told, agents, project, at = delivery
    database.execute(
        "INSERT INTO canary_deliveries (entry, file, day, told, agents, project, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (entry, file, day) DO NOTHING",
        (entry, file, day, int(told), "\n".join(agents), project, at),
    )


def deliveries(database: Database, entry: int) -> list[Delivery]:
    """What was delivered of a canary, the oldest first."""
    rows = database.query(
        "SELECT entry, file, day, told, agents, project, at FROM canary_deliveries WHERE entry = ? ORDER BY day, file",
        (entry,),
    )
    return [
        Delivery(number, file, day, bool(told), tuple(agents.split("\n")), project, at)
        for number, file, day, told, agents, project, at in rows
    ]
