"""One look at all cases: exact, and as sharp as the sign test."""

import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]

from whet.evidence.betting import tail
from whet.evidence.verdicts import Ruling, judge_once


@pytest.mark.parametrize(("wins", "losses", "ties"), [(9, 1, 40), (12, 4, 34), (60, 41, 99), (120, 90, 390), (5, 0, 0)])
def test_with_one_seed_it_is_the_exact_sign_test(wins: int, losses: int, ties: int) -> None:
    differences = [1.0] * wins + [-1.0] * losses + [0.0] * ties
    chance = binomtest(wins, wins + losses, alternative="greater").pvalue
    assert tail(differences).reached == pytest.approx(chance)
    assert (judge_once(differences, alpha=0.05).ruling is Ruling.ACCEPT) == (chance <= 0.05)


def test_a_large_experiment_of_one_seed_is_counted_too() -> None:
    assert judge_once([1.0] * 1_100 + [-1.0] * 900 + [0.0] * 3_000).ruling is Ruling.ACCEPT


def test_several_seeds_are_counted_as_they_are() -> None:
    assert judge_once([2 / 3] * 8 + [-1 / 3] * 3 + [0.0] * 39).ruling is Ruling.ACCEPT
    assert judge_once([-2 / 3] * 8 + [1 / 3] * 3 + [0.0] * 39).ruling is Ruling.REJECT
    assert judge_once([1 / 3] * 3 + [-1 / 3] * 3).ruling is Ruling.UNDECIDED
    assert judge_once([]).ruling is Ruling.UNDECIDED
