"""What readers claim of each project as lessons: checked, ranked, kept, and made anew only where something changed."""

import contextlib
import hashlib
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from whet.improving.claimed_lessons import dropped_lesson, lesson_of_claim
from whet.lessons.claim_checks import ClaimReport
from whet.lessons.record import Lesson, ProjectLessons, SeenBy
from whet.reading.checking import checked_claims
from whet.reading.project_claims import (
    ClaimedOf,
    ProjectClaims,
    listed,
    project_claims,
    project_sessions,
    refused_rules,
)
from whet.store.claims import claimed_projects
from whet.store.database import CannotWrite, Database
from whet.store.derived import LEARNING, code_version
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.settings_file import load as load_settings
from whet.store.teachings import keep_lessons, kept_lessons, row_of_source
from whet.targets.known_projects import KnownProjects

READER = "reader"
Progress = Callable[[int, int], None]


def claimed_by_projects(
    home: Home, database: Database, filters: Filters, *, project: str, progress: Progress
) -> tuple[ProjectLessons, ...]:
    """The lessons that readers claim, read where they are kept and nothing that they were made from has changed.

    Where some sessions alone are asked for, it is what is claimed with a quote from one of them.
    """
    every = claimed_projects(database)
    if not every:
        return ()
    known = KnownProjects(database)
    names = [name for name in every if known.is_named(name, project)]
    judged = ClaimedOf(load_settings(home).trust.projects, refused_rules(home, database))
    sessions = project_sessions(database)
    only = {each.id for each in listed(database, filters)} if any(filters) else None
    found: list[ProjectLessons] = []
    for name in names:
        given = project_claims(database, name, sessions.get(name, ()), judged)
        lessons = _lessons(database, given, known.shown(name))
        found.append(lessons if only is None else _narrowed(lessons, only))
        progress(len(found), len(names))
    return tuple(found)


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
    lessons = {each.id: each for each in made if not each.is_dropped}
    refused = [each for each in made if each.is_dropped]
    dropped = (dropped_lesson(each, given.project, agents) for each in checked.dropped)
    return ProjectLessons(given.project, tuple(lessons.values()), dropped=(*dropped, *refused))


def _key(given: ProjectClaims, place: str) -> str:
    """What tells these lessons from those of any other log, sessions, files, decisions or version."""
    sessions = [(each.id, each.source, each.maker, each.head.hex()) for each in given.sessions]
    log = msgspec.json.encode(given.log)
    body = msgspec.json.encode((code_version(*LEARNING), given.project, place, sessions, given.refused, given.declared))
    return hashlib.blake2b(body + log + given.files.state.encode(), digest_size=16).hexdigest()


def _narrowed(lessons: ProjectLessons, only: set[str]) -> ProjectLessons:
    def is_asked(lesson: Lesson) -> bool:
        return any(piece.session in only for piece in lesson.evidence.pieces)

    return replace(lessons, lessons=tuple(filter(is_asked, lessons.lessons)))


def _seen_by(report: ClaimReport, agents: dict[str, str], place: str) -> SeenBy:
    return SeenBy(tuple(sorted({agents[each] for each in report.sessions if each in agents})), place=place)
