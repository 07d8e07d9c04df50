"""What became of a lesson: nothing yet, or what the ledger says of it."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.pending import propose
from whet.errors import WhetError
from whet.improving.learned_forms import merged
from whet.ledger.entries import Actor, Entry, Item, State, Step
from whet.ledger.holding import Whereabouts, holds
from whet.ledger.marks import marks
from whet.ledger.patches import Form, Patch
from whet.lessons.record import Lesson, LessonStage, Standing
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.skill_files import usable
from whet.text.likeness import is_same, sense
from whet.told.skills import Skill

_OF_STEP = {
    Step.REFUSED: Standing(LessonStage.REFUSED),
    Step.REJECTED: Standing(LessonStage.REFUSED, why=": a trial says that it does not help"),
    Step.UNDONE: Standing(LessonStage.RETIRED),
    Step.REVERTED: Standing(LessonStage.RETIRED),
}


class DecisionsOnLessons(NamedTuple):
    """What the ledger says: what is in force, and every decision."""

    state: State = State()
    entries: tuple[Entry, ...] = ()


def standing_of(lesson: Lesson, decisions: DecisionsOnLessons) -> Standing:
    """How far a lesson has come. The last decision counts."""
    state, patch, checks = decisions.state, lesson.patch, lesson.checks
    if checks.conflict:
        return Standing(LessonStage.CLAIMED, why="contradicted elsewhere, not proposed")
    # A rule that Whet wrote into the project's file stands there too: it is judged by the sessions since.
    rules = state.rules if patch.form is Form.RULE else ()
    if item := state.get(patch.form, patch.name) or same_rule(rules, patch):
        stage = LessonStage.LIVE if item.canary else LessonStage.ACTIVE
        return Standing(stage, item.number, f"{item.form.value} {item.name}")
    if checks.stands_in:
        broken = ", but not followed" if checks.is_broken else ""
        return Standing(LessonStage.CLAIMED, why=f"already in {checks.stands_in}{broken}")
    waiting = next((each for each in state.pending if each.patch.name == patch.name), None)
    if waiting is not None:
        return Standing(LessonStage.WAITING, waiting.number)
    if marks(patch) & state.never:
        return Standing(LessonStage.REFUSED, why=" for good")
    own = [each for each in decisions.entries if (each.patch.form, each.patch.name) == (patch.form, patch.name)]
    last = next((each for each in reversed(own) if each.step in _OF_STEP), None)
    return replace(_OF_STEP[last.step], entry=last.number) if last else Standing(LessonStage.CHECKED)


def same_rule(rules: Sequence[Item], patch: Patch) -> Item | None:
    """The rule in force that says the same where the patch would hold."""
    meant = sense(patch.text)
    for rule in rules:
        holds_there = holds(rule.scope, Whereabouts(patch.scope.project))
        if holds_there and (rule.text.split() == patch.text.split() or is_same(meant, sense(rule.text))):
            return rule
    return None


def decisions_on_lessons(home: Home, database: Database) -> DecisionsOnLessons:
    """What was decided in this home so far."""
    ledger = ledger_of(home, database)
    return DecisionsOnLessons(ledger.state(), tuple(ledger.entries()))


def propose_lesson(home: Home, database: Database, lesson: Lesson, *, now: float) -> Entry:
    """Let a lesson wait for a person, as an improvement does with what it cannot try."""
    if not lesson.is_proposable:
        words = lesson.standing.words
        raise WhetError(f"Lesson {lesson.id} is not proposed: {words}.", advice="`whet lessons` lists others.")
    given = merged(lesson.patch, usable(home.folder)) if lesson.patch.form is Form.SKILL else lesson.patch
    if isinstance(given, Skill):
        raise WhetError(f"The skill {given.name} names these steps already.", advice="`whet skills` shows it.")
    told = replace(given, origin=replace(given.origin, untried=""))
    return propose(home, database, told, actor=Actor.POLICY, now=now)
