"""Templates on disk, a JSON file each in the home folder; what they are worth, in the database.

Draws in the database: which sessions were begun warm by chance, and how each of them went, counted once. What was
counted stays as it was, though its session may go on: the evidence was looked at.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from whet.ledger.patches import digest
from whet.own.examples import templates
from whet.own.examples.templates import Template, TemplateEffect
from whet.sessions.transcripts import Transcript, session_id
from whet.store.database import Database
from whet.store.files import FoundFile, NamedFiles
from whet.store.listing import Filters, list_sessions
from whet.store.recording import SOURCE
from whet.store.records import RecordKind, all_records, keep_record
from whet.store.rows import columns_of, decoded_or_none, made
from whet.store.sessions import is_believed
from whet.store.sessions import load as load_session

PAGE = 100


TemplateFile = FoundFile[Template]
TEMPLATES = NamedFiles(
    "template", "templates", ".json", lambda text, name: templates.read(text, name=name), templates.name_fault
)
list_templates, usable, load, read_text = TEMPLATES.all, TEMPLATES.usable, TEMPLATES.load, TEMPLATES.text


def record_worth(database: Database, worth: TemplateEffect) -> None:
    """Keep what was measured; nothing that was measured before is overwritten."""
    body = msgspec.json.encode(worth)
    keep_record(database, RecordKind.WORTH, f"{worth.key} {digest(body.decode())}", body, now=worth.at)


def worths(database: Database) -> tuple[TemplateEffect, ...]:
    """All that was measured, the oldest first."""
    found = (decoded_or_none(body, TemplateEffect) for body, _ in all_records(database, RecordKind.WORTH))
    return tuple(worth for worth in found if worth is not None)


def stored_transcripts(database: Database, filters: Filters, *, limit: int) -> Iterator[Transcript]:
    """The newest of this member's sessions that match, one at a time: only a page of their headings is held."""
    own = filters._replace(maker=database.member)
    for offset in range(0, limit, PAGE):
        page = list_sessions(database, own, limit=min(PAGE, limit - offset), offset=offset)
        yield from (load_session(database, session) for session in page if is_believed(database, session))
        if len(page) < PAGE:
            return


class Draw(NamedTuple):
    """A session that `auto` chose a template for, and whether it really began with it."""

    draw_id: str
    key: str  # of the template
    name: str
    model: str
    told: bool
    share: float
    at: float


class CountedDraw(NamedTuple):
    """How a drawn session went, with all that went on from it."""

    draw_id: str
    loss: float
    sessions: int


class DrawOutcome(NamedTuple):
    """A draw and how badly it went, from 0 to 1."""

    draw: Draw
    loss: float
    sessions: int


DRAWN = ", ".join(("lot", *Draw._fields[1:]))


def keep_draw(database: Database, draw: Draw) -> Draw:
    """Write down what was drawn; gives what holds, for a session that is begun again has drawn already."""
    database.execute(
        f"INSERT INTO template_draws ({DRAWN}, session) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (lot) DO NOTHING",
        (*columns_of(draw), session_id(SOURCE, draw.draw_id)),
    )
    return made(Draw, database.query(f"SELECT {DRAWN} FROM template_draws WHERE lot = ?", (draw.draw_id,))[0])


def uncounted(database: Database) -> list[Draw]:
    """The draws of sessions that really began and were not counted yet, the oldest first."""
    rows = database.query(
        f"SELECT {DRAWN} FROM template_draws WHERE counted IS NULL AND session IN (SELECT id FROM sessions)"
        " ORDER BY at, lot"
    )
    return [made(Draw, row) for row in rows]


def count_draws(database: Database, counted: Iterable[CountedDraw]) -> None:
    """Count sessions; one that is counted already stays as it is."""
    database.many(
        "UPDATE template_draws SET loss = ?, sessions = ?,"
        " counted = (SELECT coalesce(max(counted), 0) + 1 FROM template_draws) WHERE lot = ? AND counted IS NULL",
        [(each.loss, each.sessions, each.draw_id) for each in counted],
    )


def outcomes(database: Database) -> dict[str, list[DrawOutcome]]:
    """All that was counted, by the template's key, in the order of counting."""
    rows = database.query(
        f"SELECT {DRAWN}, loss, sessions FROM template_draws WHERE counted IS NOT NULL ORDER BY counted"
    )
    found: dict[str, list[DrawOutcome]] = {}
    for *row, loss, sessions in rows:
        draw = made(Draw, row)
        found.setdefault(draw.key, []).append(DrawOutcome(draw, loss, sessions))
    return found


def is_drawn(database: Database, *, since: float) -> bool:
    """Whether any session drew since then."""
    return bool(database.query("SELECT 1 FROM template_draws WHERE at >= ? LIMIT 1", (since,)))
