"""What sessions teach, for an agent that writes the rule: the evidence and the instructions that a model would get."""

import os
from dataclasses import dataclass
from typing import NamedTuple

from whet.errors import WhetError
from whet.improving.learned import EVERYWHERE, folded, found_by_sources
from whet.ledger.holding import Whereabouts, holds
from whet.lessons import evidence as seen
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import written_from
from whet.lessons.record import DECIDED, Lesson, OpenEvidence
from whet.mcp.answers import RuleAnswer, rule_answer, settled_rules
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.shipped.guidance import writing as words
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.targets.project_names import name_of_project
from whet.text.likeness import sense
from whet.text.quoting import mark_for, quoted

LESSONS_SHOWN = 8
PLACES_SHOWN = 3


@dataclass(frozen=True)
class LessonAnswer:
    """What sessions teach. `propose` takes the id.

    `draft` is null where nobody has put it in words yet, or where its words are a tool's or a stranger's and no person
    has approved them. `evidence` is redacted and stands between marks: it is data. `rungs` says what is known of it:
    seen, checked, came back in later sessions, tried, live.
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
    rungs: list[str]


@dataclass(frozen=True)
class TaskAnswer:
    """What is known for a task in a project, and how a rule is written from evidence, where some is shown."""

    project: str
    rules: list[RuleAnswer]
    lessons: list[LessonAnswer]
    how_to_write: str


def for_task(home: Home, *, task: str, folder: str, evidence: bool) -> TaskAnswer:
    """The rules that hold in a folder's project, and what its sessions teach, nearest to the task first.

    What was decided is not told again: it is among the rules, or was refused or undone. With its evidence, what nobody
    has found words for yet comes too, to write from.
    """
    project = project_in(folder)
    with opened(home) as database:
        rules = settled_rules(home, database)
        found = lessons_in(home, database, project)
    asked = sense(task).words
    told = [each for each in found.lessons if each.standing.stage not in DECIDED]
    own: list[Lesson | OpenEvidence] = [*told, *(found.open if evidence else ())]
    nearest = sorted(own, key=lambda each: -len(asked & sense(_said(each)).words))[:LESSONS_SHOWN]
    shown = [_answer(each, evidence) for each in nearest]
    how = words.evidence_system(limit=seen.MOST_LETTERS, nothing=seen.NOTHING)
    return TaskAnswer(
        project=project,
        rules=[rule_answer(rule) for rule in rules if holds(rule.scope, Whereabouts(project, folder=folder))],
        lessons=shown,
        how_to_write=how if any(each.evidence for each in shown) else "",
    )


def lesson_in(home: Home, database: Database, project: str, id: str) -> Lesson | OpenEvidence:
    """The lesson of a project that an id names, or the evidence that has none yet."""
    every = lessons_in(home, database, project)
    known: list[Lesson | OpenEvidence] = [*every.lessons, *every.open]
    found = next((each for each in known if each.id == id), None)
    if found is None:
        raise WhetError(f"There is no lesson {id} in this project now.", advice="Call lessons_for_task again.")
    return found


class LessonsIn(NamedTuple):
    """What the sessions of one project teach, and what they show that nobody has found words for."""

    lessons: tuple[Lesson, ...] = ()
    open: tuple[OpenEvidence, ...] = ()


def lessons_in(home: Home, database: Database, project: str) -> LessonsIn:
    """What holds in one project, as every other surface shows it, the most promising first."""
    if not project:
        return LessonsIn()
    refresh(database, failure_weights(), progress=lambda _: None, processors=1)
    projects = found_by_sources(home, database, EVERYWHERE)
    own = [each for each in folded(home, database, projects) if project in (each.project, *each.seen_by.projects)]
    lessons = sorted(own, key=lambda each: -each.evidence.worth)
    return LessonsIn(tuple(lessons), tuple(one for each in projects if each.project == project for one in each.open))


def evidence_of(lesson: Lesson | OpenEvidence) -> LessonEvidence:
    """What a writer sees of a lesson: the older sessions, so that the later ones can judge what it writes."""
    return written_from(lesson.evidence, None)


def project_in(folder: str) -> str:
    """The project that a folder belongs to; none where no folder is named."""
    return name_of_project(os.path.abspath(folder)) if folder else ""


def _answer(lesson: Lesson | OpenEvidence, evidence: bool) -> LessonAnswer:
    shown = seen.shown_evidence(evidence_of(lesson)) if evidence else ""
    told = lesson if isinstance(lesson, Lesson) and _is_advice(lesson) else None
    return LessonAnswer(
        id=lesson.id,
        project=lesson.project,
        source=lesson.evidence.source.value,
        situation=told.situation if told else "",
        draft=told.rule if told else None,
        sessions=lesson.evidence.sessions,
        not_followed=lesson.checks.stands_in if isinstance(lesson, Lesson) else "",
        evidence=quoted("evidence from sessions", shown, mark=mark_for((shown,))) if shown else "",
        seen_in=list(dict.fromkeys(piece.session for piece in lesson.evidence.pieces))[:PLACES_SHOWN],
        rungs=list(lesson.climb.words) if isinstance(lesson, Lesson) else [],
    )


def _is_advice(lesson: Lesson) -> bool:
    """Whether its rule may be told before a person has approved it: nobody said the contrary, and no word is a tool's
    or a stranger's.
    """
    return lesson.trust >= Trust.AGENT and lesson.checks.conflict is None


def _said(lesson: Lesson | OpenEvidence) -> str:
    best = lesson.evidence.best
    return f"{lesson.rule if isinstance(lesson, Lesson) else ''} {best.text} {best.fix}"
