"""The bars of the gate, to the letter: the centring of bets, the first crossing, and the budget by brute force."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.betting import constant, log_capital, tally
from whet.evidence.error_budget import SHARE, Past, alpha_for, part
from whet.evidence.verdicts import ALPHA, Ruling, judge

means = st.floats(-0.5, 0.5)
moves = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), max_size=30)


@given(means)
def test_a_bet_on_a_mean_that_holds_wins_nothing_on_average(mean: float) -> None:
    chance = (1 + mean) / 2  # of +1, else -1: the mean is just what is bet against
    won = chance * math.exp(log_capital({1.0: 1}, mean=mean)) + (1 - chance) * math.exp(
        log_capital({-1.0: 1}, mean=mean)
    )
    assert won == pytest.approx(1.0)
    (up,), (down,) = constant([1.0], mean=mean), constant([-1.0], mean=mean)
    assert chance * up + (1 - chance) * down == pytest.approx(1.0)


@given(moves, means)
def test_counting_moves_and_walking_through_them_come_to_the_same(found: list[float], mean: float) -> None:
    walked = [1.0, *constant(found, mean=mean)][-1]
    assert math.exp(log_capital(tally(found), mean=mean)) == pytest.approx(walked, rel=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_verdict_names_the_case_at_which_the_bar_was_reached(sign: float) -> None:
    differences = [sign] * 40
    verdict = judge(differences)
    reached = next(n for n, capital in enumerate(constant([1.0] * 40), start=1) if capital >= 1 / ALPHA)
    assert verdict.ruling is (Ruling.ACCEPT if sign > 0 else Ruling.REJECT)
    assert verdict.stopped_at == reached


def test_evidence_that_is_just_enough_is_enough() -> None:
    for count in range(3, 40):
        evidence = judge([1.0] * count).evidence_help
        alpha = 1 / evidence
        if 1 / alpha == evidence:
            assert judge([1.0] * count, alpha=alpha).ruling is Ruling.ACCEPT
            return
    pytest.fail("no evidence could be put on the bar")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_of_two_crossings_the_first_decides(sign: float) -> None:
    differences = [sign] * 30 + [-sign] * 300
    verdict = judge(differences, planned=len(differences))
    assert verdict.ruling is (Ruling.ACCEPT if sign > 0 else Ruling.REJECT)
    assert verdict.stopped_at is not None
    assert verdict.stopped_at <= 30


def test_no_cases_say_nothing() -> None:
    verdict = judge([])
    assert (verdict.ruling, verdict.effect, verdict.attempts, verdict.cases) == (Ruling.UNDECIDED, 0.0, 0, 0)


def by_brute_force(past: list[Past]) -> float:
    """The rate at which no choice of useless trials among the accepted breaks the promise: every choice tried."""
    accepted = [place for place, trial in enumerate(past) if trial.accepted]
    owed = 1 / (SHARE * (len(accepted) + 1))
    rates = [ALPHA]
    for count in range(len(accepted) + 1):
        for useless in itertools.combinations(accepted, count):
            place, held = 0, 0.0
            for index, trial in enumerate(past):
                if trial.accepted and index not in useless:
                    continue
                place += 1
                held += part(place) * trial.evidence if trial.accepted else 0.0
            if held < (count + 1) * owed:
                rates.append(part(place + 1) / ((count + 1) * owed - held))
    return min(rates)


@given(st.lists(st.builds(Past, st.booleans(), st.floats(1, 500), left=st.just(0.0)), max_size=6))
def test_the_error_rate_of_the_next_trial_is_that_of_trying_every_choice(past: list[Past]) -> None:
    assert alpha_for(past) == pytest.approx(by_brute_force(past))
