"""What becomes of a lesson when its trial has ended, or without one: in force, retired, or left to a person, once.

Rules that are told and not followed go to a person too: the next step of the ladder for each, with the counts.
"""

import os
import time
from pathlib import Path

from msgspec.structs import replace

from whet.changes.apply import Refused, apply, try_out
from whet.changes.pending import propose
from whet.errors import WhetError
from whet.evidence.verdicts import Ruling, Verdict
from whet.improving.heeded import following
from whet.ledger.entries import Actor, Item
from whet.ledger.patches import Form, Patch, RuleSituation
from whet.lessons.following import pattern_of
from whet.lessons.record import Lesson, LessonStage, lesson_of_change
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.files import Conflict
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.recording import SOURCE
from whet.telling.hooks.installing import installed_hosts
from whet.telling.targets import settings as targets
from whet.telling.targets.drawing import is_movable
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.settings import Reader, hooked_agents, readers_of, reads
from whet.telling.targets.settings import load as load_targets
from whet.trials.design import TrialProgress
from whet.trials.improvements import LessonOutcome, WordingOrigin, retires, standing_at, way_of
from whet.trials.ladder import next_rung, step_of

UNTRIABLE = "you: nothing can try it yet"
OWN_PROMPT = "Whet's own prompt"
TOLD = (Form.RULE, Form.NOTE, Form.SKILL)
STAGES = {Ruling.REJECT: LessonStage.REFUSED, Ruling.UNDECIDED: LessonStage.CHECKED}


def keep(home: Home, lesson: Lesson, progress: TrialProgress, *, share: float) -> LessonOutcome:
    """Do what the verdict says; what was done before a crash is found and not done again."""
    verdict, way = progress.result.verdict, way_of(lesson)
    with opened(home) as database:
        if way is WordingOrigin.RETIRE:
            kept = _retire(home, database, lesson, verdict, progress.entry)
        elif verdict.ruling is Ruling.UNDECIDED and way is WordingOrigin.EVIDENCE:
            kept = leave_to_person(home, database, _tried(lesson, progress.trial))
        elif verdict.ruling is not Ruling.ACCEPT:
            kept = standing_at(lesson, STAGES[verdict.ruling], progress.result.held_back, progress.entry)
        elif way is WordingOrigin.TEMPLATE:
            kept = standing_at(lesson, LessonStage.ACTIVE, "`--warm auto` may choose it", progress.entry)
        else:
            kept = _put_in_force(home, database, _tried(lesson, progress.trial), share=share)
    if not kept.standing.entry:
        kept = replace(kept, standing=replace(kept.standing, entry=progress.entry))
    return LessonOutcome(kept, verdict, progress.attempts)


def leave_to_person(home: Home, database: Database, lesson: Lesson, *, show: bool = False) -> Lesson:
    """Let what a lesson says wait for a person; what the ledger refuses goes no further."""
    try:
        entry = propose(home, database, lesson.patch, actor=Actor.POLICY, now=time.time())
    except WhetError as error:
        return standing_at(lesson, LessonStage.CLAIMED, error.message)
    way = f"whet lessons {'show' if show else 'approve'} {entry.number}"
    return standing_at(lesson, LessonStage.WAITING, way, entry.number)


def unheeded(home: Home, database: Database) -> tuple[Lesson, ...]:
    """The next step for each rule that needs one; nothing is proposed yet."""
    rules = ledger_of(home, database).state().rules
    asked = [rule for rule in rules if not rule.canary and rule.situation != RuleSituation()]
    fared = following(home, database, asked)
    targets, hooked = load_targets(home), hooked_agents(home, now=time.time())
    found: list[Lesson] = []
    for rule in asked:
        # A hook can know the calls of the rule, and an agent that it is for has hooks.
        may_remind = pattern_of(rule.situation) is not None and any(reads(Reader(agent), rule) for agent in hooked)
        may_move = is_movable(rule, targets, hooked)
        if rung := next_rung(rule, fared[rule.name], is_movable=may_move, is_remindable=may_remind):
            patch = step_of(rule, rung, fared[rule.name])
            found.append(lesson_of_change(patch, f"the rule {rule.name}: {patch.reason}; {rung}"))
    return tuple(found)


def propose_steps(home: Home, database: Database) -> tuple[LessonOutcome, ...]:
    """Let each step wait for a person, who alone takes it."""
    steps = unheeded(home, database)
    return tuple(LessonOutcome(leave_to_person(home, database, each, show=True)) for each in steps)


