"""What each project taught when it was last looked at, kept under a key of all that it was made from.

In a team each member has rows of their own: the server names the maker, and nobody reads what another wrote.
"""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from whet.store.database import Database
from whet.store.decoding import decoded_or_none

Taught = TypeVar("Taught")
BATCH = 500


def kept_lessons(database: Database, project: str, key: str, kind: type[Taught]) -> Taught | None:
    """What is kept of a project, if it was made from just this."""
    rows = database.query(
        "SELECT record FROM project_lessons WHERE project = ? AND maker = ? AND key = ?",
        (project, _maker(database), key),
    )
    return decoded_or_none(rows[0][0], kind) if rows else None


def all_kept_lessons(database: Database, kind: type[Taught]) -> tuple[Taught, ...]:
    """What is kept of every project, as it was when it was last looked at."""
    rows = database.query("SELECT record FROM project_lessons WHERE maker = ? ORDER BY project", (_maker(database),))
    found = (decoded_or_none(record, kind) for (record,) in rows)
    return tuple(each for each in found if each is not None)


def keep_lessons(database: Database, project: str, key: str, sessions: Iterable[int], lessons: object) -> None:
    """Keep what these sessions teach; nothing where one of them was forgotten meanwhile."""
    numbers = tuple(sessions)
    named = f" {' '.join(map(str, numbers))} "
    with database.writing():
        if not _are_all_there(database, numbers):
            return
        database.execute(
            "INSERT INTO project_lessons (project, key, sessions, record) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (project, maker) DO UPDATE SET key = excluded.key, sessions = excluded.sessions,"
            " record = excluded.record",
            (project, key, named, msgspec.json.encode(lessons)),
        )


def drop_other_lessons(database: Database, projects: Iterable[str]) -> None:
    """Remove what is kept of projects that are not among these."""
    maker, known = _maker(database), set(projects)
    rows = database.query("SELECT project FROM project_lessons WHERE maker = ?", (maker,))
    gone = [(project, maker) for (project,) in rows if project not in known]
    if gone:
        with database.writing():
            database.many("DELETE FROM project_lessons WHERE project = ? AND maker = ?", gone)


def _are_all_there(database: Database, numbers: tuple[int, ...]) -> bool:
    there = 0
    for start in range(0, len(numbers), BATCH):
        batch = numbers[start : start + BATCH]
        [(found,)] = database.query(f"SELECT count(*) FROM sessions WHERE no IN ({', '.join('?' * len(batch))})", batch)
        there += found
    return there == len(numbers)


def _maker(database: Database) -> str:
    return "" if database.dialect == "sqlite" else database.member
