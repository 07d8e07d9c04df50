"""Trials before they begin: everything fixed, and what they can find and will cost."""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.assembling import RunPlace, RunRequest
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import Supply
from whet.errors import WhetError
from whet.evidence.error_budget import alpha_for
from whet.ledger.patches import Form, Patch
from whet.own.examples import templates
from whet.own.examples.warm_start import warm_start
from whet.own.runs.models import cost
from whet.own.runs.run import Spent
from whet.own.runs.settings import Settings
from whet.proving.agent_attempt import AttemptScene, dollars_for, expect_possible
from whet.proving.attempt import attempted, begin, is_interactive, served
from whet.proving.executors import (
    Instructed,
    expect_tellable,
    instruct,
    machine_key,
    program_of,
    runner_named,
    settings_of,
    version_of,
)
from whet.proving.trial import guards_from_past, judged_trials, known_evidence, past_trials
from whet.proving.world import TrialWorld, overlaid, world_of
from whet.sessions.transcripts import Usage
from whet.shipped.guidance import filler
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import identity_of, opened
from whet.store.records import has_stored, keep_material, keep_progress, key_of, progress_of, usual_use
from whet.store.settings_file import load
from whet.text.words import estimate
from whet.trials.attempts import Arm, Attempt, AttemptConditions, OrderTerms, TrialAgent
from whet.trials.cases import Case, is_errand
from whet.trials.design import (
    PastEvidence,
    Price,
    TooFewCases,
    Trial,
    TrialDesign,
    TriedChange,
    cache_price,
    cases_in_order,
    expect_provable,
    is_affordable,
)
from whet.trials.placebos import placebo_of
from whet.values import Value
from whet.work.orders import Order, encoded

KIND = "trial"
ID_LETTERS = 12
USUAL_CALLS = 3  # of the model in an attempt
USUAL_OUTPUT = 200  # tokens of one answer
USUAL_OF_AGENT = Usage(input=100_000, output=2_000, cached=80_000)  # of one attempt, where no earlier one says better


class WantedTrial(NamedTuple):
    """What is to be tried, on what, how, and by whom. Whose model is not named gets the one of the settings."""

    patch: Patch
    cases: tuple[Case, ...]
    design: TrialDesign = TrialDesign()
    conditions: AttemptConditions = AttemptConditions()
    fresh: bool = False  # begin again: nothing is reused that another trial paid for or found
    about: int = 0  # the entry that waits for a decision on it


class _Applying(NamedTuple):
    """The cases in which the change is told, what it costs a session, and about what one attempt costs."""

    cases: list[Case]
    price: Price
    of_one: Spent


class _Ground(NamedTuple):
    """What a trial stands on, once it is known who makes its attempts."""

    conditions: AttemptConditions
    world: TrialWorld
    change: str
    before: PastEvidence
    applying: _Applying


def order(trial: Trial) -> Order:
    """The order of a trial. While it is open, the same trial asked for again is this one."""
    return Order(KIND, trial.id, encoded(trial), alone=f"trial {_content(trial)}")


def prepare(
    home: Home, database: Database, wanted: WantedTrial, *, id: str = "", now: float, supply: Supply | None = None
) -> Trial:
    """Fix everything before the first outcome. Raises WhetError for a patch that could not be applied at all.

    Without an id it gets one by its content: a trial that came to no verdict, asked for again, is the same trial, and
    what its attempts cost is not paid again.
    """
    _expect_named(wanted.cases)
    found = ScreenedCases(wanted.cases)  # that a case always passes says much of what is left out
    if not wanted.design.margin:
        model = wanted.conditions.model or load(home).model
        found = screened(database, wanted.cases, replace(wanted.conditions, model=model))
    guards = guards_from_past(home, database, found.cases, most=MOST_GUARDS)
    wanted = wanted._replace(cases=_able((*found.cases, *guards), wanted.conditions.agent))
    targets = _targets(wanted.cases)
    own = _independent(targets, wanted.patch)
    ground = _ground(home, database, wanted, own, now=now, supply=supply)
    applying, before = ground.applying, ground.before
    placebo = placebo_of(wanted.patch, filler()) if wanted.design.placebo is not False else None
    past = past_trials(home, database, wanted.patch.scope.project)
    alpha = before.alpha or alpha_for(past, most=wanted.design.alpha)
    world = replace(ground.world, machine=machine_key(home, load(home), ground.conditions))
    trial = Trial(
        id,
        replace(
            cases_in_order((case.name for case in applying.cases), (case.name for case in wanted.cases if case.guard)),
            materials={case.name: keep_material(database, case, now=now) for case in wanted.cases},
            contents={case.name: case.key for case in applying.cases},
            screened=found.left_out,
            left_out=len(targets) - len(own),
        ),
        replace(wanted.design, alpha=alpha, placebo=placebo is not None),
        TriedChange(ground.change, wanted.patch.form, wanted.patch.name, price=applying.price, about=wanted.about),
        replace(ground.conditions, world=keep_material(database, world, now=now)),
        OrderTerms(identity_of(home), fresh=wanted.fresh),
        before,
        applying.of_one,
    )
    if placebo is not None and not wanted.design.placebo and not is_affordable(trial):
        trial, placebo = replace(trial, design=replace(trial.design, placebo=False)), None
    patches = _keep_patches(database, wanted.patch, placebo, now=now)
    trial = replace(trial, change=replace(trial.change, patches=patches))
    return trial if id else replace(trial, id=_identity(home, database, trial))


