"""A trial as durable work: carried out case by case, judged, and entered in the ledger."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from whet.errors import WhetError
from whet.evidence.error_budget import Past
from whet.evidence.verdicts import Ruling, fixed_order
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Form, Patch
from whet.own.examples import templates
from whet.own.examples.templates import TemplateEffect
from whet.own.runs.run import Spent, together
from whet.proving.attempt import KIND as ATTEMPT
from whet.proving.attempt import vouch_for
from whet.store.case_files import home_cases
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of
from whet.store.opening import opened
from whet.store.records import keep_progress, material, progress_of
from whet.store.template_files import record_worth
from whet.trials.attempts import Arm, Attempt, AttemptPlace, AttemptRequest
from whet.trials.cases import Case
from whet.trials.design import FAULTS, PastEvidence, Trial, TrialProgress, TrialResult, TrialStop, waves
from whet.trials.judging import is_needed, judged, left_to_next
from whet.trials.outcome_words import counted, outlook, ruled
from whet.work.orders import Done, Failed, Steps, decoded, encoded, left_by

Observe = Callable[[TrialProgress], None]


def trial(home: Home, steps: Steps, ask: Trial, *, observe: Observe | None = None) -> Done:
    """Carry a trial out. What its attempts gave is remembered, so that nothing paid is repeated after a crash.

    Attempts are begun a little ahead, and looked at in the planned order, some whole cases at a time: which of them
    ended first decides nothing.
    """
    course = _Course(home, ask, steps.id, judged(ask, ()))
    try:
        attempts, result = _carried_out(home, steps, course, observe)
    finally:
        steps.withdraw()
    if result.invalid == len(attempts):
        raise _failed(f"No attempt could be made: {result.invalid_why}", _advice(ask), result)
    progress = _progress(ask, attempts, result)
    done = steps.do("verdict", lambda: _enter(home, ask, progress), TrialProgress)
    sessions = tuple(attempt.session for attempt in attempts if attempt.session)
    return Done(sentence(ask, done), sessions, result.spent, encoded(done))


def _carried_out(
    home: Home, steps: Steps, course: "_Course", observe: Observe | None
) -> tuple[list[Attempt], TrialResult]:
    ask, attempts = course.trial, list[Attempt]()
    ahead = course.ahead()
    steps.do("begin", partial(_keep, home, _progress(ask, attempts, course.result)), str)
    for number, wave in enumerate(waves(ask), start=1):
        asked = course.requests(wave)
        if not asked:
            continue
        try:
            attempts += steps.spread(ATTEMPT, asked, Attempt, ahead=ahead)
        except WhetError as error:
            raise _failed(error.message, error.advice, course.result, left_by(error).spent) from error
        course.result = judged(ask, attempts)
        progress = _progress(ask, attempts, course.result)
        steps.do(f"look {number}", partial(_keep, home, progress), str)
        if observe:
            observe(progress)
        if course.result.stop is not TrialStop.OPEN:
            break
    return attempts, course.result


class _Course:
    """A trial under way: what was found so far, and which attempts that leaves to be made."""

    def __init__(self, home: Home, trial: Trial, work: str, result: TrialResult) -> None:
        self._home = home
        self._vouched: set[str] = set()
        self.trial = trial
        self.result = result
        self._work = work

    def requests(self, wave: Sequence[AttemptPlace]) -> list[tuple[str, AttemptRequest]]:
        """The attempts of a wave that can still change anything, vouched for."""
        needed = (place for place in wave if is_needed(self.trial, self.result, place))
        asked = [_request(self.trial, place, self._work) for place in needed]
        vouch_for(self._home, [each for key, each in asked if key not in self._vouched])
        self._vouched.update(key for key, _ in asked)
        return asked

    def ahead(self) -> Iterator[tuple[str, AttemptRequest]]:
        """All attempts in the planned order, for workers that have nothing else to do."""
        for wave in waves(self.trial):
            yield from self.requests(wave)


def _progress(trial: Trial, attempts: Sequence[Attempt], result: TrialResult) -> TrialProgress:
    return TrialProgress(
        trial.id,
        result,
        len(attempts),
        sum(len(wave) for wave in waves(trial)),
        trial.change.price,
        change=trial.change.key,
        after=left_to_next(trial, attempts, result),
        left_out=trial.cases.left_out,
        what=f"{trial.change.form} {trial.change.name}",
    )


def _advice(trial: Trial) -> str:
    agent = trial.conditions.agent
    if agent is None:
        return "Check the model: `whet run hello`."
    name = agent.name
    return f"Try {name} by hand. To log it in, set agents.{name}.config or agents.{name}.variables."


def _failed(message: str, advice: str, result: TrialResult, *more: Spent) -> Failed:
    """A trial that cannot be judged has its price all the same."""
    return Failed(message, advice=advice, spent=together((result.spent, *more)))


def _request(trial: Trial, place: AttemptPlace, work: str) -> tuple[str, AttemptRequest]:
    case, patch = trial.cases.materials[place.case], trial.change.patches.get(place.arm, "")
    ask = AttemptRequest(trial.id, place, case, trial.conditions, patch, trial.terms)
    return f"{work}/{trial.id}/{place.case}/{place.arm}/{place.seed}", ask


def _keep(home: Home, progress: TrialProgress) -> str:
    """Say how far the trial is, for whoever looks; gives whether it goes on."""
    with opened(home) as database:
        keep_progress(database, progress.trial, progress, now=time.time())
    return progress.result.stop


def _enter(home: Home, trial: Trial, progress: TrialProgress) -> TrialProgress:
    """Put the verdict in the ledger, once, and what a template is worth beside it."""
    now = time.time()
    with opened(home) as database, database.writing():
        known = progress_of(database, trial.id, TrialProgress)
        ledger = ledger_of(home, database)
        if known is not None and _is_entered(ledger, known):
            return known
        patch = material(database, trial.change.patches[Arm.CANDIDATE], Patch)
        verdict = progress.result.verdict
        entry = Entry(
            number=0,
            step=STEPS[verdict.ruling],
            patch=patch,
            actor=Actor.POLICY,
            at=now,
            note=sentence(trial, progress),
            verdict=encoded(progress),
            about=trial.change.about,
            home="" if patch.form is Form.RULE else ledger.home,
            tried_on=trial.conditions.model,
        )
        done = replace(progress, entry=ledger.append([entry])[0].number)
        keep_progress(database, trial.id, done, now=now)
        is_own = trial.conditions.agent is None
        if patch.form is Form.TEMPLATE and is_own:  # what it is worth to another agent chooses none here
            key = templates.read(patch.text, name=patch.name).key
            low, high = verdict.interval
            model = trial.conditions.model
            record_worth(database, TemplateEffect(key, verdict.effect, low, high, verdict.cases, now, model=model))
    return done


def _is_entered(ledger: Ledger, known: TrialProgress) -> bool:
    """Whether the ledger has this very verdict: that it has is not believed of a row that others can write."""
    verdicts = (entry.verdict for entry in ledger.entries() if entry.number == known.entry)
    return any(decoded(each, TrialProgress) == replace(known, entry=0) for each in verdicts if each)


def sentence(trial: Trial, progress: TrialProgress) -> str:
    """The verdict in a line."""
    verdict = progress.result.verdict
    words = {Ruling.ACCEPT: "accepted", Ruling.REJECT: "rejected", Ruling.UNDECIDED: "undecided"}
    low, high = (100 * bound for bound in verdict.interval)
    after = outlook(progress) or progress.result.held_back or (ruled(progress) if verdict.margin else "")
    return (
        f"The {trial.change.form} {trial.change.name} is {words[verdict.ruling]}: {counted(progress)},"
        f" {100 * verdict.effect:+.0f} points ({low:+.0f} to {high:+.0f}){f'; {after}' if after else ''}"
    )


STEPS = {Ruling.ACCEPT: Step.ACCEPTED, Ruling.REJECT: Step.REJECTED, Ruling.UNDECIDED: Step.UNDECIDED}
RULINGS = {step: ruling for ruling, step in STEPS.items()}


def judged_trials(home: Home, database: Database, project: str | None = None) -> list[tuple[Ruling, TrialProgress]]:
    """The trials that were judged, in the order of their verdicts: all of them, or of changes for one project."""
    return [
        (RULINGS[entry.step], msgspec.json.decode(entry.verdict, type=TrialProgress))
        for entry in ledger_of(home, database).entries()
        if entry.step in RULINGS and entry.verdict and project in (None, entry.patch.scope.project)
    ]


def past_trials(home: Home, database: Database, project: str | None = None) -> tuple[Past, ...]:
    """The trials before, in the order of their verdicts: they say how much error the next one may risk.

    Every project has a budget of its own, and so have changes for all of them. Trials of one change that went on with
    what the first had won are one trial, in the place of the first: to go on costs nothing. One that could not go on
    told nothing and costs nothing; one that was undecided and lost little costs what it lost.
    """
    places: dict[tuple[str, int], int] = {}
    found: list[Past] = []
    for ruling, progress in judged_trials(home, database, project):
        if progress.result.stop in FAULTS:
            continue
        accepted = ruling is Ruling.ACCEPT
        left = progress.after.given_back if ruling is Ruling.UNDECIDED else 0.0
        past = Past(accepted, progress.evidence if accepted else 0.0, left)
        number = progress.after.trials
        place = places.get((progress.change, number - 1), len(found)) if number > 1 else len(found)
        found[place : place + 1] = [past]
        places[progress.change, number] = place
    return tuple(found)


def known_evidence(home: Home, database: Database, change: str) -> PastEvidence:
    """What the trials of this change so far have left, if the last of them was undecided."""
    trials = [each for each in judged_trials(home, database) if each[1].change == change]
    if not trials or trials[-1][0] is not Ruling.UNDECIDED:
        return PastEvidence()
    left = trials[-1][1].after
    fresh = PastEvidence(helped=left.helped, harmed=left.harmed, cases=left.cases, tried=left.tried)
    return fresh if left.given_back else left


def guards_from_past(home: Home, database: Database, cases: Sequence[Case], *, most: int) -> list[Case]:
    """A few of the home's other cases, to notice harm: those that passed in every attempt of an earlier trial.

    Where a trial has standing cases of its own, they are enough.
    """
    if any(case.guard for case in cases):
        return []
    passed = {name for _, progress in judged_trials(home, database) for name in progress.result.always}
    names, keys = {case.name for case in cases}, {case.key for case in cases}
    others = {
        case.name: case
        for each in home_cases(home.folder)
        if (case := each.value) and case.name in passed - names and case.key not in keys
    }
    return [replace(others[name], guard=True) for name in fixed_order(others)[:most]]
