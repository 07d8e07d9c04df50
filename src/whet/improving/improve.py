"""Improvement as durable work: fail, analyse, rewrite, retry, verify; each arrow a step that is done once."""

import os
import time
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.providers.choosing import Supply, missing_key
from whet.changes.pending import pending
from whet.errors import WhetError
from whet.improving.keeping import TOLD, foretold, keep, leave_to_person, propose_steps, unheeded
from whet.improving.lessons_to_try import LessonsToTry, cases_for, find_lessons, note_untriable
from whet.improving.taught import Progress, silent
from whet.ledger.patches import Form
from whet.lessons.record import Lesson, LessonStage, Standing, lesson_of_change
from whet.own.runs.run import together
from whet.proving.attempt import served, unasked
from whet.proving.executors import settings_of
from whet.proving.plan import WantedTrial, expect_worth_it, prepare
from whet.proving.trial import Observe, trial
from whet.store.case_files import folders_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.trials.attempts import AttemptConditions, TrialAgent
from whet.trials.cases import is_errand
from whet.trials.design import TooFewCases, Trial, TrialProgress, plan
from whet.trials.improvements import (
    ImproveReport,
    ImproveRequest,
    LessonOutcome,
    LessonResult,
    TrialCost,
    WordingOrigin,
    standing_at,
    way_of,
)
from whet.values import Value
from whet.work.orders import Done, Order, Steps, decoded, encoded, left_by

KIND = "improve"
NO_MODEL = (
    "No model is set, so nothing is tried. To try it in your own sessions at no cost: `whet live start ID`."
    " Else set a model (`whet config model PROVIDER:NAME`, `whet models`) and run this again, or try it on your"
    " agent: `whet try --agent claude-code`."
)
NO_KEY = (
    "{variable} is not set, so this is the plan alone and nothing can be tried yet. Run `export {variable}=…`, or try"
    " changes on your agent: `whet try --agent claude-code`."
)


class ReadyTrial(Value, frozen=True):
    """How far a lesson comes before anything is tried: a trial that can begin, or why a person is asked.

    Where there is neither, it ends here, and its standing says why.
    """

    lesson: Lesson
    trial: Trial | None = None
    asks: str = ""
    foretold: str = ""  # what a dry run says instead


class ImproveRun(NamedTuple):
    """One improvement while it is carried out."""

    home: Home
    steps: Steps
    ask: ImproveRequest
    supply: Supply
    model: str  # of Whet's own agent; empty: none
    observe: Callable[[Lesson], Observe] | None = None

    @property
    def can_try(self) -> bool:
        return bool(self.model or self.ask.agent)


def order(ask: ImproveRequest, *, key: str) -> Order:
    """The order to improve. Only one is open at a time."""
    return Order(KIND, key, encoded(ask), alone=KIND)


def improve(
    home: Home,
    steps: Steps,
    ask: ImproveRequest,
    *,
    supply: Supply | None = None,
    observe: Callable[[Lesson], Observe] | None = None,
    progress: Progress = silent,
) -> Done:
    """Find what fails again and again, change what the agent is told, try it, and keep what is proved.

    A dry run is the same, and stops before it spends anything or writes an entry.
    """
    # The model of Whet's own agent; that of another agent is not Whet's to ask.
    named = "" if ask.agent else ask.model
    model = steps.do("model", lambda: named or load(home).model, str)
    no_key = missing_key(load(home), os.environ, model) if ask.dry_run and model and supply is None else ""
    course = ImproveRun(home, steps, ask, supply or (unasked if ask.dry_run else served), model, observe)
    # The step has its first name, so that what an earlier version found is refused in words.
    found = steps.do("ideas", lambda: _find(course, progress), LessonsToTry)
    outcomes = tuple(_carry(course, number, lesson) for number, lesson in enumerate(found.lessons, start=1))
    if not ask.retire:
        outcomes += steps.do("unheeded", lambda: _take_next_steps(course), tuple[LessonOutcome, ...])
    stopped = NO_KEY.format(variable=no_key) if no_key else ""
    report = ImproveReport(
        found.sessions,
        found.taught,
        outcomes,
        stopped if course.can_try else NO_MODEL,
        found.left,
        found.waiting,
    )
    spent = together(each.spent for each in outcomes)
    return Done(sentence(report), (), spent, encoded(report))


