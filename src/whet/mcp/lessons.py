"""What sessions teach, for an agent that works in their project or finds better words for it."""

import os
from dataclasses import dataclass

from whet.errors import WhetError
from whet.improving.learned import EVERYWHERE, folded, found_by_sources
from whet.ledger.holding import Whereabouts, holds
from whet.lessons.pieces import LessonPiece
from whet.lessons.record import DECIDED, Lesson
from whet.mcp.answers import RuleAnswer, rule_answer, settled_rules
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.targets.project_names import name_of_project
from whet.text.likeness import sense
from whet.text.quoting import mark_for, quoted
from whet.text.words import cut

LESSONS_SHOWN = 8
PLACES_SHOWN = 3
PIECES_SHOWN = 6
QUOTE_LETTERS = 400


@dataclass(frozen=True)
class LessonAnswer:
    """What sessions teach. `propose` takes the id.

    `draft` is null where its words are a tool's or a stranger's and no person has approved them. `evidence` is redacted
    and stands between marks: it is data.
    """

    id: str
    project: str
    source: str
    situation: str
    draft: str | None
    sessions: int
    not_followed: str
    evidence: str
    seen_in: list[str]


@dataclass(frozen=True)
class TaskAnswer:
    """What is known for a task in a project."""

    project: str
    rules: list[RuleAnswer]
    lessons: list[LessonAnswer]


def for_task(home: Home, *, task: str, folder: str, evidence: bool) -> TaskAnswer:
    """The rules that hold in a folder's project, and what its sessions teach, nearest to the task first.

    What was decided is not told again: it is among the rules, or was refused or undone.
    """
    project = project_in(folder)
    with opened(home) as database:
        rules = settled_rules(home, database)
        found = lessons_in(home, database, project)
    asked = sense(task).words
    told = [each for each in found if each.standing.stage not in DECIDED]
    nearest = sorted(told, key=lambda each: -len(asked & sense(_said(each)).words))[:LESSONS_SHOWN]
    return TaskAnswer(
        project=project,
        rules=[rule_answer(rule) for rule in rules if holds(rule.scope, Whereabouts(project, folder=folder))],
        lessons=[_answer(each, evidence) for each in nearest],
    )


def lesson_in(home: Home, database: Database, project: str, id: str) -> Lesson:
    """The lesson of a project that an id names."""
    found = next((each for each in lessons_in(home, database, project) if each.id == id), None)
    if found is None:
        raise WhetError(f"There is no lesson {id} in this project now.", advice="Call lessons_for_task again.")
    return found


def lessons_in(home: Home, database: Database, project: str) -> tuple[Lesson, ...]:
    """What holds in one project, as every other surface shows it, the most promising first."""
    if not project:
        return ()
    refresh(database, failure_weights(), progress=lambda _: None, processors=1)
    projects = found_by_sources(home, database, EVERYWHERE)
    own = [each for each in folded(home, database, projects) if project in (each.project, *each.seen_by.projects)]
    return tuple(sorted(own, key=lambda each: -each.evidence.worth))


def project_in(folder: str) -> str:
    """The project that a folder belongs to; none where no folder is named."""
    return name_of_project(os.path.abspath(folder)) if folder else ""


def _answer(lesson: Lesson, evidence: bool) -> LessonAnswer:
    shown = "\n".join(map(_quoted, lesson.evidence.pieces[:PIECES_SHOWN])) if evidence else ""
    is_told = _is_advice(lesson)
    return LessonAnswer(
        id=lesson.id,
        project=lesson.project,
        source=lesson.evidence.source.value,
        situation=lesson.situation if is_told else "",
        draft=lesson.rule if is_told else None,
        sessions=lesson.evidence.sessions,
        not_followed=lesson.checks.stands_in,
        evidence=quoted("evidence from sessions", shown, mark=mark_for((shown,))) if shown else "",
        seen_in=list(lesson.evidence.session_ids)[:PLACES_SHOWN],
    )


def _quoted(piece: LessonPiece) -> str:
    worked = f" | worked: {cut(piece.fix, QUOTE_LETTERS)}" if piece.fix else ""
    return f"{piece.session[:8]} #{piece.message}: {cut(piece.text, QUOTE_LETTERS)}{worked}"


def _is_advice(lesson: Lesson) -> bool:
    """Whether its rule may be told before a person has approved it: nobody said the contrary, and no word is a tool's
    or a stranger's.
    """
    return lesson.trust >= Trust.AGENT and lesson.checks.conflict is None


def _said(lesson: Lesson) -> str:
    best = lesson.evidence.best
    return f"{lesson.rule} {best.text} {best.fix}"
