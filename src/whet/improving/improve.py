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
from whet.executors.registry import settings_of
from whet.improving.ideas import FoundIdeas, cases_for, find_ideas, with_words
from whet.improving.keeping import keep, let_wait
from whet.improving.outlook import TOLD, foretold
from whet.improving.taught import Progress, silent
from whet.improving.unheeded import propose_steps, unheeded
from whet.ledger.patches import Form, Patch
from whet.proving.attempt import Supply, served, unasked
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
from whet.trials.design import Trial, TrialDesign, TrialProgress, plan
from whet.trials.drafts import Way
from whet.trials.ideas import Became, Idea, IdeaOutcome, ImproveReport, ImproveRequest
from whet.values import Value

KIND = "improve"
NO_MODEL = (
    "No model is set, so nothing is tried. To try it in your own sessions at no cost: `whet canary start --pending ID`."
    " Else set a model (`whet config set model PROVIDER:NAME`, `whet models`) and run this again, or try it on your"
    " agent: `whet improve --agent claude`."
)
NO_KEY = (
    "{variable} is not set, so this is the plan alone and nothing can be tried yet. Run `export {variable}=…`, or try"
    " changes on your agent: `whet improve --agent claude`."
)
LATER = {Way.ROOM: "to leave"}


class ReadyTrial(Value, frozen=True):
    """A trial that can begin, or why there is none."""

    idea: Idea
    trial: Trial | None = None
    outcome: IdeaOutcome | None = None
    spent: Spent = Spent()


class Course(NamedTuple):
    """One improvement while it is carried out."""

    home: Home
    steps: Steps
    ask: ImproveRequest
    supply: Supply
    observe: Callable[[Idea], Observe] | None = None


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
) -> Done:
    """Find what fails again and again, change what the agent is told, try it, and keep what is proved."""
    course = Course(home, steps, ask, supply or served, observe)
    has_model = bool(steps.do("model", lambda: _writer(home, ask), str))
    found = steps.do("ideas", lambda: _find(course, has_model), FoundIdeas)
    can_try = has_model or bool(ask.agent)
    carry = partial(_try, course) if can_try else partial(_leave_to_person, course)
    outcomes = tuple(carry(number, idea) for number, idea in enumerate(found.ideas, start=1))
    outcomes = (*outcomes, *steps.do("unheeded", lambda: _take_next_steps(course), tuple[IdeaOutcome, ...]))
    report = ImproveReport(
        found.sessions,
        found.lessons,
        outcomes,
        "" if can_try else NO_MODEL,
        found.left,
        found.unspecific,
        found.waiting,
    )
    spent = together(each.spent for each in outcomes)
    return Done(sentence(report), (), spent, encoded(report))


def planned(
    home: Home,
    database: Database,
    ask: ImproveRequest,
    *,
    id: str,
    supply: Supply | None = None,
    progress: Progress = silent,
) -> ImproveReport:
    """What an improvement would do and cost, without doing it."""
    writer = _writer(home, ask)
    has_model = bool(writer)
    can_try = has_model or bool(ask.agent)
    no_key = missing_key(load(home), os.environ, writer) if has_model and supply is None else ""
    supply = supply or unasked
    found = _ideas(home, database, ask, supply if has_model else None, progress=progress)
    outcomes = []
    for number, idea in enumerate(found.ideas, start=1):
        if idea.refused or idea.patch is None or idea.way is Way.ROOM or not can_try:
            later = LATER.get(idea.way, "a model would write a rule" if has_model else "no model is set")
            why = idea.refused or (later if can_try else "no model is set to try it")
            outcomes.append(IdeaOutcome(idea, Became.REFUSED if idea.refused else Became.PLANNED, why))
            continue
        ready = _prepare(home, database, ask, idea, id=f"{id}-{number}", supply=supply)
        outcomes.append(_asking(ready) if isinstance(ready, IdeaOutcome) else _costing(idea, ready))
    judge = ask.model or load(home).model
    outcomes = [foretold(home, each, judge, agent=ask.agent, now=time.time()) for each in outcomes]
    if not ask.retire:
        outcomes += [IdeaOutcome(idea, Became.PLANNED) for idea in unheeded(home, database)]
    stopped = (NO_KEY.format(variable=no_key) if no_key else "") if can_try else NO_MODEL
    waiting = () if ask.retire else _waiting(home, database, ask, can_try=can_try, id=id, supply=supply)
    return ImproveReport(found.sessions, found.lessons, tuple(outcomes), stopped, found.left, found.unspecific, waiting)


def _asking(outcome: IdeaOutcome) -> IdeaOutcome:
    """What cannot be tried and yet was seen: a person would be asked."""
    is_asked = outcome.idea.way is Way.EVIDENCE and outcome.became is Became.UNTRIED
    return replace(outcome, became=Became.PLANNED, why=f"without a trial: {outcome.why}") if is_asked else outcome


def _waiting(
    home: Home, database: Database, ask: ImproveRequest, *, can_try: bool, id: str, supply: Supply | None
) -> tuple[IdeaOutcome, ...]:
    """What waits for a person, and what a trial of each would cost or why there can be none; no trial for the rest."""
    waiting = [entry for entry in pending(home, database, now=time.time()) if entry.patch.form in TOLD]
    found: list[IdeaOutcome] = []
    for place, entry in enumerate(waiting):
        idea = Idea(entry.patch.reason, Way.WAITS, entry.patch)  # `whet try` takes the cases that there are
        waits = IdeaOutcome(idea, Became.WAITS, entry=entry.number)
        if can_try and place < ask.most:
            ready = _prepare(home, database, ask, idea, id=f"{id}-waits-{place}", supply=supply)
            tried = ready if isinstance(ready, IdeaOutcome) else _costing(idea, ready)
            waits = replace(tried, became=Became.WAITS, entry=entry.number)
        found.append(foretold(home, waits, ask.model or load(home).model, agent=ask.agent, now=time.time()))
    return tuple(found)


