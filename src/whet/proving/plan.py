"""Trials before they begin: everything fixed, and what they can find and will cost."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.protocols import Chosen
from whet.engine.orders import Order
from whet.engine.steps import encoded
from whet.errors import WhetError
from whet.evidence import power
from whet.evidence.error_budget import BudgetParts, Past, alpha_for
from whet.evidence.verdicts import ALPHA, Ruling
from whet.examples import templates
from whet.examples.warm_start import warm_start
from whet.ledger.entries import Step
from whet.ledger.patches import Form, Patch
from whet.proving.attempt import Supply, beginning, served
from whet.proving.overlay import overlaid
from whet.runs.models import cost
from whet.runs.run import Sampling, Spent
from whet.runs.settings import Settings
from whet.sessions.transcripts import Usage
from whet.shipped.guidance.placebo import filler
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.settings_file import load
from whet.store.trials import keep_material, key_of
from whet.text import tokens
from whet.trials.attempts import Arm
from whet.trials.cases import Case
from whet.trials.design import Allowance, Design, Price, TrialResult, cache_price, design, is_affordable
from whet.trials.placebos import placebo_of
from whet.values import Value

KIND = "trial"
STEPS = {Ruling.ACCEPT: Step.ACCEPTED, Ruling.REJECT: Step.REJECTED, Ruling.UNDECIDED: Step.UNDECIDED}
RULINGS = {step: ruling for ruling, step in STEPS.items()}
ID_LETTERS = 12
USUAL_PASS_RATE = 0.5
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


class Trial(Value, frozen=True):
    """A trial as its order holds it: what was fixed, and the keys of what it is made of."""

    id: str
    design: Design
    cases: Mapping[str, str]
    patches: Mapping[str, str]  # by arm
    form: Form
    name: str
    model: str
    sampling: Sampling = Sampling()
    hidden: tuple[str, ...] = ()
    price: Price = Price()
    fresh: bool = False
    about: int = 0


class PreparedTrial(NamedTuple):
    """A trial that can begin, with what it can find and about what it will cost."""

    trial: Trial
    patch: Patch
    plan: power.TrialPlan
    of_one: Spent  # about what one attempt costs

    @property
    def order(self) -> Order:
        """The order of this trial. While it is open, the same trial asked for again is this one."""
        bare = replace(self.trial, id="")
        return Order(KIND, self.trial.id, encoded(self.trial), alone=f"trial {key_of(bare)}")


def prepare(
    home: Home, database: Database, wanted: WantedTrial, *, id: str = "", now: float, supply: Supply | None = None
) -> PreparedTrial:
    """Fix everything before the first outcome. Raises WhetError for a patch that could not be applied at all.

    Without an id it gets one by its content: a trial that came to no verdict, asked for again, is the same trial, and
    what its attempts cost is not paid again.
    """
    targets = _targets(wanted)
    settings = load(home)
    model = wanted.model or settings.model
    chosen = (supply or served)(home, settings, model)
    placebo = placebo_of(wanted.patch, filler()) if wanted.placebo is not False else None
    with_settings = _Surroundings(home, database, settings, chosen)
    price, of_one = _priced(with_settings, wanted.patch, targets[0], now=now)
    planned = design(
        (case.name for case in targets),
        (case.name for case in wanted.cases if case.guard),
        seeds=wanted.seeds,
        placebo=placebo is not None,
        alpha=alpha_for(past_trials(database), most=wanted.alpha),
        allowance=wanted.allowance,
    )
    if placebo is not None and not wanted.placebo and not is_affordable(planned, of_one):
        planned, placebo = replace(planned, arms=(Arm.BASE, Arm.CANDIDATE)), None
    patches = {Arm.CANDIDATE: wanted.patch, **({Arm.PLACEBO: placebo} if placebo else {})}
    trial = Trial(
        id=id,
        design=planned,
        cases={case.name: keep_material(database, case, now=now) for case in wanted.cases},
        patches={arm.value: keep_material(database, patch, now=now) for arm, patch in patches.items()},
        form=wanted.patch.form,
        name=wanted.patch.name,
        model=model,
        sampling=wanted.sampling or settings.sampling,
        hidden=wanted.hidden,
        price=price,
        fresh=wanted.fresh,
        about=wanted.about,
    )
    named = trial if id else replace(trial, id=_identity(database, trial))
    return PreparedTrial(named, wanted.patch, _plan(planned, of_one), of_one)


def _identity(database: Database, trial: Trial) -> str:
    prefix = f"{KIND}-{key_of(trial)[:ID_LETTERS]}"
    judged = [entry for entry in Ledger(database).entries() if entry.step in RULINGS and f'"{prefix}' in entry.verdict]
    return f"{prefix}-{len(judged) + 1}"


def _targets(wanted: WantedTrial) -> list[Case]:
    names = [case.name for case in wanted.cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WhetError(f"Several cases have the name {twice[0]}.", advice="Rename one, or choose fewer folders.")
    found = [case for case in wanted.cases if not case.guard]
    if not found:
        raise WhetError("There is no case to try it on.", advice="`whet cases new NAME` writes one; give --cases.")
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
        with overlaid(home, database, case, each, now=now) as overlay:
            begun = beginning(overlay, case, each, settings=settings, chosen=chosen, hidden=(home.folder,))
            begun.toolbox.close()
            prompts.append(begun.prompt.text)
            shown = sum(tokens.estimate(tool.description + tool.parameters) for tool in begun.toolbox.definitions)
    inserted: tuple[str, ...] = ()
    if patch.form is Form.TEMPLATE:
        messages = warm_start(templates.read(patch.text, name=patch.name), (), words())
        inserted = tuple(msgspec.json.encode(message.parts).decode() for message in messages)
    price = cache_price(*prompts, inserted=inserted)
    calls = min(USUAL_CALLS, case.budget.model_calls)
    asked = tokens.estimate(prompts[1]) + shown + sum(tokens.estimate(text) for text in inserted)
    usage = Usage(input=asked * calls, output=USUAL_OUTPUT * calls)
    return price, Spent(calls, usage.input, usage.output, dollars=cost(usage, chosen.model.prices))


def _plan(planned: Design, of_one: Spent) -> power.TrialPlan:
    spread = power.deviation(USUAL_PASS_RATE, planned.seeds)
    found = power.plan(
        len(planned.cases), planned.seeds, alpha=planned.alpha, spread=spread, cost_of_attempt=of_one.dollars or 0.0
    )
    share = len(planned.arms) / 2
    return replace(
        found,
        attempts_most=int(found.attempts_most * share) + len(planned.guards) * planned.seeds * len(planned.arms),
        attempts_expected=found.attempts_expected * share,
        cost_most=found.cost_most * share,
        cost_expected=found.cost_expected * share,
    )


class _Judged(Value, frozen=True):
    """What the ledger holds of a trial's verdict, as far as the error budget asks."""

    result: TrialResult
    parts: BudgetParts = BudgetParts.EVEN


def past_trials(database: Database) -> tuple[Past, ...]:
    """All trials before, in the order of their verdicts: they say how much error the next one may risk."""
    return tuple(
        _past(RULINGS[entry.step], msgspec.json.decode(entry.verdict, type=_Judged))
        for entry in Ledger(database).entries()
        if entry.step in RULINGS and entry.verdict
    )


def _past(ruling: Ruling, judged: _Judged) -> Past:
    accepted = ruling is Ruling.ACCEPT
    return Past(accepted, judged.result.verdict.evidence_help if accepted else 0.0, judged.parts)
