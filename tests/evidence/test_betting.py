"""The capital grows only when the mean is above the value: exactly, by going through every way, and by simulation."""

import math
import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gambles import Capitals, Gamble, centred, chance_of_reaching, mean_capital
from whet.evidence.betting import BETS, MOST_DISTINCT, aimed, constant, log_capital, tally
from whet.evidence.error_budget import alpha_for

CASES = 7
GOALS = (1.5, 3.0, 20.0, 60.0)
DIFFERENCES = st.lists(st.floats(-1, 1), min_size=1, max_size=40)
NULLS = {
    "dense": centred(1.0, -1.0, 0.0),
    "sparse": centred(1.0, -1.0, 0.9),
    "thirds": centred(1 / 3, -2 / 3, 0.4),
    "skewed, many small gains": centred(0.1, -0.9, 0.0),
    "skewed, few large gains": centred(0.9, -0.1, 0.0),
}


def aiming(goal: float, planned: int = CASES) -> Capitals:
    return lambda differences: aimed(differences, planned=planned, goal=goal)


@pytest.mark.parametrize("gamble", NULLS.values(), ids=NULLS)
@pytest.mark.parametrize("goal", GOALS)
def test_no_null_reaches_the_goal_more_often_than_it_may(gamble: Gamble, goal: float) -> None:
    for capitals in (constant, aiming(goal), aiming(goal, planned=4)):
        assert chance_of_reaching(goal, gamble, CASES, capitals) <= 1 / goal + 1e-12


@pytest.mark.parametrize("gamble", NULLS.values(), ids=NULLS)
def test_without_an_effect_the_mean_capital_stays_one(gamble: Gamble) -> None:
    for capitals in (constant, aiming(20.0), aiming(3.0, planned=4)):
        assert mean_capital(gamble, CASES, capitals) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=40)
@given(
    high=st.floats(0.01, 1),
    low=st.floats(-1, -0.01),
    still=st.floats(0, 0.99),
    goal=st.floats(1.1, 30),
    planned=st.integers(1, 8),
)
def test_no_gamble_with_mean_zero_is_an_exception(
    high: float, low: float, still: float, goal: float, planned: int
) -> None:
    gamble = centred(high, low, still)
    assert chance_of_reaching(goal, gamble, 5, aiming(goal, planned)) <= 1 / goal + 1e-12
    assert chance_of_reaching(goal, gamble, 5, constant) <= 1 / goal + 1e-12


@settings(max_examples=30)
@given(shift=st.floats(0, 0.5), mean=st.floats(-0.5, 0.5))
def test_a_mean_below_the_value_loses_on_average(shift: float, mean: float) -> None:
    centre = mean - shift / 2
    reach = min(0.4, 1 - abs(centre))
    gamble = Gamble((centre + reach, centre - reach), (0.5, 0.5))
    for capitals in (
        lambda differences: constant(differences, mean=mean),
        lambda differences: aimed(differences, planned=6, goal=20, mean=mean),
    ):
        assert mean_capital(gamble, 6, capitals) <= 1 + 1e-12


@given(DIFFERENCES)
def test_the_order_of_the_cases_does_not_move_constant_bets(differences: list[float]) -> None:
    *_, capital = constant(differences)
    assert math.exp(log_capital(tally(differences))) == pytest.approx(capital, rel=1e-6)
    *_, backwards = constant(differences[::-1])
    assert backwards == pytest.approx(capital, rel=1e-6)


def test_the_capital_is_the_weighted_product() -> None:
    differences = [1, -1 / 3, 0, 2 / 3, 0.25]
    expected = sum(weight * math.prod(1 + size * each for each in differences) for size, weight in BETS)
    assert log_capital(tally(differences)) == pytest.approx(math.log(expected))
    assert sum(weight for _, weight in BETS) == pytest.approx(1)


def test_a_million_distinct_differences_are_rounded_against_the_gambler() -> None:
    source = random.Random(3)
    differences = [source.uniform(-0.9, 1) for _ in range(3 * MOST_DISTINCT)]
    counted = tally(differences)
    assert len(counted) <= MOST_DISTINCT + 1
    exact = [math.log(weight) + sum(math.log1p(size * each) for each in differences) for size, weight in BETS]
    highest = max(exact)
    whole = highest + math.log(sum(math.exp(each - highest) for each in exact))
    assert whole - len(differences) / MOST_DISTINCT * 2 <= log_capital(counted) <= whole


def test_bets_look_at_earlier_cases_only() -> None:
    first, second = [0.2, -0.1, 0.4, 0.0, 1.0], [0.2, -0.1, 0.4, -1.0, -1.0]
    for capitals in (constant, aiming(20.0, planned=5)):
        assert list(capitals(first))[:3] == list(capitals(second))[:3]


def dependent_seeds(source: random.Random, cases: int) -> Iterator[float]:
    """Three seeds that mostly agree, on cases which the candidate moves up or down by chance."""
    for _ in range(cases):
        base, candidate = source.random(), source.random()
        yield sum((source.random() < candidate) - (source.random() < base) for _ in range(3)) / 3


