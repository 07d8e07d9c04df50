"""Improvement as durable work: fail, analyse, rewrite, retry, verify; each arrow a step that is done once."""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.providers.choosing import missing_key
from whet.changes.pending import pending
from whet.engine.orders import Done, Order, left_by
from whet.engine.steps import Steps, decoded, encoded
from whet.errors import WhetError
from whet.improving.ideas import FoundIdeas, cases_for, find_ideas, with_words
from whet.improving.keeping import keep, let_wait
from whet.improving.outlook import TOLD, foretold
from whet.improving.taught import Progress, silent
from whet.improving.unheeded import propose_steps, unheeded
from whet.ledger.patches import Form, Patch
from whet.proving.attempt import Supply, served, unasked
from whet.proving.executors import settings_of
from whet.proving.plan import WantedTrial, expect_worth_it, prepare
from whet.proving.trial import Observe, trial
from whet.runs.run import Spent, together
from whet.store.case_files import folders_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.trials.attempts import AttemptConditions, TrialAgent
from whet.trials.cases import is_errand
from whet.trials.continuing import TooFewCases
from whet.trials.design import Trial, TrialProgress, plan
from whet.trials.drafts import Way
from whet.trials.ideas import Became, Idea, IdeaOutcome, ImproveReport, ImproveRequest
from whet.values import Value

KIND = "improve"
NO_MODEL = (
    "No model is set, so nothing is tried. To try it in your own sessions at no cost: `whet canary start --pending ID`."
    " Else set a model (`whet config set model PROVIDER:NAME`, `whet models`) and run this again, or try it on your"
    " agent: `whet improve --agent claude-code`."
)
NO_KEY = (
    "{variable} is not set, so this is the plan alone and nothing can be tried yet. Run `export {variable}=…`, or try"
    " changes on your agent: `whet improve --agent claude-code`."
)


class ReadyTrial(Value, frozen=True):
    """How far an idea comes before anything is tried: a trial that can begin, why a person is asked, or its end."""

    idea: Idea
    trial: Trial | None = None
    outcome: IdeaOutcome | None = None  # where it ends here
    asks: str = ""  # why it is left to a person
    foretold: str = ""  # the same, as a dry run says it
    spent: Spent = Spent()


class Course(NamedTuple):
    """One improvement while it is carried out."""

    home: Home
    steps: Steps
    ask: ImproveRequest
    supply: Supply
    writer: str  # the model that writes rules; empty: none
    observe: Callable[[Idea], Observe] | None = None

    @property
    def can_try(self) -> bool:
        return bool(self.writer or self.ask.agent)


def order(ask: ImproveRequest, *, key: str) -> Order:
    """The order to improve. Only one is open at a time."""
    return Order(KIND, key, encoded(ask), alone=KIND)


def improve(
    home: Home,
    steps: Steps,
    ask: ImproveRequest,
    *,
    supply: Supply | None = None,
    observe: Callable[[Idea], Observe] | None = None,
    progress: Progress = silent,
) -> Done:
    """Find what fails again and again, change what the agent is told, try it, and keep what is proved.

    A dry run is the same, and stops before it spends anything or writes an entry.
    """
    writer = steps.do("model", lambda: _writer(home, ask), str)
    no_key = missing_key(load(home), os.environ, writer) if ask.dry_run and writer and supply is None else ""
    course = Course(home, steps, ask, supply or (unasked if ask.dry_run else served), writer, observe)
    found = steps.do("ideas", lambda: _find(course, progress), FoundIdeas)
    outcomes = tuple(_carry(course, number, idea) for number, idea in enumerate(found.ideas, start=1))
    if not ask.retire:
        outcomes += steps.do("unheeded", lambda: _take_next_steps(course), tuple[IdeaOutcome, ...])
    stopped = NO_KEY.format(variable=no_key) if no_key else ""
    report = ImproveReport(
        found.sessions,
        found.lessons,
        outcomes,
        stopped if course.can_try else NO_MODEL,
        found.left,
        found.unspecific,
        found.waiting,
    )
    spent = together(each.spent for each in outcomes)
    return Done(sentence(report), (), spent, encoded(report))


def _carry(course: Course, number: int, idea: Idea) -> IdeaOutcome:
    """What becomes of an idea: it ends, waits for a person, or is tried; a dry run says which."""
    ready = _ready(course, number, idea)
    if course.ask.dry_run:
        return _foretell(course, ready)
    if ready.outcome is not None:
        return replace(ready.outcome, spent=ready.spent)
    if ready.trial is None:
        return replace(_leave_to_person(course, number, ready), spent=ready.spent)
    return _try(course, number, ready, ready.trial)


