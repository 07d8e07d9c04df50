"""Draws in the database: which sessions were begun warm by chance, and how each of them went, counted once.

What was counted stays as it was, though its session may go on: the evidence was looked at.
"""

from collections.abc import Iterable
from typing import NamedTuple

from whet.sessions.transcripts import session_id
from whet.store.database import Database
from whet.store.recording import SOURCE


class Draw(NamedTuple):
    """A session that `auto` chose a template for, and whether it really began with it."""

    lot: str
    key: str  # of the template
    name: str
    model: str
    told: bool
    share: float
    at: float


class CountedDraw(NamedTuple):
    """How a drawn session went, with all that went on from it."""

    lot: str
    loss: float
    sessions: int


class DrawOutcome(NamedTuple):
    """A draw and how badly it went, from 0 to 1."""

    draw: Draw
    loss: float
    sessions: int


def keep_draw(database: Database, draw: Draw) -> Draw:
    """Write down what was drawn; gives what holds, for a session that is begun again has drawn already."""
    database.execute(
        f"INSERT INTO template_draws ({COLUMNS}, session) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (lot) DO NOTHING",
        (draw.lot, draw.key, draw.name, draw.model, int(draw.told), draw.share, draw.at, session_id(SOURCE, draw.lot)),
    )
    return _draw(database.query(f"SELECT {COLUMNS} FROM template_draws WHERE lot = ?", (draw.lot,))[0])


def uncounted(database: Database) -> list[Draw]:
    """The draws of sessions that really began and were not counted yet, the oldest first."""
    rows = database.query(
        f"SELECT {OF_DRAW} FROM template_draws AS d JOIN sessions AS s ON s.id = d.session"
        " WHERE d.counted IS NULL ORDER BY d.at, d.lot"
    )
    return [_draw(row) for row in rows]


def count_draws(database: Database, counted: Iterable[CountedDraw]) -> None:
    """Count sessions; one that is counted already stays as it is."""
    database.many(
        "UPDATE template_draws SET loss = ?, sessions = ?,"
        " counted = (SELECT coalesce(max(counted), 0) + 1 FROM template_draws) WHERE lot = ? AND counted IS NULL",
        [(each.loss, each.sessions, each.lot) for each in counted],
    )


def outcomes(database: Database) -> dict[str, list[DrawOutcome]]:
    """All that was counted, by the template's key, in the order of counting."""
    rows = database.query(
        f"SELECT {COLUMNS}, loss, sessions FROM template_draws WHERE counted IS NOT NULL ORDER BY counted"
    )
    found: dict[str, list[DrawOutcome]] = {}
    for *row, loss, sessions in rows:
        draw = _draw(row)
        found.setdefault(draw.key, []).append(DrawOutcome(draw, loss, sessions))
    return found


def is_drawn(database: Database, *, since: float) -> bool:
    """Whether any session drew since then."""
    return bool(database.query("SELECT 1 FROM template_draws WHERE at >= ? LIMIT 1", (since,)))


def _draw(row: Iterable[object]) -> Draw:
    draw = Draw(*row)  # type: ignore[arg-type] # columns of the table, in this order
    return draw._replace(told=bool(draw.told))


COLUMNS = ", ".join(Draw._fields)
OF_DRAW = ", ".join(f"d.{field}" for field in Draw._fields)
