"""Trials before they begin: everything fixed, and what they can find and will cost."""

from itertools import count
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.assembling import Wish
from whet.agent.protocols import Chosen
from whet.engine.orders import Order
from whet.engine.steps import encoded
from whet.errors import WhetError
from whet.evidence.error_budget import Past, alpha_for
from whet.evidence.verdicts import ALPHA, Ruling
from whet.examples import templates
from whet.examples.warm_start import warm_start
from whet.ledger.entries import Step
from whet.ledger.patches import Form, Patch
from whet.proving.agent_plan import prepare_agent
from whet.proving.attempt import AttemptRequest, Supply, begin, served
from whet.proving.overlay import overlaid
from whet.proving.screening import screened
from whet.runs.models import cost
from whet.runs.run import Sampling, Spent
from whet.runs.settings import Settings
from whet.sessions.transcripts import Usage
from whet.shipped.guidance.placebo import filler
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.settings_file import load
from whet.store.trials import keep_material, key_of
from whet.text import tokens
from whet.trials.attempts import Arm, TrialAgent
from whet.trials.cases import Case, is_errand
from whet.trials.design import Allowance, Price, Trial, TrialProgress, cache_price, design, is_affordable
from whet.trials.placebos import placebo_of

KIND = "trial"
STEPS = {Ruling.ACCEPT: Step.ACCEPTED, Ruling.REJECT: Step.REJECTED, Ruling.UNDECIDED: Step.UNDECIDED}
RULINGS = {step: ruling for ruling, step in STEPS.items()}
ID_LETTERS = 12
USUAL_CALLS = 3  # of the model in an attempt
USUAL_OUTPUT = 200  # tokens of one answer


class WantedTrial(NamedTuple):
    """What is to be tried, on what, and for how much."""

    patch: Patch
    cases: tuple[Case, ...]
    seeds: int = 1
    alpha: float = ALPHA
    allowance: Allowance = Allowance()
    placebo: bool | None = None  # None: where it fits the allowance
    model: str = ""
    sampling: Sampling | None = None
    hidden: tuple[str, ...] = ()
    fresh: bool = False
    about: int = 0  # the entry that waits for a decision on it
    agent: str = ""  # another agent that carries the attempts out


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
    if wanted.agent:  # a standing case that it cannot be asked to do is no reason to try nothing
        able = tuple(case for case in wanted.cases if not case.guard or is_errand(case))
        wanted = wanted._replace(cases=able)
    settings = load(home)
    sampling = wanted.sampling or settings.sampling
    _expect_named(wanted.cases)
    asked = TrialAgent(wanted.agent, model=wanted.model) if wanted.agent else None
    found = screened(database, wanted.cases, base_request(wanted.model or settings.model, sampling, asked))
    wanted = wanted._replace(cases=found.cases)
    targets = _targets(wanted)
    agent = None
    placebo = placebo_of(wanted.patch, filler()) if wanted.placebo is not False else None
    if asked is not None:
        agent, price, of_one = prepare_agent(home, database, asked, wanted.patch, (*targets, *wanted.cases), now=now)
        model = agent.model
    else:
        model = wanted.model or settings.model
        chosen = (supply or served)(home, settings, model)
        price, of_one = _priced(_Surroundings(home, database, settings, chosen), wanted.patch, targets[0], now=now)
    trial = replace(
        design(
            (case.name for case in targets),
            (case.name for case in wanted.cases if case.guard),
            seeds=wanted.seeds,
            placebo=placebo is not None,
            alpha=alpha_for(past_trials(home, database), most=wanted.alpha),
            allowance=wanted.allowance,
        ),
        id=id,
        form=wanted.patch.form,
        name=wanted.patch.name,
        materials={case.name: keep_material(database, case, now=now) for case in wanted.cases},
        model=model,
        sampling=sampling,
        hidden=wanted.hidden,
        price=price,
        of_one=of_one,
        fresh=wanted.fresh,
        about=wanted.about,
        agent=agent,
        screened=found.left_out,
    )
    if placebo is not None and not wanted.placebo and not is_affordable(trial):
        trial, placebo = replace(trial, arms=(Arm.BASE, Arm.CANDIDATE)), None
    trial = replace(trial, patches=_keep_patches(database, wanted.patch, placebo, now=now))
    return trial if id else replace(trial, id=_identity(home, database, trial))


