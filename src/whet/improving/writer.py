"""Rules written by a model: from the facts of a lesson, without a word of any session, or from a candidate's evidence.

Either way it has no tools. Evidence is shown to it between marks and redacted, and what it makes of that is trusted no
more than what it was made from.
"""

import time
from threading import Event
from typing import NamedTuple

import msgspec

from whet.agent.assembling import RunRequest, RunWords, assemble_run
from whet.agent.protocols import Chosen
from whet.agent.start import carry_out, says
from whet.failures.lessons import RecurringFailure
from whet.ledger.patches import Patch
from whet.lessons import evidence as seen
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import LessonDraft
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
from whet.trials.drafts import facts_of, written

NOTHING_OF_USE = "the model wrote nothing of use"


class Written(NamedTuple):
    """What a model wrote for a lesson, None where it wrote nothing of use, and what that cost."""

    patch: Patch | None
    spent: Spent = Spent()
    why: str = ""


class WrittenDraft(NamedTuple):
    """What a model made of a candidate's evidence, None where that is of no use, and what it cost."""

    draft: LessonDraft | None
    spent: Spent = Spent()
    why: str = ""


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


def write(means: WriterMeans, lesson: RecurringFailure) -> Written:
    """Have a rule written. The request holds the facts of the lesson and nothing that stood in a session."""
    facts = msgspec.json.format(msgspec.json.encode(facts_of(lesson, known_kinds())), indent=2).decode()
    text, ended = _ask(means, words.system(), words.order(facts), trust=Trust.OPERATOR)
    patch = written(lesson, text) if ended.ending is Ending.FINISHED else None
    return Written(patch, ended.spent, "" if patch else ended.detail or NOTHING_OF_USE)


def question_of(candidate: LessonEvidence) -> WriterQuestion:
    """What a model is asked about a candidate: its evidence stands in the order, as data."""
    shown = seen.shown_evidence(candidate)
    marked = quoted("evidence from sessions", shown, mark=mark_for((shown,)))
    system = words.evidence_system(limit=seen.MOST_LETTERS, nothing=seen.NOTHING)
    return WriterQuestion(system, words.evidence_order(marked, nothing=seen.NOTHING))


def write_from_evidence(means: WriterMeans, candidate: LessonEvidence) -> WrittenDraft:
    """Have the shortest instruction written that a candidate's evidence bears out."""
    system, order = question_of(candidate)
    text, ended = _ask(means, system, order, trust=seen.trust_of_evidence(candidate))
    if ended.ending is not Ending.FINISHED:
        return WrittenDraft(None, ended.spent, ended.detail or NOTHING_OF_USE)
    draft, why = seen.read_answer(text, candidate)
    return WrittenDraft(draft, ended.spent, why)


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