def _ready(course: Course, number: int, idea: Idea) -> ReadyTrial:
    if idea.refused:
        return ReadyTrial(idea, outcome=IdeaOutcome(idea, Became.REFUSED, idea.refused))
    if not course.can_try:
        return ReadyTrial(idea, asks="no model is set", foretold="no model is set to try it")
    if idea.way is Way.ROOM:
        return ReadyTrial(idea, asks="its evidence is the weakest", foretold="to leave")
    if course.ask.dry_run and idea.patch is None:
        return ReadyTrial(idea, foretold="a model would write a rule" if course.writer else "no model is set")
    return course.steps.do(f"prepare {number}", lambda: _make_ready(course, number, idea), ReadyTrial)


def _foretell(course: Course, ready: ReadyTrial) -> IdeaOutcome:
    """Where an idea would go, who would judge it, and what that would cost."""
    outcome = ready.outcome or IdeaOutcome(ready.idea, Became.PLANNED, ready.foretold)
    if ready.trial is not None:
        outcome = _costing(ready.idea, ready.trial)
    return foretold(course.home, outcome, _judge(course), agent=course.ask.agent, now=time.time())


def _judge(course: Course) -> str:
    return course.ask.model or load(course.home).model


def _waiting(course: Course, database: Database) -> tuple[IdeaOutcome, ...]:
    """What waits for a person; in a dry run also what a trial of each would cost, or why there can be none."""
    home, ask = course.home, course.ask
    waiting = [entry for entry in pending(home, database, now=time.time()) if entry.patch.form in TOLD]
    most = ask.most if ask.dry_run and course.can_try else 0
    found: list[IdeaOutcome] = []
    for place, entry in enumerate(waiting):
        idea = Idea(entry.patch.reason, Way.WAITS, entry.patch)  # `whet try` takes the cases that there are
        waits = IdeaOutcome(idea, Became.WAITS, entry=entry.number)
        if place < most:
            ready = _prepare(course, database, idea, id=f"{course.steps.id}-waits-{place}")
            tried = ready if isinstance(ready, IdeaOutcome) else _costing(idea, ready)
            waits = replace(tried, became=Became.WAITS, entry=entry.number)
        found.append(foretold(home, waits, _judge(course), agent=ask.agent, now=time.time()))
    return tuple(found)


def sentence(report: ImproveReport) -> str:
    """An improvement in a line."""
    counts = {became: sum(each.became is became for each in report.outcomes) for became in Became}
    told = ", ".join(f"{number} {became.value}" for became, number in counts.items() if number)
    return f"{report.lessons} lessons from {report.sessions} sessions; {told or 'nothing to try'}"


def _take_next_steps(course: Course) -> tuple[IdeaOutcome, ...]:
    """The next step for each rule that is told and not followed."""
    with opened(course.home) as database:
        if course.ask.dry_run:
            return tuple(IdeaOutcome(idea, Became.PLANNED) for idea in unheeded(course.home, database))
        return propose_steps(course.home, database)


def _find(course: Course, progress: Progress) -> FoundIdeas:
    """The ideas, and what waited before any of them."""
    home, ask = course.home, course.ask
    named = _judge(course)
    if ask.agent:  # what is proved on it is said of the model that it runs, where that has a name
        named = model = ask.model or settings_of(ask.agent, load(home)).model
    else:
        model = course.supply(home, load(home), named).model.name if course.writer else ""
    with opened(home) as database:
        found = find_ideas(home, database, ask, model=model, named=named, progress=progress)
        return found if ask.retire else replace(found, waiting=_waiting(course, database))


def _writer(home: Home, ask: ImproveRequest) -> str:
    """The model that writes rules, as the settings name it; that of another agent is not Whet's to ask."""
    return load(home).model if ask.agent else ask.model or load(home).model


def _leave_to_person(course: Course, number: int, ready: ReadyTrial) -> IdeaOutcome:
    """What cannot be retried waits as not tried, for a person to approve or to try live."""
    idea = ready.idea
    if idea.patch is None:
        return IdeaOutcome(idea, Became.REFUSED, idea.refused)
    note = f"not tried: {ready.asks}"

    def put(patch: Patch) -> IdeaOutcome:
        with opened(course.home) as database:
            try:
                entry = let_wait(course.home, database, patch, untried=ready.asks)
            except WhetError as error:
                return IdeaOutcome(idea, Became.REFUSED, error.message)
        live = f"; to try it live, `whet canary start --pending {entry.number}`" if patch.form is Form.RULE else ""
        ways = f"`whet pending approve {entry.number}`{live}"
        return IdeaOutcome(idea, Became.WAITS, f"{ways} ({note})", entry=entry.number)

    return course.steps.do(f"propose {number}", partial(put, idea.patch), IdeaOutcome)


