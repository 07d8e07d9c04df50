"""A trial as durable work: carried out case by case, judged, and entered in the ledger."""

import time
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from whet.engine.orders import Done, Failed, left_by
from whet.engine.steps import Steps, encoded
from whet.errors import WhetError
from whet.evidence.error_budget import BudgetParts
from whet.evidence.verdicts import Ruling
from whet.examples import templates
from whet.examples.choosing import Worth
from whet.ledger.entries import Actor, Entry
from whet.ledger.patches import Form, Patch
from whet.proving.attempt import KIND as ATTEMPT
from whet.proving.attempt import AttemptRequest
from whet.proving.plan import STEPS, Trial
from whet.runs.run import Spent, together
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.opening import opened
from whet.store.template_files import record_worth
from whet.store.trials import keep_progress, material, progress_of
from whet.trials.attempts import Arm, Attempt, AttemptPlace
from whet.trials.design import Price, TrialResult, TrialStop, is_needed, judged, waves
from whet.values import Value


class TrialProgress(Value, frozen=True):
    """How far a trial is."""

    trial: str
    result: TrialResult
    attempts: int
    planned: int
    price: Price = Price()
    entry: int = 0  # of the ledger, once it is there
    parts: BudgetParts = BudgetParts.EVEN


Observe = Callable[[TrialProgress], None]


def trial(home: Home, steps: Steps, order: Trial, *, observe: Observe | None = None) -> Done:
    """Carry a trial out. What its attempts gave is remembered, so that nothing paid is repeated after a crash."""
    attempts: list[Attempt] = []
    result = judged(order.design, attempts)
    planned = sum(len(wave) for wave in waves(order.design))
    for number, wave in enumerate(waves(order.design), start=1):
        places = [place for place in wave if is_needed(order.design, result, place)]
        if not places:
            continue
        try:
            attempts += steps.spread(ATTEMPT, (_ask(order, place, steps.id) for place in places), Attempt)
        except WhetError as error:
            raise _failed(error.message, error.advice, result, left_by(error).spent) from error
        result = judged(order.design, attempts)
        progress = TrialProgress(order.id, result, len(attempts), planned, order.price, parts=order.design.parts)
        steps.do(f"look {number}", partial(_keep, home, progress), str)
        if observe:
            observe(progress)
        if result.stop is not TrialStop.OPEN:
            break
    if result.void == len(attempts):
        raise _failed(f"No attempt could be made: {attempts[0].void}", "Check the model: `whet run hello`.", result)
    progress = TrialProgress(order.id, result, len(attempts), planned, order.price, parts=order.design.parts)
    done = steps.do("verdict", lambda: _enter(home, order, progress), TrialProgress)
    sessions = tuple(attempt.session for attempt in attempts if attempt.session)
    return Done(sentence(order, result), sessions, result.spent, encoded(done))


def _failed(message: str, advice: str, result: TrialResult, *more: Spent) -> Failed:
    """A trial that cannot be judged has its price all the same."""
    return Failed(message, advice=advice, spent=together((result.spent, *more)))


def _ask(order: Trial, place: AttemptPlace, work: str) -> tuple[str, AttemptRequest]:
    ask = AttemptRequest(
        trial=order.id,
        case=order.cases[place.case],
        arm=place.arm,
        seed=place.seed,
        patch=order.patches.get(place.arm.value, ""),
        model=order.model,
        sampling=order.sampling,
        hidden=order.hidden,
        fresh=order.fresh,
    )
    return f"{work}/{place.case}/{place.arm}/{place.seed}", ask


def _keep(home: Home, progress: TrialProgress) -> str:
    """Say how far the trial is, for whoever looks; gives whether it goes on."""
    with opened(home) as database:
        keep_progress(database, progress.trial, progress, now=time.time())
    return progress.result.stop


def _enter(home: Home, order: Trial, progress: TrialProgress) -> TrialProgress:
    """Put the verdict in the ledger, once, and what a template is worth beside it."""
    now = time.time()
    with opened(home) as database, database.writing():
        known = progress_of(database, order.id, TrialProgress)
        if known is not None and known.entry:
            return known
        patch = patch_of(database, order)
        verdict = progress.result.verdict
        entry = Entry(
            number=0,
            step=STEPS[verdict.ruling],
            patch=patch,
            actor=Actor.POLICY,
            at=now,
            note=sentence(order, progress.result),
            verdict=encoded(progress),
            about=order.about,
            home="" if patch.form is Form.RULE else ledger_of(home, database).home,
        )
        done = replace(progress, entry=Ledger(database).append([entry])[0].number)
        keep_progress(database, order.id, done, now=now)
        if patch.form is Form.TEMPLATE:
            key = templates.read(patch.text, name=patch.name).key
            low, high = verdict.interval
            record_worth(database, Worth(key, verdict.effect, low, high, verdict.cases, now, model=order.model))
    return done


def patch_of(database: Database, order: Trial) -> Patch:
    """The candidate of a trial."""
    return material(database, order.patches[Arm.CANDIDATE.value], Patch)


def sentence(order: Trial, result: TrialResult) -> str:
    """The verdict in a line."""
    verdict = result.verdict
    words = {Ruling.ACCEPT: "accepted", Ruling.REJECT: "rejected", Ruling.UNDECIDED: "undecided"}
    low, high = (100 * bound for bound in verdict.interval)
    return (
        f"The {order.form} {order.name} is {words[verdict.ruling]}: {100 * verdict.effect:+.0f} points"
        f" ({low:+.0f} to {high:+.0f}) over {verdict.cases} cases"
        f"{f'; {result.held_back}' if result.held_back else ''}"
    )
