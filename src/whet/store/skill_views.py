"""Which skill was read when, in which state and by which session: what a change must follow, and what use is."""

from typing import NamedTuple

from whet.store.database import Database
from whet.told.skills import FILE


class SkillUse(NamedTuple):
    """How often a skill was read, by how many sessions, and when last."""

    views: int
    sessions: int
    last: float


class View(NamedTuple):
    """One reading: a file of a skill with the digest of what it held."""

    skill: str
    digest: str
    session: str
    file: str = FILE


def record(database: Database, view: View, *, now: float) -> None:
    database.execute(
        "INSERT INTO skill_views (skill, file, digest, session, at) VALUES (?, ?, ?, ?, ?)",
        (view.skill, view.file, view.digest, view.session, now),
    )


def was_read(database: Database, view: View) -> bool:
    """Whether the session read this file in this very state."""
    rows = database.query(
        "SELECT 1 FROM skill_views WHERE session = ? AND skill = ? AND file = ? AND digest = ? LIMIT 1",
        (view.session, view.skill, view.file, view.digest),
    )
    return bool(rows)


def uses(database: Database) -> dict[str, SkillUse]:
    """How much each skill is used."""
    rows = database.query("SELECT skill, count(*), count(DISTINCT session), max(at) FROM skill_views GROUP BY skill")
    return {skill: SkillUse(int(views), int(sessions), float(last)) for skill, views, sessions, last in rows}
