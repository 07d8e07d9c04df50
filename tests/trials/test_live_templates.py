"""What live sessions say of a template: fair under any shares, and not shielded by its past."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.lessons.rungs import CanaryMove, LiveComparison
from whet.own.examples.templates import SHARES
from whet.trials.canaries import LEAST_EFFECT, Observation, judge_template, mirrored, moves_of

LOSSES = st.floats(0, 1)
DRAWS = st.sampled_from(sorted(SHARES.values()))
OBSERVED = st.lists(st.builds(Observation, st.booleans(), LOSSES, DRAWS), max_size=40)
EFFECTS = st.floats(-0.5, 0.5)


def live(
    seed: int, effect: Callable[[int], float], *, sessions: int, share: Callable[[int], float] = lambda _: 0.5
) -> list[Observation]:
    """Sessions of which 40 of a hundred fail without the template, and fewer with it by its effect."""
    chance = random.Random(seed)
    found: list[Observation] = []
    for number in range(sessions):
        told = chance.random() < share(number)
        found.append(Observation(told, float(chance.random() < 0.4 - effect(number) * told), share(number)))
    return found


def first_verdict(observations: list[Observation]) -> LiveComparison:
    """The first verdict, with a look after every hundredth session; else the last look."""
    looks = (judge_template(observations[:count]) for count in range(100, len(observations) + 1, 100))
    found = judge_template(())
    for found in looks:
        if found.decision is not CanaryMove.WAIT:
            break
    return found


@given(OBSERVED, LOSSES, DRAWS, EFFECTS)
def test_a_move_is_fair_under_its_own_share_at_the_effect_that_is_bet_against(
    before: list[Observation], loss: float, share: float, effect: float
) -> None:
    """The session fails more by `effect` where the template is not told; then neither side can expect a gain."""
    losses = {True: loss - effect, False: loss}
    for sides, supposed in ((lambda found: found, effect), (mirrored, -effect)):
        gains = {
            told: list(moves_of(sides([*before, Observation(told, losses[told], share)]), effect=supposed))[-1]
            for told in (True, False)
        }
        assert share * gains[True] + (1 - share) * gains[False] == pytest.approx(0, abs=1e-12)


@given(st.lists(st.builds(Observation, st.booleans(), LOSSES, DRAWS), min_size=1, max_size=40), EFFECTS)
def test_nobody_can_lose_more_than_they_have(observed: list[Observation], effect: float) -> None:
    assert all(move >= -1 - 1e-12 for move in moves_of(observed, effect=effect))


def mixed(number: int) -> float:
    return 0.5 if number % 300 < 150 else 0.9


def test_a_template_that_is_just_worth_its_tokens_is_seldom_retired_under_mixed_shares() -> None:
    found = [first_verdict(live(seed, lambda _: LEAST_EFFECT, sessions=400, share=mixed)) for seed in range(20)]
    assert sum(each.decision is CanaryMove.REVERT for each in found) <= 2


def test_a_template_that_does_nothing_is_seldom_praised() -> None:
    found = [first_verdict(live(seed, lambda _: 0.0, sessions=400, share=mixed)) for seed in range(20)]
    assert sum(each.decision is CanaryMove.PROMOTE for each in found) <= 2


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_what_harms_is_retired_and_what_helps_is_praised(share: float) -> None:
    harm = judge_template(live(1, lambda _: -0.4, sessions=600, share=lambda _: share))
    assert (harm.decision, harm.interval.high < 0) == (CanaryMove.REVERT, True)
    help_ = judge_template(live(2, lambda _: 0.35, sessions=600, share=lambda _: share))
    assert (help_.decision, help_.interval.low > 0) == (CanaryMove.PROMOTE, True)


def test_what_helped_before_the_last_verdict_does_not_shield_what_harms_now() -> None:
    observed = live(3, lambda number: 0.35 if number < 400 else -0.3, sessions=620)
    assert judge_template(observed[:400]).decision is CanaryMove.PROMOTE
    assert judge_template(observed, since=400).decision is CanaryMove.REVERT


def test_what_does_nothing_is_not_worth_its_tokens_in_the_end() -> None:
    found = judge_template(live(4, lambda _: 0.0, sessions=2500))
    assert found.decision is CanaryMove.REVERT
    assert 0 < found.interval.high < LEAST_EFFECT