def _try(course: Course, number: int, ready: ReadyTrial, planned: Trial) -> IdeaOutcome:
    observe = course.observe(ready.idea) if course.observe else None
    terms = replace(planned.terms, watched=course.ask.watched)
    try:
        done = trial(course.home, course.steps, replace(planned, terms=terms), observe=observe)
    except WhetError as error:
        spent = together((ready.spent, left_by(error).spent))
        return IdeaOutcome(ready.idea, Became.UNTRIED, f"{error.message} {error.advice}".strip(), spent=spent)
    progress = decoded(done.value, TrialProgress)
    outcome = course.steps.do(
        f"keep {number}", lambda: keep(course.home, ready.idea, progress, share=course.ask.share), IdeaOutcome
    )
    return replace(outcome, spent=together((ready.spent, done.spent)))


def _make_ready(course: Course, number: int, idea: Idea) -> ReadyTrial:
    """Everything for one trial: the words where a model has to write them, the cases, the plan."""
    with opened(course.home) as database:
        written, spent = (idea, Spent()) if course.ask.dry_run else _worded(course, database, idea)
        if written.patch is None:
            outcome: IdeaOutcome | Trial = IdeaOutcome(written, Became.REFUSED, written.refused)
        else:
            outcome = _prepare(course, database, written, id=f"{course.steps.id}-{number}")
    if isinstance(outcome, Trial):
        return ReadyTrial(written, outcome, spent=spent)
    # What cannot be tried and yet was seen is asked about; else it would stand before the others every night.
    if idea.way is Way.EVIDENCE and outcome.became is Became.UNTRIED:
        return ReadyTrial(written, asks=outcome.why, foretold=f"without a trial: {outcome.why}", spent=spent)
    return ReadyTrial(written, outcome=outcome, spent=spent)


def _worded(course: Course, database: Database, idea: Idea) -> tuple[Idea, Spent]:
    """The idea in words; a model writes them from evidence, or where nobody else has, and then it has to be there."""
    if (idea.patch is not None and idea.evidence is None) or not course.writer:
        return idea, Spent()
    chosen = course.supply(course.home, load(course.home), course.writer)
    return with_words(course.home, database, chosen, idea, interrupt=course.steps.interrupt)


def _prepare(course: Course, database: Database, idea: Idea, *, id: str) -> Trial | IdeaOutcome:
    home, ask = course.home, course.ask
    if idea.patch is None:
        return IdeaOutcome(idea, Became.UNTRIED, "there is nothing to try")
    cases = cases_for(home, database, ask, idea)
    if ask.agent:
        cases = tuple(case for case in cases if is_errand(case))
    if not any(not case.guard for case in cases):
        kind = f"task case, which {ask.agent} needs," if ask.agent else "case"
        made = " could be made from its sessions" if idea.sessions else " is there"
        ways = "`whet cases new` writes one, `whet cases from-commits` makes some of your commits, `--cases` names them"
        live = "; your own sessions can try it, once it waits: `whet canary start --pending ID`" if ask.agent else ""
        why = f"no {kind}{made}: {ways}{live}"
        return IdeaOutcome(idea, Became.UNTRIED, why)
    conditions = AttemptConditions(
        ask.model,
        load(home).sampling,
        TrialAgent(ask.agent, model=ask.model) if ask.agent else None,
        hidden=folders_of(home.folder, ask.cases),
    )
    wanted = WantedTrial(idea.patch, cases, ask.design, conditions)
    try:
        ready = prepare(home, database, wanted, id=id, now=time.time(), supply=course.supply)
        expect_worth_it(ready)
        return ready
    except TooFewCases as error:
        return IdeaOutcome(idea, Became.UNTRIED, error.message)
    except WhetError as error:
        return IdeaOutcome(idea, Became.REFUSED, error.message)


def _costing(idea: Idea, trial: Trial) -> IdeaOutcome:
    found = plan(trial)
    return IdeaOutcome(
        idea,
        Became.PLANNED,
        f"{len(trial.cases.tried)} cases, {trial.design.seeds} seed{'' if trial.design.seeds == 1 else 's'}",
        attempts_most=found.attempts_most,
        tokens_most=found.attempts_most * (trial.of_one.input + trial.of_one.output),
        dollars_most=found.cost_most if trial.of_one.dollars is not None else None,
        minimum_effect=found.minimum_effect,
    )
