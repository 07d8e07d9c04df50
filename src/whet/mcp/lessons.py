"""What is known for a task: the rules in force in a project, and what its sessions teach."""

import os
from dataclasses import dataclass

from whet.improving.learned import EVERYWHERE, folded, found_by_sources
from whet.ledger.entries import Whereabouts, holds
from whet.lessons.record import DECIDED, Lesson
from whet.mcp.answers import RuleAnswer, rule_answer, settled_rules
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.targets.project_names import name_of_project
from whet.text.likeness import sense

LESSONS_SHOWN = 8
PLACES_SHOWN = 3


@dataclass(frozen=True)
class LessonAnswer:
    """What sessions teach.

    It has no rule in it: what a person approved is among the rules, and nothing else is advice. `rungs` says what is
    known of it: seen, checked, came back in later sessions, tried, live.
    """

    id: str
    project: str
    source: str
    sessions: int
    not_followed: str
    seen_in: list[str]
    rungs: list[str]


@dataclass(frozen=True)
class TaskAnswer:
    """What is known for a task in a project."""

    project: str
    rules: list[RuleAnswer]
    lessons: list[LessonAnswer]


def for_task(home: Home, *, task: str, folder: str) -> TaskAnswer:
    """The rules that hold in a folder's project, and what its sessions teach, nearest to the task first.

    What was decided is not told again: it is among the rules, or was refused or undone.
    """
    project = project_in(folder)
    with opened(home) as database:
        rules = settled_rules(home, database)
        found = lessons_in(home, database, project)
    asked = sense(task).words
    open_ = [each for each in found if each.standing.stage not in DECIDED]
    nearest = sorted(open_, key=lambda each: -len(asked & sense(_said(each)).words))[:LESSONS_SHOWN]
    return TaskAnswer(
        project=project,
        rules=[rule_answer(rule) for rule in rules if holds(rule.scope, Whereabouts(project, folder=folder))],
        lessons=[_answer(each) for each in nearest],
    )


def lessons_in(home: Home, database: Database, project: str) -> list[Lesson]:
    """What holds in one project, as every other surface shows it, the most promising first."""
    if not project:
        return []
    refresh(database, progress=lambda _: None, processors=1)
    projects = found_by_sources(home, database, EVERYWHERE)
    own = [each for each in folded(home, database, projects) if project in (each.project, *each.seen_by.projects)]
    return sorted(own, key=lambda each: -each.evidence.worth)


def project_in(folder: str) -> str:
    """The project that a folder belongs to; none where no folder is named."""
    return name_of_project(os.path.abspath(folder)) if folder else ""


def _answer(lesson: Lesson) -> LessonAnswer:
    return LessonAnswer(
        id=lesson.id,
        project=lesson.project,
        source=lesson.evidence.source.value,
        sessions=lesson.evidence.sessions,
        not_followed=lesson.checks.stands_in,
        seen_in=list(dict.fromkeys(piece.session for piece in lesson.evidence.pieces))[:PLACES_SHOWN],
        rungs=list(lesson.climb.words),
    )


def _said(lesson: Lesson) -> str:
    best = lesson.evidence.best
    return f"{lesson.rule} {best.text} {best.fix}"