def _keep_patches(database: Database, patch: Patch, placebo: Patch | None, *, now: float) -> dict[Arm, str]:
    patches = {Arm.CANDIDATE: patch, **({Arm.PLACEBO: placebo} if placebo else {})}
    return {arm: keep_material(database, each, now=now) for arm, each in patches.items()}


def _identity(home: Home, database: Database, trial: Trial) -> str:
    """An id by content, with a number: a trial that was judged and is asked for again is another one."""
    name = f"{KIND}-{_content(trial)[:ID_LETTERS]}"
    judged = {progress.trial for _, progress in _judged(home, database)}
    return next(id for number in count(1) if (id := f"{name}-{number}") not in judged)


def _content(trial: Trial) -> str:
    return key_of(replace(trial, id="", of_one=Spent()))


def base_request(model: str, sampling: Sampling, agent: TrialAgent | None = None) -> AttemptRequest:
    """What an attempt of the base arm is, whatever its case: screenings are remembered by it."""
    return AttemptRequest("", "", Arm.BASE, 0, model=model, sampling=sampling, agent=agent)


def _expect_named(cases: tuple[Case, ...]) -> None:
    names = [case.name for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WhetError(f"Several cases have the name {twice[0]}.", advice="Rename one, or choose fewer folders.")


def _targets(wanted: WantedTrial) -> list[Case]:
    found = [case for case in wanted.cases if not case.guard]
    if not found:
        raise WhetError("No case to test it on.", advice="Give --cases, or create one with `whet cases new NAME`.")
    return found


class _Surroundings(NamedTuple):
    home: Home
    database: Database
    settings: Settings
    chosen: Chosen


def _priced(around: _Surroundings, patch: Patch, case: Case, *, now: float) -> tuple[Price, Spent]:
    """What the change costs a session in tokens, and about what an attempt costs; proves that it can be applied."""
    home, database, settings, chosen = around
    prompts: list[str] = []
    shown = 0
    for each in (None, patch):
        with overlaid(home, database, case, each, now=now, set_up=False) as overlay:
            run, means, *_ = begin(overlay, case, each, Wish(settings, hidden=(home.folder,), chosen=chosen))
            means.toolbox.close()
            prompts.append(run.system)
            shown = sum(tokens.estimate(tool.description + tool.parameters) for tool in run.shown)
    inserted: tuple[str, ...] = ()
    if patch.form is Form.TEMPLATE:
        messages = warm_start(templates.read(patch.text, name=patch.name), (), words())
        inserted = tuple(msgspec.json.encode(message.parts).decode() for message in messages)
    price = cache_price(*prompts, inserted=inserted)
    calls = min(USUAL_CALLS, case.budget.model_calls)
    asked = tokens.estimate(prompts[1]) + shown + sum(tokens.estimate(text) for text in inserted)
    usage = Usage(input=asked * calls, output=USUAL_OUTPUT * calls)
    return price, Spent(calls, usage.input, usage.output, dollars=cost(usage, chosen.model.prices))


def past_trials(home: Home, database: Database) -> tuple[Past, ...]:
    """All trials before, in the order of their verdicts: they say how much error the next one may risk."""
    return tuple(_past(ruling, progress) for ruling, progress in _judged(home, database))


def _judged(home: Home, database: Database) -> list[tuple[Ruling, TrialProgress]]:
    return [
        (RULINGS[entry.step], msgspec.json.decode(entry.verdict, type=TrialProgress))
        for entry in ledger_of(home, database).entries()
        if entry.step in RULINGS and entry.verdict
    ]


def _past(ruling: Ruling, progress: TrialProgress) -> Past:
    accepted = ruling is Ruling.ACCEPT
    return Past(accepted, progress.result.verdict.evidence_help if accepted else 0.0, progress.parts)
