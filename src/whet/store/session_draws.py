"""Draws for sessions of other agents: which of them were told a canary when they started."""

from collections.abc import Iterable
from typing import NamedTuple

from whet.store.database import Database


class KeptDraw(NamedTuple):
    """Whether a session was told a canary, the share that it drew with, which session, and when it started."""

    entry: int
    told: bool
    share: float
    agent: str
    session: str  # as its agent names it
    at: float


def keep_session_draws(database: Database, draws: Iterable[KeptDraw]) -> None:
    """Write draws down; what a session drew first holds."""
    database.many(
        f"INSERT INTO session_draws ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (entry, agent, session) DO NOTHING",
        [(*draw[:1], int(draw.told), *draw[2:]) for draw in draws],
    )


def session_draws(database: Database, entry: int) -> list[KeptDraw]:
    """What was drawn for a canary, the oldest first."""
    rows = database.query(f"SELECT {COLUMNS} FROM session_draws WHERE entry = ? ORDER BY at, session", (entry,))
    return [KeptDraw(number, bool(told), *rest) for number, told, *rest in rows]


COLUMNS = ", ".join(KeptDraw._fields)
