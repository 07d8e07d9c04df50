"""Canaries in the database: what was counted for each, in the order of counting, and what other agents were told.

What was counted once stays as it was, though its session may go on: the evidence was looked at.
"""

from collections.abc import Iterable
from typing import NamedTuple

from whet.store.database import Database


class CountedUnit(NamedTuple):
    """One unit that drew together, a session or a day of a file, and how its sessions went on average.

    What follows is None where it was not measured; `failed` also where the rule's situation did not come up.
    """

    unit: str
    told: bool
    loss: float
    sessions: int
    failed: bool | None = None  # the rule's own failure, in any of its sessions
    corrected: bool | None = None  # a person had to correct the agent
    unchecked: bool | None = None  # files were changed and nothing was checked
    tokens: int | None = None
    ids: tuple[str, ...] = ()  # of its sessions; none for what an earlier version counted


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
    rows = database.query(f"SELECT {COUNTED} FROM canary_counts WHERE entry = ? ORDER BY no", (entry,))
    return [
        CountedUnit(
            unit,
            bool(told),
            loss,
            sessions,
            _known(failed),
            _known(corrected),
            _known(unchecked),
            tokens,
            tuple(ids.split()),
        )
        for unit, told, loss, sessions, failed, corrected, unchecked, tokens, ids in rows
    ]


def _known(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def count(database: Database, entry: int, units: Iterable[CountedUnit], *, now: float) -> None:
    """Count units for a canary; one that is counted already stays as it is."""
    database.many(
        f"INSERT INTO canary_counts (entry, at, {COUNTED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (entry, unit) DO NOTHING",
        [(entry, now, *map(_column, each)) for each in units],
    )


def _column(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(value)
    return int(value) if isinstance(value, bool) else value


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


COUNTED = ", ".join(CountedUnit._fields)
