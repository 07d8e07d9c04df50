"""Rules written by a model: from the facts of a failure, without a word of any session, or from a lesson's evidence.

Either way it has no tools. Evidence is shown to it between marks and redacted, and what it makes of that is trusted no
more than what it was made from.
"""

import time
from threading import Event
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.assembling import RunRequest, RunWords, assemble_run
from whet.agent.protocols import Chosen
from whet.agent.start import carry_out, says
from whet.failures.lessons import RecurringFailure
from whet.improving.learned_forms import patch_in_form
from whet.ledger.origins import PatchWriter
from whet.ledger.patches import Form, Patch
from whet.lessons import evidence as seen
from whet.lessons.bearing_out import bearing_out
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import draft_of, written_from
from whet.lessons.record import Lesson, LessonStage
from whet.proving.replay import Replay
from whet.runs.run import Budget, Ended, Spent
from whet.runs.settings import Settings
from whet.sessions.transcripts import Ending, Purpose, Role
from whet.sessions.trust import Trust
from whet.shipped.guidance import writing as words
from whet.shipped.kinds import known_kinds
from whet.store.database import Database
from whet.store.home import Home
from whet.text.quoting import mark_for, quoted
from whet.told.passages import SMALL_SIZES
from whet.trials.drafts import facts_of, written
from whet.trials.improvements import Way, standing_at, way_of

NOTHING_OF_USE = "the model wrote nothing of use"


class Written(NamedTuple):
    """The lesson with the words of a model, as it was where that wrote nothing of use, and what that cost."""

    lesson: Lesson
    spent: Spent = Spent()


class WriterQuestion(NamedTuple):
    """What a model is told and asked that writes from evidence."""

    system: str
    order: str


class WriterMeans(NamedTuple):
    """What a model is asked with."""

    home: Home
    database: Database
    chosen: Chosen
    interrupt: Event


def with_words(means: WriterMeans, lesson: Lesson) -> Written:
    """The lesson with a rule that a model wrote for it: from the evidence, or where nobody has written one yet.

    A small model writes nothing over what a pattern drafted: its words are followed less often than those.
    """
    way, failure = way_of(lesson), lesson.evidence.failure
    if way is Way.EVIDENCE and lesson.patch.form is Form.RULE:
        is_too_small = lesson.is_worded and means.chosen.model.size in SMALL_SIZES
        return Written(lesson) if is_too_small else write_from_evidence(means, lesson)
    if lesson.is_worded or failure is None or way is not Way.MODEL:
        return Written(lesson)
    return write(means, lesson, failure)


def write(means: WriterMeans, lesson: Lesson, failure: RecurringFailure) -> Written:
    """Have a rule written. The request holds the facts of the failure and nothing that stood in a session."""
    facts = msgspec.json.format(msgspec.json.encode(facts_of(failure, known_kinds())), indent=2).decode()
    text, ended = _ask(means, words.system(), words.order(facts), trust=Trust.OPERATOR)
    patch = written(failure, text) if ended.ending is Ending.FINISHED else None
    if patch is None:
        return Written(standing_at(lesson, LessonStage.CLAIMED, ended.detail or NOTHING_OF_USE), ended.spent)
    return Written(told_by(lesson, patch), ended.spent)


def question_of(candidate: LessonEvidence) -> WriterQuestion:
    """What a model is asked about a candidate: its evidence stands in the order, as data."""
    shown = seen.shown_evidence(candidate)
    marked = quoted("evidence from sessions", shown, mark=mark_for((shown,)))
    system = words.evidence_system(limit=seen.MOST_LETTERS, nothing=seen.NOTHING)
    return WriterQuestion(system, words.evidence_order(marked, nothing=seen.NOTHING))


def write_from_evidence(means: WriterMeans, lesson: Lesson) -> Written:
    """Have the shortest instruction written that the older evidence bears out.

    Where that is of no use, the words of the pattern stay, or the lesson ends there.
    """
    older = written_from(lesson.evidence, draft_of(lesson.evidence))
    system, order = question_of(older)
    text, ended = _ask(means, system, order, trust=seen.trust_of_evidence(older))
    is_done = ended.ending is Ending.FINISHED
    draft, why = seen.read_answer(text, older) if is_done else (None, ended.detail or NOTHING_OF_USE)
    if draft is None:
        kept = lesson if lesson.is_worded else standing_at(lesson, LessonStage.CLAIMED, why)
        return Written(kept, ended.spent)
    patch = patch_in_form(draft, bearing_out(older, draft), lesson.project)
    # What was decided of a lesson is found by its name, whatever words a model chooses the next time.
    origin = replace(patch.origin, writer=PatchWriter.MODEL, named=means.chosen.model.name)
    return Written(told_by(lesson, replace(patch, name=lesson.patch.name, origin=origin)), ended.spent)


def told_by(lesson: Lesson, patch: Patch) -> Lesson:
    """The lesson told by another change; its id stays that of the words that it had first."""
    return replace(lesson, patch=patch, rule=patch.text)


def _ask(means: WriterMeans, system: str, order: str, *, trust: Trust) -> tuple[str, Ended]:
    """One answer of a model that has no tools."""
    request = RunRequest(
        Settings(budget=Budget(model_calls=1)),
        words=RunWords(messages=(says(order, now=time.time(), trust=trust),), system=system),
        tools=Replay((), ()),
        purpose=Purpose.TRIAL,
        chosen=means.chosen,
    )
    made = assemble_run(means.home, means.database, request)
    messages, ended = carry_out(means.database, made.run, made.means, interrupt=means.interrupt)
    return next((each.text for each in reversed(messages) if each.role is Role.AGENT), ""), ended