def simulated(goal: float, rounds: int, cases: int) -> tuple[float, float]:
    source = random.Random(11)
    reached = [0, 0]
    for _ in range(rounds):
        differences: Sequence[float] = list(dependent_seeds(source, cases))
        for place, capitals in enumerate((constant, aiming(goal, planned=cases))):
            reached[place] += any(capital >= goal for capital in capitals(differences))
    return reached[0] / rounds, reached[1] / rounds


@pytest.mark.parametrize("goal", [20.0, 50.0])
def test_seeds_that_depend_on_each_other_do_no_harm(goal: float) -> None:
    rounds = 1500
    error = math.sqrt((1 - 1 / goal) / goal / rounds)
    for share in simulated(goal, rounds, cases=60):
        assert share <= 1 / goal + 3 * error


def test_a_clear_effect_is_found_before_the_plan_is_spent() -> None:
    differences = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0] * 6
    reached = [done for done, capital in enumerate(aimed(differences, planned=48, goal=20), start=1) if capital >= 20]
    assert reached
    assert reached[0] < 30


@pytest.mark.parametrize(("wins", "losses", "cases", "least"), [(18, 5, 40, 0.8), (20, 7, 48, 0.65), (8, 0, 48, 0.95)])
def test_the_order_of_a_short_trial_seldom_decides(wins: int, losses: int, cases: int, least: float) -> None:
    """At the rate of a first trial; the exact test would find each of these, had it one look at all cases."""
    source, goal, rounds = random.Random(2), 1 / alpha_for(()), 200
    outcomes = [1.0] * wins + [-1.0] * losses + [0.0] * (cases - wins - losses)
    drawn = [source.sample(outcomes, cases) for _ in range(rounds)]
    assert sum(max(aimed(one, planned=cases, goal=goal)) >= goal for one in drawn) / rounds >= least


def test_a_plan_that_is_spent_stops_the_bold_bets() -> None:
    differences = [0.0] * 5 + [1.0] * 20
    *_, over = aimed(differences, planned=5, goal=1e12)
    *_, steady = constant(differences)
    assert over == pytest.approx(0.9 + 0.1 * steady)


def sizes_and_weights() -> list[tuple[float, float]]:
    """Twenty bets from half a percent to 99 percent, each the same factor above the one before; weights to size^1.5."""
    factor = math.exp(math.log(0.99 / 0.005) / 19)
    sizes = [0.005 * factor**step for step in range(20)]
    total = math.fsum(math.sqrt(size) ** 3 for size in sizes)
    return [(size, math.sqrt(size) ** 3 / total) for size in sizes]


def test_the_bets_are_those_that_were_chosen() -> None:
    expected = sizes_and_weights()
    assert [part for bet in BETS for part in bet] == pytest.approx([part for bet in expected for part in bet])


def by_the_book(differences: Sequence[float], planned: int, goal: float, mean: float) -> Iterator[float]:
    """The aimed bets, written down from what is promised, without anything carried from case to case but the moves."""
    moves = [(difference - mean) / (1 + mean) for difference in differences]
    bold = 0.9
    for done, move in enumerate(moves):
        steady = 0.1 * sum(w * math.prod(1 + size * each for each in moves[:done]) for size, w in sizes_and_weights())
        square = (4 * 0.4 + sum(each**2 for each in moves[:done])) / (4 + done)
        if 0 < bold < goal - steady and done < planned:
            needed = 2 * math.log((goal - steady) / bold) / (square * (planned - done))
            bold *= 1 + min(1.0, needed**0.5) * move
        after = 0.1 * sum(
            w * math.prod(1 + size * each for each in moves[: done + 1]) for size, w in sizes_and_weights()
        )
        yield after + bold


@given(
    st.lists(st.sampled_from([-1.0, -1 / 3, 0.0, 0.5, 1.0]), min_size=1, max_size=12),
    st.integers(1, 14),
    st.sampled_from([2.0, 20.0, 300.0]),
    st.sampled_from([-0.3, 0.0, 0.2]),
)
def test_aimed_bets_are_what_the_book_says(differences: list[float], planned: int, goal: float, mean: float) -> None:
    found = list(aimed(differences, planned=planned, goal=goal, mean=mean))
    assert found == pytest.approx(list(by_the_book(differences, planned, goal, mean)))


def test_a_bold_gambler_who_lost_everything_bets_no_more() -> None:
    found = list(aimed([-1.0, 1.0, 1.0], planned=1, goal=1e9))
    assert found == pytest.approx([0.1 * capital for capital in constant([-1.0, 1.0, 1.0])])


def test_differences_are_rounded_down_only_where_there_are_very_many() -> None:
    assert MOST_DISTINCT == 4096
    few = [place / 5000 for place in range(-2000, 2096)]
    assert tally([*few, few[0]]) == {**dict.fromkeys(few, 1), few[0]: 2}
    many = [*few, 0.9999]
    rounded = sorted(tally(many).elements())
    assert len(rounded) == len(many)
    assert all(down <= exact < down + 1 / 2048 + 1e-12 for down, exact in zip(rounded, many, strict=True))
    assert all(2048 * down == int(2048 * down) for down in rounded)