def _carry(course: ImproveRun, number: int, lesson: Lesson) -> LessonOutcome:
    """What becomes of a lesson: it ends, waits for a person, or is tried; a dry run says which."""
    ready = _ready(course, number, lesson)
    if course.ask.dry_run:
        return _foretell(course, ready)
    if ready.trial is not None:
        return _try(course, number, ready, ready.trial)
    left = _leave_untried(course, number, ready) if ready.asks else ready.lesson
    return LessonOutcome(left)


def _ready(course: ImproveRun, number: int, lesson: Lesson) -> ReadyTrial:
    if lesson.standing.stage is LessonStage.CLAIMED and lesson.standing.why:
        return ReadyTrial(lesson)
    if not course.can_try:
        return ReadyTrial(lesson, asks="no model is set", foretold="no model is set to try it")
    if way_of(lesson) is WordingOrigin.ROOM:
        return ReadyTrial(lesson, asks="its evidence is the weakest", foretold="to leave")
    return course.steps.do(f"prepare {number}", lambda: _make_ready(course, number, lesson), ReadyTrial)


def _foretell(course: ImproveRun, ready: ReadyTrial) -> LessonOutcome:
    """Where a lesson would go, who would judge it, and what that would cost."""
    outcome = LessonOutcome(ready.lesson)
    if ready.trial is not None:
        outcome = _costing(ready.lesson, ready.trial)
    elif ready.foretold:
        outcome = LessonOutcome(standing_at(ready.lesson, LessonStage.CHECKED, ready.foretold), is_planned=True)
    return foretold(course.home, outcome, _judge(course), agent=course.ask.agent, now=time.time())


def _judge(course: ImproveRun) -> str:
    return course.ask.model or load(course.home).model


def _waiting(course: ImproveRun, database: Database) -> tuple[LessonOutcome, ...]:
    """What waits for a person; in a dry run also what a trial of each would cost, or why there can be none."""
    home, ask = course.home, course.ask
    waiting = [entry for entry in pending(home, database, now=time.time()) if entry.patch.form in TOLD]
    most = ask.most if ask.dry_run and course.can_try else 0
    found: list[LessonOutcome] = []
    for place, entry in enumerate(waiting):
        standing = Standing(LessonStage.WAITING, entry.number)
        lesson = lesson_of_change(entry.patch, entry.patch.reason, standing)
        waits = LessonOutcome(lesson)
        if place < most:
            ready = _prepare(course, database, lesson, id=f"{course.steps.id}-waits-{place}")
            cost = _costing(lesson, ready).most if isinstance(ready, Trial) else TrialCost()
            why = ready.standing.why if isinstance(ready, Lesson) else ""
            waits = LessonOutcome(replace(lesson, standing=replace(standing, why=why)), most=cost)
        found.append(foretold(home, waits, _judge(course), agent=ask.agent, now=time.time()))
    return tuple(found)


def sentence(report: ImproveReport) -> str:
    """An improvement in a line."""
    counts = {became: sum(each.became is became for each in report.outcomes) for became in LessonResult}
    told = ", ".join(f"{number} {became.value}" for became, number in counts.items() if number)
    return f"{report.lessons} lessons from {report.sessions} sessions; {told or 'nothing to try'}"


def _take_next_steps(course: ImproveRun) -> tuple[LessonOutcome, ...]:
    """The next step for each rule that is told and not followed."""
    with opened(course.home) as database:
        if course.ask.dry_run:
            steps = unheeded(course.home, database)
            return tuple(LessonOutcome(standing_at(each, LessonStage.CHECKED), is_planned=True) for each in steps)
        return propose_steps(course.home, database)


def _find(course: ImproveRun, progress: Progress) -> LessonsToTry:
    """The lessons to try, and what waited before any of them."""
    home, ask = course.home, course.ask
    named = _judge(course)
    if ask.agent:  # what is proved on it is said of the model that it runs, where that has a name
        named = model = ask.model or settings_of(ask.agent, load(home)).model
    else:
        model = course.supply(home, load(home), named).model.name if course.model else ""
    with opened(home) as database:
        found = find_lessons(home, database, ask, model=model, named=named, progress=progress)
        return found if ask.retire else replace(found, waiting=_waiting(course, database))


