"""The folders that sessions worked in: the branches they were on there, and the project that each belonged to."""

from collections.abc import Mapping
from typing import NamedTuple

from whet.store.database import Database


class SeenFolder(NamedTuple):
    """What is on record of a folder; several projects only where the members of a team have folders of one name."""

    branches: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()


def seen_folders(database: Database) -> dict[str, SeenFolder]:
    """Every folder where an agent worked."""
    found: dict[str, SeenFolder] = {}
    for folder, branch, project in database.query(
        "SELECT DISTINCT folder, branch, project FROM sessions WHERE folder <> ''"
    ):
        branches, projects = found.get(folder, SeenFolder())
        found[folder] = SeenFolder(branches | {branch} - {""}, projects | {project} - {""})
    return found


def keep_projects(database: Database, projects: Mapping[str, str]) -> None:
    """Note with one's own sessions which project each of these folders belongs to."""
    with database.writing():
        database.many(
            "UPDATE sessions SET project = ? WHERE folder = ? AND project <> ? AND maker IN ('', ?)",
            [(project, folder, project, database.member) for folder, project in projects.items()],
        )