def _ground(
    home: Home,
    database: Database,
    wanted: WantedTrial,
    own: Sequence[Case],
    *,
    now: float,
    supply: Supply | None,
) -> _Ground:
    """Prove that the change reaches whoever makes the attempts, and find what is known of it there."""
    settings, patch = load(home), wanted.patch
    conditions = replace(wanted.conditions, interactive=is_interactive(patch))
    asked, targets = conditions.agent, _targets(wanted.cases)
    scene = AttemptScene(home, database, settings, world_of(home, database, settings))

    def known(change: str) -> PastEvidence:
        return PastEvidence() if wanted.fresh else known_evidence(home, database, change)

    if asked is not None:
        cases = (*targets, *wanted.cases)
        agent, price = _prepare_agent(scene, asked, patch, cases, now=now)
        before = known(change := _change(wanted, agent, targets))
        conditions = replace(conditions, agent=agent, model=agent.model)
        seconds = max(case.budget.seconds for case in cases)
        of_one = _of_one_by(database, agent, settings, seconds=seconds)
        return _Ground(conditions, scene.world, change, before, _Applying(_new_of(own, before), price, of_one))
    conditions = replace(conditions, model=conditions.model or settings.model)
    chosen = (supply or served)(home, settings, conditions.model)
    before = known(change := _change(wanted, conditions.model, targets))
    applying = _where_told(scene, chosen, patch, _new_of(own, before), now=now)
    return _Ground(conditions, scene.world, change, before, applying)


def expect_worth_it(trial: Trial) -> None:
    """Raise TooFewCases for a trial that could prove nothing, before anything is spent on it."""
    design = trial.design
    expect_provable(
        trial.before, len(trial.cases.tried), alpha=design.alpha, placebo=bool(design.placebo), margin=design.margin
    )


def _able(cases: Sequence[Case], agent: TrialAgent | None) -> tuple[Case, ...]:
    """The cases without standing ones that another agent cannot be asked to do: they are no reason to try nothing."""
    return tuple(case for case in cases if agent is None or not case.guard or is_errand(case))


def _change(wanted: WantedTrial, who: str | TrialAgent, targets: Sequence[Case]) -> str:
    """What makes two trials trials of the same change: its words, the model or agent, and the kinds of cases."""
    kinds, patch = sorted({case.kind for case in targets}), wanted.patch
    asked = (wanted.design.margin,) if wanted.design.margin else ()
    return key_of(patch.form, patch.action, patch.text or patch.name, who, kinds, *asked)


def _independent(targets: Sequence[Case], patch: Patch) -> list[Case]:
    """The cases that were not made from sessions that the change was written from."""
    written_from = {proof.session for proof in patch.proofs}
    found = [case for case in targets if case.source not in written_from or not case.source]
    if not found:
        raise TooFewCases(
            "All its cases come from the sessions that it was written from: they cannot judge it.",
            advice="Wait for later sessions, or write a case with `whet cases add --new NAME`.",
        )
    return found


def _new_of(cases: Sequence[Case], before: PastEvidence) -> list[Case]:
    """The cases that this change was not tried on yet."""
    new = [case for case in cases if case.key not in before.tried]
    if not new:
        raise WhetError(
            f"This was tried on all these cases: it helped in {before.helped} of {before.cases} and harmed in"
            f" {before.harmed}; too few to be sure.",
            advice="Add cases: the trial goes on with what is known. To begin again instead: --fresh.",
        )
    return new


