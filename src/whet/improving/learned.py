"""What sessions teach as people see it, on the terminal and on the page: lessons, and failures that recur."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from whet.failures.analysis import Analysis
from whet.failures.lessons import Lesson, distill
from whet.improving.across_projects import gathered
from whet.improving.evidence_ideas import SAME_FAILURE, answered_by, is_answered, once_each
from whet.improving.project_evidence import ProjectLessons, TaughtLesson
from whet.improving.taught import contradictions
from whet.lessons.conflicts import LessonConflict
from whet.sessions.temporary import is_temporary
from whet.shipped.kinds import known_kinds
from whet.store.analyses import judged
from whet.store.database import Database
from whet.store.listing import Filters
from whet.targets.project_names import name_of_project


class LessonScope(NamedTuple):
    """Which sessions are asked, and of which project; with `candidates`, all evidence that may become a lesson."""

    filters: Filters = Filters()
    project: str = ""
    is_whole_name: bool = False  # of the project, and not a part of one
    candidates: bool = False


class LearnedOfAll(NamedTuple):
    """What sessions teach, the failures that recur in them, and where people contradict each other, by project."""

    taught: tuple[TaughtLesson, ...] = ()
    recurring: tuple[Lesson, ...] = ()
    conflicts: Mapping[str, tuple[LessonConflict, ...]] = MappingProxyType({})
    distilled: tuple[Lesson, ...] = ()  # every failure that recurs, those too whose fix is known
    sessions: int = 0  # in which was looked; what they teach holds wherever they ran
    temporary: int = 0  # those of them in temporary folders


def learned(database: Database, scope: LessonScope, projects: Iterable[ProjectLessons]) -> LearnedOfAll:
    """What there is to show of what projects teach.

    A failure that recurs is of no project, and left out where a lesson has its fix.
    """
    folders: Counter[str] = Counter()

    def seen() -> Iterator[Analysis]:
        for one in judged(database, scope.filters):
            folders[one.analysis.circle.folder] += 1
            yield one.analysis

    recurring = distill(seen(), known_kinds())
    meant_folders = {folder: number for folder, number in folders.items() if _is_meant(folder, scope)}
    asked = [each for each in projects if not scope.is_whole_name or each.project == scope.project]
    meant = sorted(asked, key=_most_seen, reverse=True)
    kept = taught_by(meant, candidates=scope.candidates)
    looked = sum(meant_folders.values())
    temporary = sum(number for folder, number in meant_folders.items() if is_temporary(folder))
    again = () if scope.project or scope.candidates else recurring
    return LearnedOfAll(kept, tuple(_unknown(again, kept)), contradictions(meant), recurring, looked, temporary)


def _is_meant(folder: str, scope: LessonScope) -> bool:
    """Whether sessions in this folder are of the project that is asked for."""
    name = name_of_project(folder) if scope.project else ""
    return name == scope.project if scope.is_whole_name else scope.project in name


def _most_seen(project: ProjectLessons) -> int:
    """In how many sessions the lesson of a project was seen that most of them show."""
    return max((each.candidate.sessions for each in project.lessons if each.draft is not None), default=0)


def taught_by(projects: Iterable[ProjectLessons], *, candidates: bool = False) -> tuple[TaughtLesson, ...]:
    """The lessons of projects that have a draft; with `candidates`, the others too."""
    lessons = gathered([lesson for each in projects for lesson in each.lessons])
    return tuple(each for each in lessons if candidates or each.draft is not None)


def _unknown(recurring: Iterable[Lesson], taught: Iterable[TaughtLesson]) -> Iterator[Lesson]:
    """What no lesson says already with what works instead, each failure once."""
    drafted = [each for each in taught if each.draft]
    places = {(piece.session, piece.message) for each in drafted for piece in each.candidate.pieces}
    answered = answered_by(drafted)
    for lesson in once_each(recurring):
        is_seen = any((each.session, each.message) in places for each in lesson.examples)
        if lesson.kind not in SAME_FAILURE or not (is_seen or is_answered(lesson.fingerprint, answered)):
            yield lesson
