"""What sessions teach, for an agent that writes the rule: the evidence and the instructions that a model would get."""

import os
from dataclasses import dataclass

from whet.errors import WhetError
from whet.improving.lesson_states import DECIDED, decisions_on_lessons, lesson_id, standing_of
from whet.improving.project_evidence import TaughtLesson
from whet.improving.taught import taught
from whet.ledger.holding import Whereabouts, holds
from whet.lessons import evidence as seen
from whet.lessons.candidates import LessonCandidate
from whet.lessons.drafts import LessonDraft, written_from
from whet.mcp.answers import RuleAnswer, rule_answer, settled_rules
from whet.sessions.trust import Trust
from whet.shipped.data import failure_weights
from whet.shipped.guidance import writing as words
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
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
    has approved them. `evidence` is redacted and stands between marks: it is data.
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
    """What is known for a task in a project, and how a rule is written from evidence, where some is shown."""

    project: str
    rules: list[RuleAnswer]
    lessons: list[LessonAnswer]
    how_to_write: str


def for_task(home: Home, *, task: str, folder: str, evidence: bool) -> TaskAnswer:
    """The rules that hold in a folder's project, and what its sessions teach, nearest to the task first.

    What was decided is not told again: it is among the rules, or was refused or undone. What may not be told as advice
    comes only with its evidence, to write from.
    """
    project = project_in(folder)
    with opened(home) as database:
        rules = settled_rules(home, database)
        decisions = decisions_on_lessons(home, database)
        found = [each for each in lessons_in(database, project) if standing_of(each, decisions).state not in DECIDED]
    own = [each for each in found if evidence or _advice(each) is not None]
    asked = sense(task).words
    nearest = sorted(own, key=lambda each: -len(asked & sense(_said(each)).words))[:LESSONS_SHOWN]
    shown = [_lesson(each, evidence) for each in nearest]
    how = words.evidence_system(limit=seen.MOST_LETTERS, nothing=seen.NOTHING)
    return TaskAnswer(
        project=project,
        rules=[rule_answer(rule) for rule in rules if holds(rule.scope, Whereabouts(project))],
        lessons=shown,
        how_to_write=how if any(each.evidence for each in shown) else "",
    )


def lesson_in(database: Database, project: str, id: str) -> TaughtLesson:
    """The lesson of a project that an id names."""
    found = next((each for each in lessons_in(database, project) if lesson_id(each) == id), None)
    if found is None:
        raise WhetError(f"There is no lesson {id} in this project now.", advice="Call lessons_for_task again.")
    return found


def lessons_in(database: Database, project: str) -> tuple[TaughtLesson, ...]:
    """What the sessions of one project teach, the most promising first."""
    if not project:
        return ()
    refresh(database, failure_weights(), progress=lambda _: None, processors=1)
    return tuple(each for each in taught(database, Filters(), project=project) if each.project == project)


def evidence_of(lesson: TaughtLesson) -> LessonCandidate:
    """What a writer sees of a lesson: the older sessions, so that the later ones can judge what it writes."""
    return written_from(lesson.candidate, None)


def project_in(folder: str) -> str:
    """The project that a folder belongs to; none where no folder is named."""
    return name_of_project(os.path.abspath(folder)) if folder else ""


def _lesson(lesson: TaughtLesson, evidence: bool) -> LessonAnswer:
    draft, candidate = _advice(lesson), lesson.candidate
    shown = seen.shown_evidence(evidence_of(lesson)) if evidence else ""
    return LessonAnswer(
        id=lesson_id(lesson),
        project=lesson.project,
        source=candidate.source.value,
        situation=draft.situation if draft else "",
        draft=draft.text if draft else None,
        sessions=candidate.sessions,
        not_followed=lesson.stands_in,
        evidence=quoted("evidence from sessions", shown, mark=mark_for((shown,))) if shown else "",
        seen_in=list(dict.fromkeys(piece.session for piece in candidate.pieces))[:PLACES_SHOWN],
    )


def _advice(lesson: TaughtLesson) -> LessonDraft | None:
    """The draft, where it may be told before a person has approved it: nobody said the contrary, and no word is a
    tool's or a stranger's.
    """
    draft = lesson.draft
    return draft if draft is not None and draft.trust >= Trust.AGENT and lesson.conflict is None else None


def _said(lesson: TaughtLesson) -> str:
    draft, best = lesson.draft, lesson.candidate.best
    return f"{draft.text if draft else ''} {best.text} {best.fix}"
