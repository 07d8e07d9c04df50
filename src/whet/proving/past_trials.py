"""Trials that were judged, as the ledger has them: what they leave to the next ones."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from whet.evidence.error_budget import Past
from whet.evidence.verdicts import Ruling, fixed_order
from whet.ledger.entries import Step
from whet.store.case_files import home_cases
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.trials.cases import Case
from whet.trials.continuing import PastEvidence
from whet.trials.design import FAULTS, TrialProgress

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
        if (case := each.case) and case.name in passed - names and case.key not in keys
    }
    return [replace(others[name], guard=True) for name in fixed_order(others)[:most]]
