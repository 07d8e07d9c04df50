"""What readers claim of each project as lessons: checked, ranked, kept, and made anew only where something changed."""

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet import __version__
from whet.improving.claimed_lessons import dropped_lesson, lesson_of_claim
from whet.lessons.claim_calls import CALLS_VERSION
from whet.lessons.claim_checks import ClaimReport
from whet.lessons.record import Lesson, ProjectLessons, SeenBy
from whet.reading.checking import ProjectClaims, checked_claims
from whet.reading.project_files import project_files
from whet.sessions.transcripts import Purpose
from whet.store.claims import claimed_projects, claims_of
from whet.store.database import CannotWrite, Database
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.rows import Session
from whet.store.teachings import keep_lessons, kept_lessons, row_of_source
from whet.targets.known_projects import KnownProjects

CLAIMS_VERSION = 1  # one more whenever the same claims become other lessons
READER = "reader"
BEHIND = frozenset((Purpose.TRIAL.value, Purpose.REVIEW.value))
Progress = Callable[[int, int], None]


class ClaimedOf(NamedTuple):
    """Which claims are asked for, and what they are judged by besides their sessions."""

    filters: Filters = Filters()
    project: str = ""
    declared: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def claimed_by_projects(database: Database, asked: ClaimedOf, *, progress: Progress) -> tuple[ProjectLessons, ...]:
    """The lessons that readers claim, read where they are kept and nothing that they were made from has changed.

    Where some sessions alone are asked for, it is what is claimed with a quote from one of them.
    """
    known = KnownProjects(database)
    names = [name for name in claimed_projects(database) if known.is_named(name, asked.project)]
    if not names:
        return ()
    sessions = sessions_by_project(database, known)
    only = {each.id for each in _listed(database, asked.filters)} if any(asked.filters) else None
    found: list[ProjectLessons] = []
    for name in names:
        given = project_claims(database, name, sessions.get(name, ()), asked)
        lessons = _lessons(database, given, known.shown(name))
        found.append(lessons if only is None else _narrowed(lessons, only))
        progress(len(found), len(names))
    return tuple(found)


def project_claims(database: Database, project: str, sessions: Sequence[Session], asked: ClaimedOf) -> ProjectClaims:
    """What is claimed of a project, with what it is checked against."""
    folder = next((each.folder for each in reversed(sessions) if each.folder), "")
    log = claims_of(database, project)
    return ProjectClaims(project, log, sessions, project_files(folder), asked.refused, asked.declared)


def sessions_by_project(database: Database, known: KnownProjects) -> dict[str, list[Session]]:
    """The sessions of each project, the oldest first."""
    found: dict[str, list[Session]] = {}
    for session in _listed(database, Filters()):
        if session.purpose not in BEHIND:
            found.setdefault(known.identity(session.folder), []).append(session)
    return found


def _lessons(database: Database, given: ProjectClaims, place: str) -> ProjectLessons:
    key = _key(given, place)
    row = row_of_source(given.project, READER)
    lessons = kept_lessons(database, row, key, ProjectLessons)
    if lessons is None:
        lessons = _made(database, given, place)
        with contextlib.suppress(CannotWrite):
            keep_lessons(database, row, key, (each.no for each in given.sessions), lessons)
    return lessons


def _made(database: Database, given: ProjectClaims, place: str) -> ProjectLessons:
    checked = checked_claims(database, given)
    agents = {session.id: session.source for session in given.sessions}
    made = [lesson_of_claim(each, given.project, _seen_by(each, agents, place)) for each in checked.reports]
    lessons = {each.id: each for each in made if isinstance(each, Lesson)}
    refused = [each for each in made if not isinstance(each, Lesson)]
    dropped = (dropped_lesson(each, given.project, agents) for each in checked.dropped)
    return ProjectLessons(given.project, tuple(lessons.values()), dropped=(*dropped, *refused))


def _key(given: ProjectClaims, place: str) -> str:
    """What tells these lessons from those of any other log, sessions, files, decisions or version."""
    versions = (CLAIMS_VERSION, CALLS_VERSION, __version__)
    sessions = [(each.id, each.source, each.maker, each.head.hex()) for each in given.sessions]
    log = msgspec.json.encode(given.log)
    body = msgspec.json.encode((versions, given.project, place, sessions, given.refused, given.declared))
    return hashlib.blake2b(body + log + given.files.state.encode(), digest_size=16).hexdigest()


def _narrowed(lessons: ProjectLessons, only: set[str]) -> ProjectLessons:
    def is_asked(lesson: Lesson) -> bool:
        return any(piece.session in only for piece in (*lesson.evidence.pieces, *lesson.evidence.more))

    return replace(lessons, lessons=tuple(filter(is_asked, lessons.lessons)))


def _listed(database: Database, filters: Filters) -> list[Session]:
    return list_sessions(database, filters, limit=count_sessions(database, filters))[::-1]


def _seen_by(report: ClaimReport, agents: dict[str, str], place: str) -> SeenBy:
    return SeenBy(tuple(sorted({agents[each] for each in report.sessions if each in agents})), place=place)
