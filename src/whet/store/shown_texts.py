"""Texts that sessions were shown, each in one state: skills that they read, and templates that they began with."""

from typing import NamedTuple

from whet.own.examples.templates import Template
from whet.own.told.skills import FILE
from whet.store.database import Database

SKILL, TEMPLATE = "skill", "template"  # forms


class View(NamedTuple):
    """One reading: a file of a skill with the digest of what it held."""

    skill: str
    digest: str
    session: str
    file: str = FILE


class TextUse(NamedTuple):
    """How often a text was shown, to how many sessions, and when last."""

    views: int
    sessions: int
    last: float


def record_view(database: Database, view: View, *, now: float) -> None:
    """Write down that a session read a file of a skill."""
    _record(database, SKILL, *view, now)


def record_use(database: Database, template: Template, *, session: str, now: float) -> None:
    """Count that a session began with the template; a use is of its examples as they are."""
    _record(database, TEMPLATE, "", template.key, session, "", now)


def _record(database: Database, *columns: object) -> None:
    database.execute(
        "INSERT INTO shown_texts (form, name, digest, session, file, at) VALUES (?, ?, ?, ?, ?, ?)", columns
    )


def was_read(database: Database, view: View) -> bool:
    """Whether the session read this file in this very state."""
    asked = "form = ? AND name = ? AND digest = ? AND session = ? AND file = ?"
    return bool(database.query(f"SELECT 1 FROM shown_texts WHERE {asked} LIMIT 1", (SKILL, *view)))


def skill_uses(database: Database) -> dict[str, TextUse]:
    """How much each skill is used."""
    return _uses(database, SKILL, "name")


def template_uses(database: Database) -> dict[str, TextUse]:
    """How often each set of examples was used, by its key."""
    return _uses(database, TEMPLATE, "digest")


def _uses(database: Database, form: str, by: str) -> dict[str, TextUse]:
    counted = f"SELECT {by}, count(*), count(DISTINCT session), max(at) FROM shown_texts WHERE form = ? GROUP BY {by}"
    return {key: TextUse(views, sessions, last) for key, views, sessions, last in database.query(counted, (form,))}


def sessions_with(database: Database, key: str) -> frozenset[str]:
    """The sessions that began with a set of examples."""
    rows = database.query("SELECT DISTINCT session FROM shown_texts WHERE form = ? AND digest = ?", (TEMPLATE, key))
    return frozenset(session for (session,) in rows)
