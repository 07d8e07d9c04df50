"""What live sessions say of a template: fair under any shares, and not shielded by its past."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.examples.choosing import SHARES
from whet.trials.canaries import Observation, mirrored, moves_of
from whet.trials.live_templates import ALPHA, EPOCH_SESSIONS, LEAST_EFFECT, Judgement, epochs, judge, rule

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


def judged_at_every_look(observations: list[Observation]) -> Judgement:
    """The first judgement against it, with a look after every fortieth session; else the last."""
    found = Judgement.OPEN
    for count in range(40, len(observations) + 1, 40):
        found, _ = rule(observations[:count])
        if found in (Judgement.IDLE, Judgement.HARMS):
            return found
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


@given(st.integers(0, 2000), st.lists(st.integers(1, 2000), max_size=4))
def test_the_risks_of_all_who_ever_bet_are_never_more_than_one(count: int, ends: list[int]) -> None:
    lives = [epochs(end, [each for each in ends if each < end]) for end in (*sorted(set(ends)), count)]
    seen = {epoch for life in lives for epoch in life}
    assert len({epoch.number for epoch in seen}) == len(seen), "no two share a number"
    assert sum(epoch.alpha for epoch in seen) <= ALPHA


@given(st.integers(0, 1000), st.lists(st.integers(1, 1000), max_size=3))
def test_whoever_bets_began_after_the_last_end(count: int, ends: list[int]) -> None:
    past = [end for end in ends if end <= count]
    playing = epochs(count, ends)
    assert all(epoch.start >= max(past, default=0) for epoch in playing)
    assert bool(playing) is (count > max(past, default=0))


def mixed(number: int) -> float:
    return 0.5 if number % 300 < 150 else 0.9


def test_a_template_that_is_just_worth_its_tokens_is_seldom_retired_under_mixed_shares() -> None:
    found = [judged_at_every_look(live(seed, lambda _: LEAST_EFFECT, sessions=400, share=mixed)) for seed in range(40)]
    assert sum(each in (Judgement.IDLE, Judgement.HARMS) for each in found) <= 3 + 40 * ALPHA


def test_a_template_that_does_nothing_is_seldom_praised_and_not_said_to_harm() -> None:
    found = [judged_at_every_look(live(seed, lambda _: 0.0, sessions=400, share=mixed)) for seed in range(40)]
    assert sum(each in (Judgement.HELPS, Judgement.HARMS) for each in found) <= 3 + 2 * 40 * ALPHA


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_what_harms_is_said_to_harm_and_what_helps_to_help(share: float) -> None:
    harm = judge(live(1, lambda _: -0.4, sessions=600, share=lambda _: share))
    assert harm.judgement is Judgement.HARMS
    assert harm.comparison.interval.high < 0
    help_ = judge(live(2, lambda _: 0.35, sessions=600, share=lambda _: share))
    assert help_.judgement is Judgement.HELPS
    assert help_.comparison.interval.low > 0


def test_what_helped_earlier_does_not_shield_what_harms_now() -> None:
    observed = live(3, lambda number: 0.35 if number < 400 else -0.3, sessions=620)
    assert judge(observed[:400]).judgement is Judgement.HELPS
    found = judge(observed)
    assert found.judgement is Judgement.HARMS
    assert found.epoch > 1, "whoever bet from the beginning still pays for the good times"
    assert rule(observed, length=10_000)[0] is not Judgement.HARMS


def test_what_does_nothing_is_called_idle_in_the_end() -> None:
    found = judge(live(4, lambda _: 0.0, sessions=2500))
    assert found.judgement is Judgement.IDLE
    assert found.comparison.interval.high <= LEAST_EFFECT + 1e-6


def test_praise_wants_fresh_sessions() -> None:
    observed = live(5, lambda number: 0.35 if number < 300 else 0.12, sessions=400)
    assert judge(observed).judgement is Judgement.HELPS
    assert judge(observed, fresh=300).judgement is Judgement.OPEN


def test_after_a_verdict_everything_begins_anew_and_costs_more() -> None:
    observed = live(6, lambda _: -0.4, sessions=200)
    assert judge(observed).judgement is Judgement.HARMS
    assert judge(observed, [200]).judgement is Judgement.OPEN
    assert judge(observed, [200]).comparison.told == 0
    [epoch] = epochs(201, [200])
    assert epoch.number == 200 // EPOCH_SESSIONS + 1
