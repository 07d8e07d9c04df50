"""Trials before they begin: everything fixed, and what they can find and will cost."""

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from msgspec.structs import replace

from whet.engine.orders import Order
from whet.engine.steps import encoded
from whet.errors import WhetError
from whet.evidence.error_budget import alpha_for
from whet.evidence.verdicts import ALPHA
from whet.ledger.patches import Patch
from whet.proving.agent_attempt import AttemptScene
from whet.proving.agent_plan import prepare_agent
from whet.proving.applying import Applying, TrialSurroundings, where_told
from whet.proving.attempt import AttemptRequest, Supply, is_interactive, served
from whet.proving.past_trials import guards_from_past, judged_trials, known_evidence, past_trials
from whet.proving.screening import MOST_GUARDS, screened
from whet.proving.world import grounds_of_agent, grounds_of_model, world_of
from whet.runs.run import Sampling, Spent
from whet.shipped.guidance.placebo import filler
from whet.shipped.guidance.rules import catalogue
from whet.store.database import Database
from whet.store.home import Home
from whet.store.owner import identity_of
from whet.store.settings_file import load
from whet.store.trials import keep_material, key_of
from whet.trials.attempts import Arm, TrialAgent
from whet.trials.cases import Case, is_errand
from whet.trials.continuing import PastEvidence, TooFewCases, expect_provable
from whet.trials.design import Allowance, Trial, design, is_affordable
from whet.trials.placebos import placebo_of

KIND = "trial"
ID_LETTERS = 12


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
    settings = load(home)
    sampling = wanted.sampling or settings.sampling
    _expect_named(wanted.cases)
    asked = TrialAgent(wanted.agent, model=wanted.model) if wanted.agent else None
    found = screened(database, wanted.cases, base_request(wanted.model or settings.model, sampling, asked))
    guards = guards_from_past(home, database, found.cases, most=MOST_GUARDS)
    wanted = wanted._replace(cases=_able((*found.cases, *guards), wanted))
    targets = _targets(wanted)
    own = _independent(targets, wanted.patch)
    agent = None
    placebo = placebo_of(wanted.patch, filler()) if wanted.placebo is not False else None
    if asked is not None:
        cases = (*targets, *wanted.cases)
        is_judged = any(case.check.rubric for case in cases)
        world = world_of(home, database, settings, grounds_of_agent(home, settings, asked, is_judged=is_judged))
        scene = AttemptScene(home, database, settings, world)
        agent, price, of_one = prepare_agent(scene, asked, wanted.patch, cases, now=now)
        model = agent.model
        change = _change(wanted.patch, agent, targets)
        before = PastEvidence() if wanted.fresh else known_evidence(home, database, change)
        applying = Applying(_new_of(own, before), price, of_one)
    else:
        model = wanted.model or settings.model
        chosen = (supply or served)(home, settings, model)
        world = world_of(home, database, settings, grounds_of_model(home, settings, model, chosen))
        around = TrialSurroundings(home, database, settings, chosen, world)
        change = _change(wanted.patch, model, targets)
        before = PastEvidence() if wanted.fresh else known_evidence(home, database, change)
        applying = where_told(around, wanted.patch, _new_of(own, before), now=now)
    trial = replace(
        design(
            (case.name for case in applying.cases),
            (case.name for case in wanted.cases if case.guard),
            seeds=wanted.seeds,
            placebo=placebo is not None,
            alpha=before.alpha or alpha_for(past_trials(home, database), most=wanted.alpha),
            allowance=wanted.allowance,
        ),
        id=id,
        form=wanted.patch.form,
        name=wanted.patch.name,
        materials={case.name: keep_material(database, case, now=now) for case in wanted.cases},
        model=model,
        sampling=sampling,
        hidden=wanted.hidden,
        price=applying.price,
        of_one=applying.of_one,
        fresh=wanted.fresh,
        about=wanted.about,
        agent=agent,
        screened=found.left_out,
        interactive=is_interactive(wanted.patch),
        change=change,
        before=before,
        keys={case.name: case.key for case in applying.cases},
        left_out=len(targets) - len(own),
        world=keep_material(database, world, now=now),
        home=identity_of(home),
    )
    if placebo is not None and not wanted.placebo and not is_affordable(trial):
        trial, placebo = replace(trial, arms=(Arm.BASE, Arm.CANDIDATE)), None
    trial = replace(trial, patches=_keep_patches(database, wanted.patch, placebo, now=now))
    return trial if id else replace(trial, id=_identity(home, database, trial))


def expect_worth_it(trial: Trial) -> None:
    """Raise TooFewCases for a trial that could prove nothing, before anything is spent on it."""
    expect_provable(trial.before, len(trial.cases), alpha=trial.alpha, placebo=Arm.PLACEBO in trial.arms)


def _able(cases: Sequence[Case], wanted: WantedTrial) -> tuple[Case, ...]:
    """The cases without standing ones that another agent cannot be asked to do: they are no reason to try nothing."""
    return tuple(case for case in cases if not wanted.agent or not case.guard or is_errand(case))


def _change(patch: Patch, who: str | TrialAgent, targets: Sequence[Case]) -> str:
    """What makes two trials trials of the same change: its words, the model or agent, and the kinds of cases."""
    kinds = sorted({case.kind for case in targets})
    return key_of(patch.form, patch.action, patch.text or patch.name, who, kinds)


def _independent(targets: Sequence[Case], patch: Patch) -> list[Case]:
    """The cases that were not made from sessions that the change was written from; a rule of Whet's was from none."""
    if any(remedy.text == patch.text for remedy in catalogue()):
        return list(targets)
    written_from = {proof.session for proof in patch.proofs}
    found = [case for case in targets if case.source not in written_from or not case.source]
    if not found:
        raise TooFewCases(
            "All its cases come from the sessions that it was written from: they cannot judge it.",
            advice="Wait for later sessions, or write a case with `whet cases new NAME`.",
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
    return key_of(replace(trial, id="", of_one=Spent(), watched=False, world=""))


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