def sentence(report: ImproveReport) -> str:
    """An improvement in a line."""
    counts = {became: sum(each.became is became for each in report.outcomes) for became in Became}
    told = ", ".join(f"{number} {became.value}" for became, number in counts.items() if number)
    return f"{report.lessons} lessons from {report.sessions} sessions; {told or 'nothing to try'}"


def _take_next_steps(course: Course) -> tuple[IdeaOutcome, ...]:
    """The next step for each rule that is told and not followed."""
    if course.ask.retire:
        return ()
    with opened(course.home) as database:
        return tuple(propose_steps(course.home, database))


def _find(course: Course, has_model: bool) -> FoundIdeas:
    with opened(course.home) as database:
        found = _ideas(course.home, database, course.ask, course.supply if has_model else None)
        if course.ask.retire:
            return found
        return replace(found, waiting=_waiting(course.home, database, course.ask, can_try=False, id="", supply=None))


def _writer(home: Home, ask: ImproveRequest) -> str:
    """The model that writes rules, as the settings name it; that of another agent is not Whet's to ask."""
    return load(home).model if ask.agent else ask.model or load(home).model


def _ideas(
    home: Home, database: Database, ask: ImproveRequest, supply: Supply | None, *, progress: Progress = silent
) -> FoundIdeas:
    named = ask.model or load(home).model
    if ask.agent:  # what is proved on it is said of the model that it runs, where that has a name
        named = model = ask.model or settings_of(ask.agent, load(home)).model
    else:
        model = supply(home, load(home), named).model.name if supply else ""
    return find_ideas(home, database, ask, model=model, named=named, progress=progress)


def _leave_to_person(course: Course, number: int, idea: Idea, *, why: str = "no model is set") -> IdeaOutcome:
    """What cannot be retried waits as not tried, for a person to approve or to try live."""
    if idea.refused or idea.patch is None:
        return IdeaOutcome(idea, Became.REFUSED, idea.refused)
    note = f"not tried: {why}"

    def put(patch: Patch) -> IdeaOutcome:
        with opened(course.home) as database:
            try:
                entry = let_wait(course.home, database, patch, note)
            except WhetError as error:
                return IdeaOutcome(idea, Became.REFUSED, error.message)
        live = f"; to try it live, `whet canary start --pending {entry.number}`" if patch.form is Form.RULE else ""
        ways = f"`whet pending approve {entry.number}`{live}"
        return IdeaOutcome(idea, Became.WAITS, f"{ways} ({note})", entry=entry.number)

    return course.steps.do(f"propose {number}", partial(put, idea.patch), IdeaOutcome)


def _try(course: Course, number: int, idea: Idea) -> IdeaOutcome:
    if idea.refused:
        return IdeaOutcome(idea, Became.REFUSED, idea.refused)
    if idea.way is Way.ROOM:
        return _leave_to_person(course, number, idea, why="its evidence is the weakest")
    ready = course.steps.do(f"prepare {number}", lambda: _make_ready(course, number, idea), ReadyTrial)
    if ready.trial is None:
        outcome = replace(ready.outcome or IdeaOutcome(idea, Became.UNTRIED), spent=ready.spent)
        # What cannot be tried and yet was seen is asked about; else it would stand before the others every night.
        asks = idea.way is Way.EVIDENCE and outcome.became is Became.UNTRIED
        if not asks:
            return outcome
        return replace(_leave_to_person(course, number, ready.idea, why=outcome.why), spent=ready.spent)
    observe = course.observe(ready.idea) if course.observe else None
    try:
        terms = replace(ready.trial.terms, watched=course.ask.watched)
        done = trial(course.home, course.steps, replace(ready.trial, terms=terms), observe=observe)
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
    home = course.home
    with opened(home) as database:
        written, spent = _worded(course, database, idea)
        if written.patch is None:
            outcome: IdeaOutcome | Trial = IdeaOutcome(written, Became.REFUSED, written.refused)
        else:
            id = f"{course.steps.id}-{number}"
            outcome = _prepare(home, database, course.ask, written, id=id, supply=course.supply)
    if isinstance(outcome, IdeaOutcome):
        return ReadyTrial(written, outcome=outcome, spent=spent)
    return ReadyTrial(written, outcome, spent=spent)


def _worded(course: Course, database: Database, idea: Idea) -> tuple[Idea, Spent]:
    """The idea in words; a model writes them from evidence, or where nobody else has, and then it has to be there."""
    home, ask = course.home, course.ask
    writer = _writer(home, ask)
    if (idea.patch is not None and idea.evidence is None) or not writer:
        return idea, Spent()
    chosen = course.supply(home, load(home), writer)
    return with_words(home, database, chosen, idea, interrupt=course.steps.interrupt)


def _prepare(
    home: Home, database: Database, ask: ImproveRequest, idea: Idea, *, id: str, supply: Supply | None
) -> Trial | IdeaOutcome:
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
    design = TrialDesign(ask.seeds, ask.alpha, ask.placebo, ask.allowance)
    wanted = WantedTrial(idea.patch, cases, design, conditions)
    try:
        ready = prepare(home, database, wanted, id=id, now=time.time(), supply=supply)
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