def _keep_patches(database: Database, patch: Patch, placebo: Patch | None, *, now: float) -> dict[Arm, str]:
    patches = {Arm.CANDIDATE: patch, **({Arm.PLACEBO: placebo} if placebo else {})}
    return {arm: keep_material(database, each, now=now) for arm, each in patches.items()}


def _identity(home: Home, database: Database, trial: Trial) -> str:
    """An id by content, with a number: a trial that was judged and is asked for again is another one."""
    name = f"{KIND}-{_content(trial)[:ID_LETTERS]}"
    judged = {progress.trial for _, progress in judged_trials(home, database)}
    return next(id for number in count(1) if (id := f"{name}-{number}") not in judged)


def _content(trial: Trial) -> str:
    """What makes it the same trial; attempts know by themselves what they were told."""
    terms, conditions = replace(trial.terms, watched=False), replace(trial.conditions, world="")
    return key_of(replace(trial, id="", of_one=Spent(), terms=terms, conditions=conditions))


def _expect_named(cases: tuple[Case, ...]) -> None:
    names = [case.name for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WhetError(f"Several cases have the name {twice[0]}.", advice="Rename one, or choose fewer folders.")


def _targets(cases: Sequence[Case]) -> list[Case]:
    found = [case for case in cases if not case.guard]
    if not found:
        raise WhetError(
            "No case to test it on.", advice="Give --cases, or create one with `whet cases add --new NAME`."
        )
    return found


def _where_told(scene: AttemptScene, chosen: Chosen, patch: Patch, cases: Sequence[Case], *, now: float) -> _Applying:
    """Leave out the cases in which the model would not even read the rule; proves that the change can be applied."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(case.tools if patch.form is Form.RULE else (), []).append(case)
    shown_to = ((found, _shown(scene, chosen, patch, found[0], now=now)) for found in groups.values())
    told = [(found, shown) for found, shown in shown_to if shown.is_told]
    if not told:
        raise WhetError(
            "No request of these cases would hold the rule, so they cannot test it.",
            advice="Its scope names other models, tools or purposes than the cases have: change it, or give --cases.",
        )
    applying = [case for found, _ in told for case in found]
    shown = told[0][1]
    conversations = sum(_length(case) for case in applying) // len(applying)
    calls = min(USUAL_CALLS, applying[0].budget.model_calls)
    usage = Usage(input=(shown.asked + conversations) * calls, output=USUAL_OUTPUT * calls)
    of_one = Spent(calls, usage.input, usage.output, dollars=cost(usage, chosen.model.prices))
    return _Applying(applying, shown.price, of_one)


class _Shown(NamedTuple):
    price: Price
    asked: int  # tokens of a request before its conversation
    is_told: bool


def _shown(scene: AttemptScene, chosen: Chosen, patch: Patch, case: Case, *, now: float) -> _Shown:
    home, _, settings, world = scene
    prompts: list[str] = []
    tools = 0
    request = RunRequest(settings, RunPlace(hidden=(home.folder,)), chosen=chosen, interactive=is_interactive(patch))
    for each in (None, patch):
        with overlaid(home, case, world, each, now=now, set_up=False) as overlay:
            run, means, *_ = begin(overlay, case, each, request)
            means.toolbox.close()
            prompts.append(run.system)
            tools = sum(estimate(tool.description + tool.parameters) for tool in run.shown)
    inserted: tuple[str, ...] = ()
    if patch.form is Form.TEMPLATE:
        messages = warm_start(templates.read(patch.text, name=patch.name), (), words())
        inserted = tuple(msgspec.json.encode(message.parts).decode() for message in messages)
    asked = estimate(prompts[1]) + tools + sum(estimate(text) for text in inserted)
    is_told = patch.form is not Form.RULE or prompts[0] != prompts[1]
    return _Shown(cache_price(*prompts, inserted=inserted), asked, is_told)


def _length(case: Case) -> int:
    """The tokens of what a case itself puts into a request: its conversation, or its task and files."""
    said = [msgspec.json.encode(message.parts).decode() for message in case.conversation]
    return sum(estimate(text) for text in said or [case.task, *case.files.values()])


def _prepare_agent(
    scene: AttemptScene, agent: TrialAgent, patch: Patch, cases: Sequence[Case], *, now: float
) -> tuple[TrialAgent, Price]:
    """The agent in its version, and what the change adds to its sessions.

    Raises WhetError where the change does not reach it, or where a case cannot be asked.
    """
    home, _, settings, world = scene
    runner = runner_named(agent.name, settings)
    program = program_of(runner, path=os.environ.get("PATH"))
    for case in cases:
        expect_possible(runner, case)
        if case.check.rubric and not settings.model:
            raise WhetError(
                f"The case {case.name} is judged by a model, and none is set.",
                advice="Set one by `whet config model …`, or choose cases with another check.",
            )
    expect_tellable(runner, patch)
    told: list[Instructed] = []
    for each in (None, patch):
        with overlaid(home, cases[0], world, each, now=now) as overlay:
            told.append(instruct(overlay, runner, each))
    if told[0].key == told[1].key:
        raise WhetError(
            f"The change adds nothing to what {runner.name} is told, so there is nothing to try.",
            advice="Look at its scope, and at the rules that are in force already: `whet rules`.",
        )
    model = agent.model or settings_of(agent.name, settings).model
    version = version_of(runner, program, os.environ)
    return TrialAgent(agent.name, version, model), cache_price(told[0].text, told[1].text)


def _of_one_by(database: Database, agent: TrialAgent, settings: Settings, *, seconds: float) -> Spent:
    """About what an attempt costs: as much as the agent's earlier ones on average, and at most so long."""
    used = usual_use(database, agent.name) or USUAL_OF_AGENT
    return Spent(0, used.input, used.output, used.cached, seconds, dollars_for(used, agent.model, settings))


FIRST_SEED = 1_000_001  # far from those of trials: the same seed would only repeat the attempt that a trial counts
MOST_GUARDS = 5


class Screening(Value, frozen=True):
    """How often a case passed without any change, with one model, in attempts that no trial counts."""

    case: str  # its key
    passed: int
    attempts: int

    @property
    def always_passes(self) -> bool:
        return self.attempts > 0 and self.passed == self.attempts


class ScreenedCases(NamedTuple):
    """The cases of a trial: those that can show something, some that guard against harm, and the names of the rest."""

    cases: tuple[Case, ...]
    left_out: tuple[str, ...] = ()


def screen(
    home: Home, cases: Iterable[Case], conditions: AttemptConditions, *, times: int, supply: Supply | None = None
) -> Iterator[tuple[Case, list[Attempt]]]:
    """Attempt each case some times under these conditions, and remember how often it passed."""
    seeds = range(FIRST_SEED, FIRST_SEED + times)
    for case, made in attempted(home, cases, conditions, seeds, fresh=True, supply=supply):
        counted = [each for each in made if not each.invalid]
        found = Screening(case.key, sum(each.measures.passed for each in counted), len(counted))
        if counted:
            with opened(home) as database, database.writing():
                keep_material(database, found, now=time.time())
                keep_progress(database, _place(case, conditions), found, now=time.time())
        yield case, made


def screened(database: Database, cases: tuple[Case, ...], conditions: AttemptConditions) -> ScreenedCases:
    """The cases without those that passed every screening attempt: of these a few become standing cases.

    A case that always passes cannot show that a change helps; it can show that one harms.
    """
    passing = [case for case in cases if not case.guard and _always_passes(database, case, conditions)]
    if not passing:
        return ScreenedCases(cases)
    names = {case.name for case in passing}
    if not any(not case.guard and case.name not in names for case in cases):
        raise WhetError(
            "Every case passes without the change, so none can show that it helps.",
            advice="Give harder cases: `whet cases add`.",
        )
    guards = {case.name for case in sorted(passing, key=_order)[:MOST_GUARDS]}
    kept = (replace(case, guard=True) if case.name in guards else case for case in cases)
    return ScreenedCases(
        tuple(case for case in kept if case.name not in names - guards), tuple(case.name for case in passing)
    )


def _always_passes(database: Database, case: Case, conditions: AttemptConditions) -> bool:
    found = progress_of(database, _place(case, conditions), Screening)
    return found is not None and found.case == case.key and found.always_passes and has_stored(database, found)


def _place(case: Case, conditions: AttemptConditions) -> str:
    """Under what a screening is remembered: the case, and who attempts it."""
    return f"screening-{key_of(case.key, conditions.model, conditions.sampling, conditions.agent)}"


def _order(case: Case) -> str:
    """An order that nobody chose."""
    return hashlib.blake2b(case.key.encode(), digest_size=8).hexdigest()
