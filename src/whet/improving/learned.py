"""What sessions teach: lessons from every source, folded with the ledger; and failures that recur without a remedy.

The command, the page, the MCP server and programs all ask `lessons_of`, and so show the same lessons.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from whet.doors import LESSON_SOURCES, load
from whet.failures.analysis import Analysis
from whet.failures.kinds import ChangeKind
from whet.failures.lessons import RecurringFailure, distill
from whet.improving.evidence_ideas import SAME_FAILURE, answered_by, is_answered, once_each
from whet.improving.lesson_states import decisions_on_lessons, standing_of
from whet.improving.project_evidence import gathered
from whet.improving.taught import Progress, silent, taught_by_projects
from whet.ledger.patches import digest
from whet.lessons.conflicts import LessonConflict
from whet.lessons.record import ID_LETTERS, DroppedLesson, Lesson, OpenEvidence, ProjectLessons
from whet.sessions.temporary import is_temporary
from whet.shipped.kinds import known_kinds
from whet.store.analyses import judged
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.settings_file import load as load_settings
from whet.targets.known_projects import KnownProjects

_WITHOUT_FIX = {
    ChangeKind.RULE: "no session shows what works instead",
    ChangeKind.SKILL: "may be worth a skill",
    ChangeKind.MEMORY: "may be worth a memory note",
    ChangeKind.ENVIRONMENT: "look at your environment",
}


class LessonScope(NamedTuple):
    """Which sessions are asked, and of which project."""

    filters: Filters = Filters()
    project: str = ""
    is_whole_name: bool = False  # of the project, and not a part of one


EVERYWHERE = LessonScope()


class SourceOfLessons(NamedTuple):
    """Where lessons come from: what it finds for each project. Other packages add theirs as `whet.lesson_sources`."""

    name: str
    find: Callable[[Home, Database, LessonScope, Progress], tuple[ProjectLessons, ...]]


class LearnedOfAll(NamedTuple):
    """What sessions teach, the failures that recur in them, and where people contradict each other, by project."""

    lessons: tuple[Lesson, ...] = ()
    recurring: tuple[RecurringFailure, ...] = ()  # troubles: no lesson says what works instead
    conflicts: Mapping[str, tuple[LessonConflict, ...]] = MappingProxyType({})
    distilled: tuple[RecurringFailure, ...] = ()  # every failure that recurs, those too whose fix is known
    sessions: int = 0  # in which was looked; what they teach holds wherever they ran
    temporary: int = 0  # those of them in temporary folders
    open: tuple[OpenEvidence, ...] = ()  # nobody has found words for it yet
    dropped: tuple[DroppedLesson, ...] = ()
    places: Mapping[str, str] = MappingProxyType({})  # each project as people read it


def from_patterns(home: Home, database: Database, scope: LessonScope, progress: Progress) -> tuple[ProjectLessons, ...]:
    """What sentence patterns make of the sessions of each project."""
    declared = load_settings(home).trust.projects
    return taught_by_projects(database, scope.filters, project=scope.project, declared=declared, progress=progress)


SOURCES = (SourceOfLessons("patterns", from_patterns),)


def found_by_sources(
    home: Home, database: Database, scope: LessonScope, progress: Progress = silent
) -> tuple[ProjectLessons, ...]:
    """What every source finds, for the projects that are asked for, those with the most frequent lesson first."""
    sources = (*SOURCES, *load(LESSON_SOURCES, SourceOfLessons))
    found = [each for source in sources for each in source.find(home, database, scope, progress)]
    asked = (each for each in found if not scope.is_whole_name or each.project == scope.project)
    return tuple(sorted(asked, key=_most_seen, reverse=True))


def lessons_of(
    home: Home, database: Database, scope: LessonScope = EVERYWHERE, *, progress: Progress = silent
) -> tuple[Lesson, ...]:
    """The lessons of the sessions that are asked for, each with how far it has come."""
    return folded(home, database, found_by_sources(home, database, scope, progress))


def folded(home: Home, database: Database, projects: Iterable[ProjectLessons]) -> tuple[Lesson, ...]:
    """What projects teach, each lesson once, with what the ledger says of it."""
    decisions = decisions_on_lessons(home, database)
    lessons = {each.id: each for each in gathered([lesson for each in projects for lesson in each.lessons])}
    return tuple(replace(each, standing=standing_of(each, decisions)) for each in lessons.values())


def learned(
    home: Home, database: Database, scope: LessonScope = EVERYWHERE, *, progress: Progress = silent
) -> LearnedOfAll:
    """All that there is to show: the lessons, and what recurs without one.

    A failure that recurs is of no project, and left out where a lesson has its fix.
    """
    folders: Counter[str] = Counter()

    def seen() -> Iterator[Analysis]:
        for one in judged(database, scope.filters):
            folders[one.analysis.circle.folder] += 1
            yield one.analysis

    recurring = distill(seen(), known_kinds())
    known = KnownProjects(database)
    meant_folders = {folder: number for folder, number in folders.items() if _is_meant(known, folder, scope)}
    projects = found_by_sources(home, database, scope, progress)
    lessons = folded(home, database, projects)
    return LearnedOfAll(
        lessons,
        tuple(_unknown(() if scope.project else recurring, lessons)),
        {each.project: each.conflicts for each in projects if each.conflicts},
        recurring,
        sum(meant_folders.values()),
        sum(number for folder, number in meant_folders.items() if is_temporary(folder)),
        tuple(each for project in projects for each in project.open),
        tuple(each for project in projects for each in project.dropped),
        {each.project: known.shown(each.project) for each in projects},
    )


def failure_id(failure: RecurringFailure) -> str:
    """The name of a failure that recurs; it stays the same as long as what recurs does."""
    return digest(f"{failure.kind} {failure.tool} {failure.fingerprint}")[:ID_LETTERS]


def without_fix(failure: RecurringFailure) -> str:
    """What can be said of a failure that recurs and has no remedy."""
    if failure.change is ChangeKind.SKILL and failure.kind in SAME_FAILURE:
        return "mostly made good in the same session"
    return _WITHOUT_FIX[failure.change]


def _is_meant(known: KnownProjects, folder: str, scope: LessonScope) -> bool:
    """Whether sessions in this folder are of the project that is asked for."""
    name = known.identity(folder) if scope.project else ""
    return name == scope.project if scope.is_whole_name else known.is_named(name, scope.project)


def _most_seen(project: ProjectLessons) -> int:
    """In how many sessions the lesson of a project was seen that most of them show."""
    return max((each.sessions for each in project.lessons), default=0)


def _unknown(recurring: Iterable[RecurringFailure], lessons: Iterable[Lesson]) -> Iterator[RecurringFailure]:
    """What no lesson says already with what works instead, each failure once."""
    known = tuple(lessons)
    places = {(piece.session, piece.message) for each in known for piece in each.evidence.pieces}
    answered = answered_by(known)
    for failure in once_each(recurring):
        is_seen = any((each.session, each.message) in places for each in failure.examples)
        if failure.kind not in SAME_FAILURE or not (is_seen or is_answered(failure.fingerprint, answered)):
            yield failure
