"""Over many trials, few of the accepted changes are false."""

import itertools
import math
import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evidence.betting import aimed
from whet.evidence.error_budget import SHARE, Past, alpha_for, part, used_up
from whet.evidence.verdicts import planned_side

ACCEPTS = st.lists(st.booleans(), max_size=40)
LUCK = st.floats(1, 3)
CASES = 60
PLACES = 10_000


def history(accepts: Iterable[bool | float], *, luck: float = 1.0) -> list[Past]:
    """Trials of which some were accepted, each with the evidence that it had to have or some more.

    A number says how much of its part a trial gave back.
    """
    past: list[Past] = []
    for accepted in accepts:
        evidence = luck / alpha_for(past) if accepted is True else 0.0
        past.append(Past(accepted is True, evidence, 0.0 if isinstance(accepted, bool) else accepted))
    return past


def weighed(useless: Iterable[Past]) -> float:
    """The evidence of useless trials by the parts in their order, each that was given back used by the next of them."""
    place, rest, found = 1, 1.0, 0.0
    for trial in useless:
        found += rest * part(place) * trial.evidence
        place, rest = (place, rest * trial.left) if trial.left else (place + 1, 1.0)
    return found


def test_the_parts_only_fall_and_never_make_more_than_the_whole() -> None:
    assert 0.999 < sum(part(place) for place in range(1, 100_001)) < 1
    assert all(part(place) > part(place + 1) for place in range(1, PLACES))


@settings(max_examples=60)
@given(st.lists(st.sampled_from([True, True, False, 0.9, 1.0]), max_size=10), LUCK)
def test_whichever_trials_were_useless_their_evidence_pays_for_their_share(
    accepts: list[bool | float], luck: float
) -> None:
    past = history(accepts, luck=luck)
    accepted = sum(each.accepted for each in past)
    for size in range(1, len(past) + 1):
        for useless in itertools.combinations(past, size):
            evidence = weighed(useless)
            false = sum(trial.accepted for trial in useless)
            assert evidence >= false / (SHARE * max(accepted, 1)) - 1e-9


@given(ACCEPTS)
def test_it_is_never_stricter_than_e_lond(accepts: list[bool]) -> None:
    simple = SHARE * part(len(accepts) + 1) * (sum(accepts) + 1)
    assert alpha_for(history(accepts)) >= min(0.05, simple) - 1e-12


@given(ACCEPTS, LUCK)
def test_an_accept_earns_later_trials_more(accepts: list[bool], luck: float) -> None:
    past = history(accepts)
    before = alpha_for(past)
    less = alpha_for([*past, Past(accepted=False)])
    more = alpha_for([*past, Past(accepted=True, evidence=1 / before)])
    most = alpha_for([*past, Past(accepted=True, evidence=luck / before)])
    assert 0 < less < before + 1e-12
    assert less <= more <= most <= 0.05


def test_one_trial_is_never_judged_more_laxly_than_alone() -> None:
    past = history([True] * 60)
    assert alpha_for(past) == 0.05
    assert alpha_for(past, most=0.01) == 0.01


def nights(source: random.Random, *, trials: int, useful: float) -> float:
    """The false share of a series in which every trial compares with the very same attempts of the base."""
    base = [source.random() < 0.5 for _ in range(CASES)]
    past: list[Past] = []
    false = 0
    for _ in range(trials):
        chance = 0.85 if source.random() < useful else 0.5
        differences = [(source.random() < chance) - float(passed) for passed in base]
        goal = 1 / alpha_for(past)
        enough = (capital for capital in aimed(differences, planned=CASES, goal=goal) if capital >= goal)
        evidence = next(enough, 0.0)
        past.append(Past(evidence > 0, evidence))
        false += evidence > 0 and chance == 0.5
    return false / max(sum(trial.accepted for trial in past), 1)


@pytest.mark.parametrize("useful", [0.0, 0.3])
def test_the_share_of_false_accepts_stays_within_the_budget(useful: float) -> None:
    source = random.Random(17)
    shares = [nights(source, trials=12, useful=useful) for _ in range(150)]
    assert sum(shares) / len(shares) <= SHARE


def test_the_parts_are_those_that_past_trials_were_judged_by() -> None:
    tail = math.pi**2 / 6 - math.fsum(1 / trial**2 for trial in range(1, 11))
    for place in (1, 2, 3, 10, 100):
        even = 1 / ((place + 10) ** 2 * tail)
        assert part(place) == pytest.approx(0.25 / 2**place + 0.75 * even)


def test_the_first_trial_may_risk_its_part_of_the_share() -> None:
    assert SHARE == 0.1
    assert alpha_for(()) == pytest.approx(0.1 * part(1))
    assert alpha_for((), share=0.2) == pytest.approx(0.2 * part(1))
    assert alpha_for([Past(accepted=False)] * 3) == pytest.approx(0.1 * part(4))
    assert Past(accepted=True).evidence == 0.0


def test_what_is_owed_and_held_already_limits_nothing() -> None:
    """With just the evidence that is owed, no useless trial before it makes the next one stricter."""
    owed = 1 / (SHARE * 2)
    just = owed / part(1)
    assert alpha_for([Past(accepted=True, evidence=2 * just)], most=1.0) == pytest.approx(part(1) / owed)


def test_only_trials_that_were_not_accepted_use_the_budget_up() -> None:
    assert used_up(()) == 0
    assert used_up((Past(True, 30.0),)) == 0
    assert used_up((Past(False), Past(True, 30.0), Past(False))) == pytest.approx(part(1) + part(2))
    assert used_up([Past(False)] * 1000) < 1


def test_a_trial_that_lost_nothing_costs_nothing_and_one_that_lost_little_costs_little() -> None:
    empty, little = Past(False, left=1.0), Past(False, left=0.95)
    assert alpha_for([empty] * 9) == alpha_for(())
    assert alpha_for([little]) == pytest.approx(0.95 * alpha_for(()))
    assert alpha_for([little, Past(False)]) == alpha_for([Past(False)])
    assert used_up([empty] * 9) == 0
    assert used_up([little, empty, Past(False)]) == pytest.approx(part(1))


def series(source: random.Random, *, trials: int) -> float:
    """The false share of trials that do nothing, many of which have nothing to tell, each look paid exactly."""
    past: list[Past] = []
    for _ in range(trials):
        alpha = alpha_for(past)
        differences = [source.choice([-1.0, 1.0]) if source.random() < 0.1 else 0.0 for _ in range(12)]
        side = planned_side(differences, planned=12, alpha=alpha)
        left = side.evidence if 0.9 <= side.evidence <= 1.0 + 1e-9 else 0.0
        past.append(Past(side.crossed is not None, side.evidence if side.crossed else 0.0, left=min(left, 1.0)))
    return float(any(each.accepted for each in past))


def test_parts_that_are_given_back_let_no_more_through() -> None:
    source = random.Random(23)
    assert sum(series(source, trials=12) for _ in range(150)) / 150 <= SHARE
