"""Over many trials, few of the accepted changes are false."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.error_budget import SHARE, alpha_for, part
from whet.verdicts import Ruling, judge

RULINGS = st.lists(st.sampled_from(list(Ruling)), max_size=50)


def test_the_parts_never_make_more_than_the_whole() -> None:
    total = sum(part(trial) for trial in range(1, 100_001))
    assert 0.999 < total < 1


@given(RULINGS)
def test_an_accept_earns_later_trials_more(past: list[Ruling]) -> None:
    more = alpha_for([*past, Ruling.ACCEPT])
    assert more >= alpha_for([*past, Ruling.UNDECIDED]) == alpha_for([*past, Ruling.REJECT])
    assert 0 < more <= 0.05


def test_one_trial_is_never_judged_more_laxly_than_alone() -> None:
    assert alpha_for([Ruling.ACCEPT] * 300) == 0.05
    assert alpha_for([Ruling.ACCEPT] * 300, most=0.01) == 0.01


def nights(source: random.Random, *, trials: int, useful: float) -> tuple[int, int]:
    """False and all accepts of a series whose trials share the attempts of the base, the worst way to depend."""
    base = [source.random() < 0.5 for _ in range(60)]
    past: list[Ruling] = []
    false = 0
    for _ in range(trials):
        chance = 0.85 if source.random() < useful else 0.5
        differences = [(source.random() < chance) - float(passed) for passed in base]
        past.append(judge(differences, alpha=alpha_for(past), planned=60).ruling)
        false += past[-1] is Ruling.ACCEPT and chance == 0.5
    return false, past.count(Ruling.ACCEPT)


@pytest.mark.parametrize("useful", [0.0, 0.3])
def test_the_share_of_false_accepts_stays_within_the_budget(useful: float) -> None:
    source = random.Random(17)
    shares = [false / max(all_, 1) for false, all_ in (nights(source, trials=8, useful=useful) for _ in range(80))]
    assert sum(shares) / len(shares) <= SHARE
