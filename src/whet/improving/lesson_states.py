"""What became of a lesson's draft: nothing yet, or what the ledger says of it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.pending import propose
from whet.errors import WhetError
from whet.failures.kinds import ChangeKind
from whet.failures.lessons import Lesson
from whet.improving.evidence_ideas import SAME_FAILURE, same_rule
from whet.improving.learned_forms import merged, patch_in_form
from whet.improving.project_evidence import TaughtLesson
from whet.ledger.entries import Actor, Entry, Item, State, Step
from whet.ledger.marks import marks
from whet.ledger.patches import Form, digest
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.skill_files import usable
from whet.told.skills import Skill

ID_LETTERS = 8


class LessonState(StrEnum):
    """How far a lesson has come."""

    NEW = "new"
    STANDS = "stands"  # a file of the project says it already
    CONFLICT = "conflict"  # somebody said the contrary
    UNDRAFTED = "undrafted"
    WAITS = "waits"  # for a person
    ACTIVE = "active"
    UNDONE = "undone"
    REFUSED = "refused"


UNDECIDED = frozenset({LessonState.NEW, LessonState.WAITS})
DECIDED = frozenset({LessonState.ACTIVE, LessonState.UNDONE, LessonState.REFUSED})
_OF_STEP = {
    Step.REFUSED: (LessonState.REFUSED, "refused"),
    Step.REJECTED: (LessonState.REFUSED, "refused: a trial says that it does not help"),
    Step.UNDONE: (LessonState.UNDONE, "undone"),
    Step.REVERTED: (LessonState.UNDONE, "undone"),
}


_WITHOUT_FIX = {
    ChangeKind.RULE: "no session shows what works instead",
    ChangeKind.SKILL: "may be worth a skill",
    ChangeKind.MEMORY: "may be worth a memory note",
    ChangeKind.ENVIRONMENT: "look at your environment",
}


class LessonStanding(NamedTuple):
    """The state of a lesson, and the same in words for people."""

    state: LessonState
    words: str


class DecisionsOnLessons(NamedTuple):
    """What the ledger says: what is in force, and every decision."""

    state: State = State()
    entries: tuple[Entry, ...] = ()


def standing_of(lesson: TaughtLesson, decisions: DecisionsOnLessons) -> LessonStanding:
    """What became of a lesson's draft. The last decision counts."""
    if lesson.conflict:
        return LessonStanding(LessonState.CONFLICT, "contradicted elsewhere, not proposed")
    state, patch = decisions.state, lesson.patch
    told = patch_in_form(lesson.draft, lesson.candidate, lesson.project) if lesson.draft and not patch else patch
    # A rule that Whet wrote into the project's file stands there too: it is judged by the sessions since.
    if told and (item := state.get(told.form, told.name) or same_rule(_rules(state, told.form), told)):
        live = ", for a share of the sessions" if item.canary else ""
        return LessonStanding(LessonState.ACTIVE, f"active as {item.form.value} {item.name}{live}")
    if lesson.stands_in:
        broken = ", but not followed" if lesson.is_broken else ""
        return LessonStanding(LessonState.STANDS, f"already in {lesson.stands_in}{broken}")
    if patch is None:
        return LessonStanding(LessonState.UNDRAFTED, "nothing to propose: no session shows what works instead")
    waiting = next((each for each in state.pending if each.patch.name == patch.name), None)
    if waiting is not None:
        return LessonStanding(LessonState.WAITS, f"waits: `whet pending show {waiting.number}`")
    if marks(patch) & state.never:
        return LessonStanding(LessonState.REFUSED, "refused for good")
    own = [each for each in decisions.entries if (each.patch.form, each.patch.name) == (patch.form, patch.name)]
    last = next((each for each in reversed(own) if each.step in _OF_STEP), None)
    return LessonStanding(*_OF_STEP[last.step]) if last else LessonStanding(LessonState.NEW, "new")


def without_fix(lesson: Lesson) -> str:
    """What can be said of a failure that recurs and has no draft."""
    if lesson.change is ChangeKind.SKILL and lesson.kind in SAME_FAILURE:
        return "mostly made good in the same session"
    return _WITHOUT_FIX[lesson.change]


def lesson_id(lesson: TaughtLesson | Lesson) -> str:
    """The name of a lesson; it stays the same as long as its best piece of evidence does, or what recurs."""
    if isinstance(lesson, Lesson):
        return digest(f"{lesson.kind} {lesson.tool} {lesson.fingerprint}")[:ID_LETTERS]
    best = lesson.candidate.best
    return digest(f"{lesson.project} {best.session} {best.message} {best.text}")[:ID_LETTERS]


def decisions_on_lessons(home: Home, database: Database) -> DecisionsOnLessons:
    """What was decided in this home so far."""
    ledger = ledger_of(home, database)
    return DecisionsOnLessons(ledger.state(), tuple(ledger.entries()))


def propose_lesson(home: Home, database: Database, lesson: TaughtLesson | Lesson, *, now: float) -> Entry:
    """Let a lesson's draft wait for a person, as an improvement does with what it cannot try."""
    if isinstance(lesson, Lesson):
        advice = "Write one with `whet rules add`, or let an agent write it (/whet:improve)."
        raise WhetError("No session shows what works instead, so there is no draft.", advice=advice)
    patch = lesson.patch
    if patch is None:
        words = standing_of(lesson, DecisionsOnLessons()).words
        raise WhetError(f"Lesson {lesson_id(lesson)} is not proposed: {words}.", advice="`whet lessons` lists others.")
    given = merged(patch, usable(home.folder)) if patch.form is Form.SKILL else patch
    if isinstance(given, Skill):
        raise WhetError(f"The skill {given.name} names these steps already.", advice="`whet skills` shows it.")
    told = replace(given, origin=replace(given.origin, untried=""))
    return propose(home, database, told, actor=Actor.POLICY, now=now)


def _rules(state: State, form: Form) -> Sequence[Item]:
    return state.rules if form is Form.RULE else ()
