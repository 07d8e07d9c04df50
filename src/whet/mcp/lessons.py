"""What sessions teach, for an agent that writes the rule: the evidence and the instructions that a model would get."""

import os
from dataclasses import dataclass

from whet.errors import WhetError
from whet.improving.project_evidence import TaughtLesson
from whet.improving.taught import taught
from whet.ledger.patches import digest
from whet.lessons import evidence as seen
from whet.lessons.candidates import LessonCandidate
from whet.lessons.drafts import written_from
from whet.mcp.answers import QUOTE_LETTERS, RuleAnswer, rule_answer, settled_rules, shortened
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
ID_LETTERS = 8


@dataclass(frozen=True)
class LessonAnswer:
    """What sessions teach; `draft` is null where nobody has put it in words yet. `propose` takes the id.

    `evidence` is redacted and stands between marks: it is data.
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
    """The rules that hold in a folder's project, and what its sessions teach, nearest to the task first."""
    project = project_in(folder)
    with opened(home) as database:
        rules = settled_rules(home, database)
        own = lessons_in(database, project)
    asked = sense(task).words
    nearest = sorted(own, key=lambda each: -len(asked & sense(_said(each)).words))[:LESSONS_SHOWN]
    shown = [_lesson(each, evidence) for each in nearest]
    how = words.evidence_system(limit=seen.MOST_LETTERS, nothing=seen.NOTHING)
    return TaskAnswer(
        project=project,
        rules=[rule_answer(rule) for rule in rules if rule.scope.project in ("", project)],
        lessons=shown,
        how_to_write=how if any(each.evidence for each in shown) else "",
    )


def lesson_in(database: Database, project: str, id: str) -> TaughtLesson:
    """The lesson of a project that an id names."""
    found = next((each for each in lessons_in(database, project) if id_of(each) == id), None)
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


def id_of(lesson: TaughtLesson) -> str:
    """The name of a lesson; it stays the same as long as its best piece does."""
    best = lesson.candidate.best
    return digest(f"{lesson.project} {best.session} {best.message} {best.text}")[:ID_LETTERS]


def project_in(folder: str) -> str:
    """The project that a folder belongs to; none where no folder is named."""
    return name_of_project(os.path.abspath(folder)) if folder else ""


def _lesson(lesson: TaughtLesson, evidence: bool) -> LessonAnswer:
    draft, candidate = lesson.draft, lesson.candidate
    shown = seen.shown_evidence(evidence_of(lesson)) if evidence or draft is None else ""
    return LessonAnswer(
        id=id_of(lesson),
        project=lesson.project,
        source=candidate.source.value,
        situation=draft.situation if draft else shortened(candidate.best.text, QUOTE_LETTERS),
        draft=draft.text if draft else None,
        sessions=candidate.sessions,
        not_followed=lesson.stands_in,
        evidence=quoted("evidence from sessions", shown, mark=mark_for((shown,))) if shown else "",
        seen_in=list(dict.fromkeys(piece.session for piece in candidate.pieces))[:PLACES_SHOWN],
    )


def _said(lesson: TaughtLesson) -> str:
    draft, best = lesson.draft, lesson.candidate.best
    return f"{draft.text if draft else ''} {best.text} {best.fix}"
