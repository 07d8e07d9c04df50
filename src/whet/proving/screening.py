"""Screening: attempts without any change that are counted in no trial, and what they say of a trial's cases."""

import hashlib
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.providers.choosing import Supply
from whet.errors import WhetError
from whet.proving.attempt import attempt, vouch_for
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.records import has_stored, keep_material, keep_progress, key_of, progress_of
from whet.trials.attempts import Arm, Attempt, AttemptConditions, AttemptPlace, AttemptRequest, OrderTerms
from whet.trials.cases import Case
from whet.values import Value
from whet.work.orders import DirectSteps, decoded

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


def attempted(
    home: Home,
    cases: Iterable[Case],
    conditions: AttemptConditions,
    seeds: range,
    *,
    fresh: bool = False,
    supply: Supply | None = None,
) -> Iterator[tuple[Case, list[Attempt]]]:
    """Attempt each case without any change, once with each seed; a fresh attempt repeats none that was made before."""
    trial = f"cases-{time.time_ns()}"
    for case in cases:
        with opened(home) as database:
            key = keep_material(database, case, now=time.time())
        made: list[Attempt] = []
        for seed in seeds:
            place = AttemptPlace(case.name, Arm.BASE, seed)
            wanted = AttemptRequest(trial, place, key, conditions, terms=OrderTerms(fresh=fresh))
            vouch_for(home, (wanted,))
            done = attempt(home, DirectSteps(f"{trial}/{key}/{seed}"), wanted, supply=supply)
            made.append(decoded(done.value, Attempt))
        yield case, made


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
