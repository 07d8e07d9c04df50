"""Over many trials, few of the accepted changes are false."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.betting import aimed
from whet.error_budget import SHARE, alpha_for, part
from whet.verdicts import Ruling

RULINGS = st.lists(st.sampled_from(list(Ruling)), max_size=40)
CASES = 60


def test_the_parts_never_make_more_than_the_whole() -> None:
    assert 0.999 < sum(part(place) for place in range(1, 100_001)) < 1


@settings(max_examples=60)
@given(st.lists(st.sampled_from([Ruling.ACCEPT, Ruling.ACCEPT, Ruling.UNDECIDED]), max_size=10))
def test_whichever_trials_were_useless_their_evidence_pays_for_their_share(past: list[Ruling]) -> None:
    held = [1 / alpha_for(past[:place]) if ruling is Ruling.ACCEPT else 0.0 for place, ruling in enumerate(past)]
    accepted = past.count(Ruling.ACCEPT)
    for size in range(1, len(past) + 1):
        for useless in itertools.combinations(range(len(past)), size):
            evidence = sum(part(place) * held[trial] for place, trial in enumerate(useless, start=1))
            false = sum(past[trial] is Ruling.ACCEPT for trial in useless)
            assert evidence >= false / (SHARE * max(accepted, 1)) - 1e-9


@given(RULINGS)
def test_it_is_never_stricter_than_e_lond(past: list[Ruling]) -> None:
    simple = SHARE * part(len(past) + 1) * (past.count(Ruling.ACCEPT) + 1)
    assert alpha_for(past) >= min(0.05, simple) - 1e-12


@given(RULINGS)
def test_an_accept_earns_later_trials_more(past: list[Ruling]) -> None:
    more, less = alpha_for([*past, Ruling.ACCEPT]), alpha_for([*past, Ruling.UNDECIDED])
    assert alpha_for([*past, Ruling.REJECT]) == less
    assert 0 < less < alpha_for(past) + 1e-12
    assert less <= more <= 0.05


def test_one_trial_is_never_judged_more_laxly_than_alone() -> None:
    assert alpha_for([Ruling.ACCEPT] * 300) == 0.05
    assert alpha_for([Ruling.ACCEPT] * 300, most=0.01) == 0.01


def nights(source: random.Random, *, trials: int, useful: float) -> float:
    """The false share of a series in which every trial compares with the very same attempts of the base."""
    base = [source.random() < 0.5 for _ in range(CASES)]
    past: list[Ruling] = []
    false = 0
    for _ in range(trials):
        chance = 0.85 if source.random() < useful else 0.5
        differences = [(source.random() < chance) - float(passed) for passed in base]
        goal = 1 / alpha_for(past)
        accepted = any(capital >= goal for capital in aimed(differences, planned=CASES, goal=goal))
        past.append(Ruling.ACCEPT if accepted else Ruling.UNDECIDED)
        false += accepted and chance == 0.5
    return false / max(past.count(Ruling.ACCEPT), 1)


@pytest.mark.parametrize("useful", [0.0, 0.3])
def test_the_share_of_false_accepts_stays_within_the_budget(useful: float) -> None:
    source = random.Random(17)
    shares = [nights(source, trials=12, useful=useful) for _ in range(150)]
    assert sum(shares) / len(shares) <= SHARE
