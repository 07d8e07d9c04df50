"""Screening: cases that always pass beforehand are left out, and some guard against harm; no trial counts it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from proving.trial_scenes import RULE, Answer, case_of, obeys, prepared, questions, supply_of, tried
from replies import says
from whet.agent.protocols import Reply
from whet.errors import WhetError
from whet.own.runs.run import Run, Sampling
from whet.proving.plan import MOST_GUARDS, WantedTrial, screen
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.trials.attempts import AttemptConditions
from whet.trials.cases import Case
from whet.trials.design import TrialDesign


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare_home(made)
    return made


EASY = tuple(case_of(f"easy-{number}") for number in range(MOST_GUARDS + 2))


def knows_some(run: Run) -> Reply:
    return says("yes") if run.messages[-1].text.startswith("easy") else obeys(run)


def screens(home: Home, cases: tuple[Case, ...], answer: Answer = knows_some, log: Path | None = None) -> list[int]:
    found = screen(home, cases, AttemptConditions(), times=2, supply=supply_of(answer, log))
    return [sum(each.measures.passed for each in attempts) for _, attempts in found]


def wanted(cases: tuple[Case, ...]) -> WantedTrial:
    return WantedTrial(RULE, cases, TrialDesign(placebo=False))


def test_what_always_passes_is_left_out_and_a_sample_guards(home: Home) -> None:
    hard = questions(12)
    assert screens(home, (*hard, *EASY)) == [0] * 12 + [2] * len(EASY)
    with opened(home) as database:
        ready = prepared(home, database, wanted((*hard, *EASY)), knows_some)
    assert sorted(ready.cases.tried) == sorted(case.name for case in hard)
    assert len(ready.cases.guards) == MOST_GUARDS
    assert sorted(ready.cases.screened) == [case.name for case in EASY]
    found = tried(home, ready, supply_of(knows_some))
    assert found.result.guard is not None


def test_attempts_of_a_screening_are_not_used_again(home: Home, tmp_path: Path) -> None:
    log = tmp_path / "log"
    hard = questions(3)
    screens(home, hard, log=log)
    seeds = {line.split()[-1] for line in log.read_text().splitlines()}
    log.unlink()
    with opened(home) as database:
        ready = prepared(home, database, wanted(hard), knows_some)
    result = tried(home, ready, supply_of(knows_some, log)).result
    assert result.reused == 0
    assert seeds.isdisjoint(line.split()[-1] for line in log.read_text().splitlines())


def test_a_case_that_was_changed_or_is_tried_on_another_model_is_not_known(home: Home) -> None:
    screens(home, EASY)
    changed = tuple(replace(case, task="easy it is?") for case in EASY)
    with opened(home) as database:
        assert prepared(home, database, wanted(changed), knows_some).cases.screened == ()
        other = wanted(EASY)._replace(conditions=AttemptConditions(sampling=Sampling(temperature=0.5)))
        assert prepared(home, database, other, knows_some).cases.screened == ()


def test_a_trial_of_which_nothing_is_left_is_not_begun(home: Home) -> None:
    screens(home, EASY)
    with opened(home) as database, pytest.raises(WhetError, match="passes without the change"):
        _plan(home, database)


def _plan(home: Home, database: Database) -> None:
    prepared(home, database, wanted(EASY), knows_some)
