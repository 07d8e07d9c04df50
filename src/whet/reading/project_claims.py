"""What is claimed of each project, and what it is checked against: its sessions, its files, what a person refused."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.ledger.entries import Step
from whet.ledger.patches import Form
from whet.lessons.claims import LoggedClaim
from whet.reading.project_files import ProjectFiles, project_files
from whet.store.claims import claims_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.rows import Session
from whet.targets.known_projects import KnownProjects

OF_PERSON = Filters(without_own_work=True)
TOLD = frozenset((Form.RULE, Form.NOTE, Form.SKILL))


class ClaimedOf(NamedTuple):
    """What claims are judged by besides their sessions and files: folders that their owner declared, and refusals."""

    declared: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class ProjectClaims(NamedTuple):
    """What the log has of a project, and what it is checked against: the sessions, the oldest first, and its files."""

    project: str
    log: tuple[LoggedClaim, ...]
    sessions: Sequence[Session]
    files: ProjectFiles = ProjectFiles()
    refused: tuple[str, ...] = ()  # rules that a person refused
    declared: tuple[str, ...] = ()  # folders whose owner vouches for what commands print there


def project_claims(database: Database, project: str, sessions: Sequence[Session], by: ClaimedOf) -> ProjectClaims:
    """What is claimed of a project, with what it is checked against."""
    folder = next((each.folder for each in reversed(sessions) if each.folder), "")
    log = claims_of(database, project)
    return ProjectClaims(project, log, sessions, project_files(folder), by.refused, by.declared)


def project_sessions(database: Database, filters: Filters = OF_PERSON) -> dict[str, list[Session]]:
    """The sessions of each project that can teach something, the oldest first."""
    known = KnownProjects(database)
    found: dict[str, list[Session]] = {}
    for session in listed(database, filters):
        if project := known.identity(session.folder):
            found.setdefault(project, []).append(session)
    return found


def refused_rules(home: Home, database: Database) -> tuple[str, ...]:
    """The words of every lesson that a person refused, and did not open again since."""
    ledger = ledger_of(home, database)
    state = ledger.state()
    refused = (each.patch for each in ledger.entries() if each.step is Step.REFUSED and each.patch.id in state.refused)
    return tuple(patch.text for patch in refused if patch.form in TOLD)


def listed(database: Database, filters: Filters) -> list[Session]:
    """The sessions that match, the oldest first."""
    return list_sessions(database, filters, limit=count_sessions(database, filters))[::-1]
