"""What the sessions of the store teach, project by project: kept, and made anew only where something changed."""

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from whet.agents.registry import known
from whet.improving.project_evidence import ProjectEvidence, ProjectFile
from whet.lessons.record import ProjectLessons
from whet.sessions.transcripts import OWN_PURPOSES
from whet.store.database import CannotWrite, Database
from whet.store.derived import LEARNING, code_version
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.rows import Session
from whet.store.sessions import is_believed, is_own
from whet.store.teachings import (
    drop_other_lessons,
    keep_lessons,
    keep_teachings,
    kept_lessons,
    kept_teachings,
    teaching_stamps,
)
from whet.telling.context.finding import find_files, project_of, repository_root
from whet.telling.targets.known_projects import KnownProjects

Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Where nobody looks on."""


class _HeldSession(NamedTuple):
    """A session of a project, and how far it is believed."""

    session: Session
    is_own: bool
    is_declared: bool


def taught_by_projects(
    database: Database,
    filters: Filters,
    *,
    project: str = "",
    declared: tuple[str, ...] = (),
    progress: Progress = silent,
) -> tuple[ProjectLessons, ...]:
    """What each project teaches, read where it is kept and nothing that it was made from has changed.

    In the folders that their owner declared, what commands print is believed as the agent is. What is asked of some
    sessions alone is not kept: it would take the place of what all of them teach.
    """
    with contextlib.suppress(CannotWrite):  # what is kept already can be read on a full disk too
        keep_teachings(database, processors=1)
    known = KnownProjects(database)
    held = _held(database, filters, known, project, declared)
    stamps = teaching_stamps(database)
    found: list[ProjectLessons] = []
    for name, sessions in held.items():
        folder = next((each.session.folder for each in reversed(sessions) if each.session.folder), "")
        files = _files(folder)
        place = known.shown(name)
        key = _key((name, place), sessions, stamps, files)
        lessons = kept_lessons(database, name, key, ProjectLessons)
        if lessons is None:
            lessons = _made(database, ProjectEvidence(name, place), sessions, files)
            if not any(filters):
                _keep(database, key, sessions, lessons)
        found.append(lessons)
        progress(len(found), len(held))
    if not any(filters) and not project:
        with contextlib.suppress(CannotWrite):
            drop_other_lessons(database, held)
    return tuple(found)


def _held(
    database: Database, filters: Filters, known: KnownProjects, project: str, declared: tuple[str, ...]
) -> dict[str, list[_HeldSession]]:
    """The sessions of each project, the oldest first."""
    held: dict[str, list[_HeldSession]] = {}
    declarations: dict[str, bool] = {}
    for session in reversed(list_sessions(database, filters, limit=count_sessions(database, filters))):
        folder = session.folder
        name = known.identity(folder)
        if folder not in declarations:
            declarations[folder] = bool(declared and folder) and project_of(Path(folder), declared) is not None
        if session.purpose in OWN_PURPOSES or not known.is_named(name, project):
            continue
        is_declared = declarations[folder] and not _lies_there(session.source) and is_believed(database, session)
        held.setdefault(name, []).append(_HeldSession(session, is_own(database, session), is_declared))
    return held


def _key(
    named: tuple[str, str],
    sessions: Iterable[_HeldSession],
    stamps: dict[int, tuple[bytes, str, str]],
    files: tuple[ProjectFile, ...],
) -> str:
    """What tells these lessons from those of any other sessions, files, settings or version."""
    seen = [
        (one.id, one.source, one.maker, is_own, is_declared, stamps.get(one.no))
        for one, is_own, is_declared in sessions
    ]
    body = msgspec.json.encode((code_version(*LEARNING), named, files, seen))
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _made(
    database: Database, evidence: ProjectEvidence, sessions: list[_HeldSession], files: tuple[ProjectFile, ...]
) -> ProjectLessons:
    teachings = kept_teachings(database, [each.session for each in sessions])
    for held, (_, teaching) in zip(sessions, teachings, strict=True):
        evidence.add(held.session.id, held.session.source, teaching, is_own=held.is_own, is_declared=held.is_declared)
    return evidence.taught(files)


def _keep(database: Database, key: str, sessions: Iterable[_HeldSession], lessons: ProjectLessons) -> None:
    with contextlib.suppress(CannotWrite):
        keep_lessons(database, lessons.project, key, (each.session.no for each in sessions), lessons)


def _files(folder: str) -> tuple[ProjectFile, ...]:
    """The files that the project has for agents, where it is on this machine."""
    if not folder or not Path(folder).is_dir():
        return ()
    root = repository_root(Path(folder).resolve()) or Path(folder)
    return tuple(
        ProjectFile(str(each.path), each.text, _written_at(root / each.path)) for each in find_files(Path(folder))
    )


def _written_at(file: Path) -> float | None:
    try:
        return file.stat().st_mtime
    except OSError:  # it went meanwhile
        return None


def _lies_there(source: str) -> bool:
    """Whether an agent's record lies in the project, and may have come with it."""
    agent = known(source)
    return agent is not None and agent.is_in_projects
