"""Checks, cases and canaries at their bounds."""

import pytest

from whet.trials.canaries import Observation, compare
from whet.trials.cases import Case
from whet.trials.checks import CallDemand, Check, FileDemand, FinishedRun, mark
from whet.trials.draws import RANGE, is_told


@pytest.mark.parametrize(("held", "passed"), [(None, True), ("text", False), ("", False)])
def test_a_file_that_must_not_be_there(held: str | None, passed: bool) -> None:
    check = Check(files={"a.txt": FileDemand(absent=True)})
    found = mark(check, FinishedRun((), files={"a.txt": held}))
    assert found.passed is passed
    assert found.why == ("" if passed else "a.txt is there")


def test_a_demand_asks_for_nothing_that_was_not_said() -> None:
    assert CallDemand().valid is False
    assert Case(task="Do it.", check=Check(command="true")).guard is False


def test_the_key_of_a_case_is_that_of_its_content() -> None:
    case = Case(task="Do it.", check=Check(command="true"), name="one")
    same = Case(task="Do it.", check=Check(command="true"), name="two", tags=("x",), guard=True)
    other = Case(task="Do that.", check=Check(command="true"), name="one")
    assert case.key == same.key != other.key
    assert len(case.key) == 16


def test_a_share_of_nothing_tells_nobody_and_a_whole_one_everybody() -> None:
    units = [str(number) for number in range(300)]
    assert not any(is_told("c", unit, 0.0) for unit in units)
    assert all(is_told("c", unit, 1.0) for unit in units)
    assert 100 < sum(is_told("c", unit, 0.5) for unit in units) < 200
    assert RANGE == 256.0**8


def observations(told_loss: float, untold_loss: float, count: int) -> list[Observation]:
    return [Observation(place % 2 == 0, told_loss if place % 2 == 0 else untold_loss) for place in range(count)]


def test_a_comparison_counts_each_side_and_measures_what_was_saved() -> None:
    found = compare([*observations(0.2, 0.6, 20), Observation(True, 0.2)])
    assert (found.told, found.untold) == (11, 10)
    assert found.loss_told == pytest.approx(0.2)
    assert found.loss_untold == pytest.approx(0.6)
    assert found.effect == pytest.approx(0.4)
    assert found.interval.low <= 0.4 <= found.interval.high


def test_what_lies_before_only_tells_what_was_usual() -> None:
    found = compare(observations(0.2, 0.6, 20), since=10)
    assert (found.told, found.untold) == (5, 5)


def test_the_effect_is_the_mean_over_shares_by_their_weight() -> None:
    one = [Observation(True, 0.0, 0.5), Observation(False, 1.0, 0.5)]
    other = [Observation(True, 0.5, 0.2), *(Observation(False, 0.5, 0.2) for _ in range(3))]
    weights = (1 * 1 / 2, 1 * 3 / 4)
    assert compare([*one, *other]).effect == pytest.approx((1.0 * weights[0] + 0.0 * weights[1]) / sum(weights))


def test_more_of_the_same_makes_the_interval_narrower_and_a_smaller_risk_wider() -> None:
    few, many = compare(observations(0.1, 0.9, 20)), compare(observations(0.1, 0.9, 200))
    assert many.interval.low > few.interval.low
    strict = compare(observations(0.1, 0.9, 200), alpha=0.0001)
    assert strict.interval.low < many.interval.low