def _leave_untried(course: ImproveRun, number: int, ready: ReadyTrial) -> Lesson:
    """What cannot be retried waits as not tried, for a person to approve or to try live."""
    patch = ready.lesson.patch

    def put() -> Lesson:
        told = replace(ready.lesson, patch=replace(patch, origin=replace(patch.origin, untried=ready.asks)))
        with opened(course.home) as database:
            waits = leave_to_person(course.home, database, told)
        number = waits.standing.entry
        live = f"; to try it live, `whet live start {number}`" if patch.form is Form.RULE else ""
        why = f"`whet lessons approve {number}`{live} (not tried: {ready.asks})"
        return replace(waits, standing=replace(waits.standing, why=why)) if number else waits

    return course.steps.do(f"propose {number}", put, Lesson)


def _try(course: ImproveRun, number: int, ready: ReadyTrial, planned: Trial) -> LessonOutcome:
    observe = course.observe(ready.lesson) if course.observe else None
    terms = replace(planned.terms, watched=course.ask.watched)
    try:
        done = trial(course.home, course.steps, replace(planned, terms=terms), observe=observe)
    except WhetError as error:
        spent = left_by(error).spent
        why = f"{error.message} {error.advice}".strip()
        return LessonOutcome(standing_at(ready.lesson, LessonStage.CHECKED, why), spent=spent)
    progress = decoded(done.value, TrialProgress)
    outcome = course.steps.do(
        f"keep {number}", lambda: keep(course.home, ready.lesson, progress, share=course.ask.share), LessonOutcome
    )
    return replace(outcome, spent=done.spent)


def _make_ready(course: ImproveRun, number: int, lesson: Lesson) -> ReadyTrial:
    """Everything for one trial: the cases and the plan."""
    with opened(course.home) as database:
        found = _prepare(course, database, lesson, id=f"{course.steps.id}-{number}")
    if isinstance(found, Trial):
        return ReadyTrial(lesson, found)
    why = found.standing.why
    # What cannot be tried and yet was seen is asked about; else it would stand before the others every night.
    if way_of(lesson) is WordingOrigin.EVIDENCE and found.standing.stage is LessonStage.CHECKED:
        return ReadyTrial(lesson, asks=why, foretold=f"without a trial: {why}")
    if not course.ask.dry_run and not course.ask.cases and way_of(lesson) is not WordingOrigin.RETIRE:
        with opened(course.home) as database:
            note_untriable(database, lesson, why)
    return ReadyTrial(found)


def _prepare(course: ImproveRun, database: Database, lesson: Lesson, *, id: str) -> Trial | Lesson:
    """The trial of a lesson, or the lesson with why there can be none."""
    home, ask = course.home, course.ask
    cases = cases_for(home, database, ask, lesson)
    if ask.agent:
        cases = tuple(case for case in cases if is_errand(case))
    if not any(not case.guard for case in cases):
        return standing_at(lesson, LessonStage.CHECKED, _no_case(ask, lesson))
    conditions = AttemptConditions(
        ask.model,
        load(home).sampling,
        TrialAgent(ask.agent, model=ask.model) if ask.agent else None,
        hidden=folders_of(home.folder, ask.cases),
    )
    wanted = WantedTrial(lesson.patch, cases, ask.design, conditions)
    try:
        ready = prepare(home, database, wanted, id=id, now=time.time(), supply=course.supply)
        expect_worth_it(ready)
        return ready
    except TooFewCases as error:
        return standing_at(lesson, LessonStage.CHECKED, error.message)
    except WhetError as error:
        return standing_at(lesson, LessonStage.CLAIMED, error.message)


def _no_case(ask: ImproveRequest, lesson: Lesson) -> str:
    kind = f"task case, which {ask.agent} needs," if ask.agent else "case"
    has_sessions = lesson.evidence.pieces and lesson.standing.stage is not LessonStage.WAITING
    made = " could be made from its sessions" if has_sessions else " is there"
    ways = "`whet cases add --new` writes one, `whet cases add` makes some of your commits, `--cases` names them"
    live = "; your own sessions can try it, once it waits: `whet live start ID`" if ask.agent else ""
    return f"no {kind}{made}: {ways}{live}"


def _costing(lesson: Lesson, trial: Trial) -> LessonOutcome:
    """The lesson as it would be tried, and what that takes."""
    found, seeds = plan(trial), trial.design.seeds
    cost = TrialCost(
        found.attempts_most,
        found.attempts_most * (trial.of_one.input + trial.of_one.output),
        found.cost_most if trial.of_one.dollars is not None else None,
        found.minimum_effect,
    )
    why = f"{len(trial.cases.tried)} cases, {seeds} seed{'' if seeds == 1 else 's'}"
    return LessonOutcome(standing_at(lesson, LessonStage.CHECKED, why), is_planned=True, most=cost)