def _put_in_force(home: Home, database: Database, lesson: Lesson, *, share: float) -> Lesson:
    """Tell an accepted rule to a share of the sessions, and a note to all, for nothing tells it to a share.

    What has words that nobody vouches for waits for a person, and so does every skill.
    """
    patch, now = lesson.patch, time.time()
    known = ledger_of(home, database).state().get(patch.form, patch.name)
    if known is not None and (known.text, known.scope) == (patch.text, patch.scope):
        stage = LessonStage.LIVE if patch.form is Form.RULE else LessonStage.ACTIVE
        return standing_at(lesson, stage, entry=known.number)
    if patch.is_foreign or patch.form is Form.SKILL:
        return leave_to_person(home, database, lesson)
    try:
        if share >= 1 or patch.form is Form.NOTE:
            entry = apply(home, database, patch, actor=Actor.POLICY, now=now)
            return standing_at(lesson, LessonStage.ACTIVE, entry=entry.number)
        entry = try_out(home, database, patch, actor=Actor.POLICY, now=now, share=share)
    except (Refused, Conflict) as error:
        return standing_at(lesson, LessonStage.CLAIMED, error.message)
    return standing_at(lesson, LessonStage.LIVE, entry=entry.number)


def _tried(lesson: Lesson, trial: str) -> Lesson:
    origin = replace(lesson.origin, trial=trial, untried=None)
    return replace(lesson, patch=replace(lesson.patch, origin=origin))


def _retire(home: Home, database: Database, lesson: Lesson, verdict: Verdict, entry: int) -> Lesson:
    """Take a rule away that no longer helps; a person's own waits for that person."""
    if not retires(verdict):
        why = "without it, more fails" if verdict.ruling is Ruling.REJECT else "not sure"
        return standing_at(lesson, LessonStage.ACTIVE, why, entry)
    rule = ledger_of(home, database).state().get(Form.RULE, lesson.patch.name)
    if rule is None:
        return standing_at(lesson, LessonStage.RETIRED, entry=entry)
    if rule.trust is Trust.OPERATOR:
        return leave_to_person(home, database, lesson)
    applied = apply(home, database, lesson.patch, actor=Actor.POLICY, now=time.time())
    return standing_at(lesson, LessonStage.RETIRED, entry=applied.number)


def foretold(home: Home, outcome: LessonOutcome, model: str, *, agent: str = "", now: float) -> LessonOutcome:
    """The outcome with where its words would go and what a verdict would be worth."""
    lesson, patch = outcome.lesson, outcome.lesson.patch
    if not lesson.is_worded or patch.form not in TOLD or lesson.standing.stage is LessonStage.CLAIMED:
        return outcome
    judge = (agent if outcome.most.attempts else UNTRIABLE) if agent else _judge(outcome, model)
    return replace(outcome, goes_to=_places(home, patch, now), judge=judge)


def _places(home: Home, patch: Patch, now: float) -> tuple[str, ...]:
    if patch.form is Form.NOTE:
        return (f"{patch.name.partition('/')[0]}.md in Whet's own memory",)
    if patch.form is Form.SKILL:
        folders = (target.skills for target in targets.load(home) if target.skills)
        return (f"skills/{patch.name} in Whet's home", *dict.fromkeys(folders))
    item = Item(Form.RULE, patch.name, patch.text, patch.scope, patch.trust)
    where = ""
    if patch.scope.project:
        with opened(home) as database:
            where = f" in {KnownProjects(database).shown(patch.scope.project)}"
    called, paths = readers_of(home, item, now=now)
    installed = (name for name in installed_hosts(home, Path.home(), os.environ) if reads(Reader(name), item))
    hooked = sorted({*called, *installed})
    by_hooks = (f"new sessions of {', '.join(hooked)}{where}",) if hooked else ()
    return (*by_hooks, *paths, f"{OWN_PROMPT}{where}")


def _judge(outcome: LessonOutcome, model: str) -> str:
    if not model:
        return "you: no model is set"
    failed = tuple(name for name in outcome.lesson.seen_by.agents if name != SOURCE)
    warning = f"; it failed in {', '.join(failed)}, for which that is evidence and no proof" if failed else ""
    return f"{model} in Whet's own agent{warning}"
