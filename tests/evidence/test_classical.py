"""The customary figures are those of scipy and statsmodels."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats  # type: ignore[import-untyped]
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from whet.evidence.betting import mcnemar
from whet.evidence.intervals import bootstrap, wilson


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_exact(wins: int, losses: int) -> None:
    theirs = their_mcnemar([[7, wins], [losses, 9]], exact=True).pvalue if wins + losses else 1.0
    assert mcnemar(wins, losses) == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    if wins + losses:
        assert mcnemar(wins, losses) == pytest.approx(scipy_stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


def test_mcnemar_bears_many_pairs() -> None:
    assert 0 < mcnemar(50_000, 50_400) < 1


@given(st.integers(1, 2000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_is_the_known_interval(counts: tuple[int, int]) -> None:
    passed, attempts = counts
    assert wilson(passed, attempts) == pytest.approx(proportion_confint(passed, attempts, method="wilson"), abs=1e-9)


def test_no_attempts_say_nothing() -> None:
    assert wilson(0, 0) == (0, 1)
    assert bootstrap([], seed=1) == (-1, 1)


def test_the_bootstrap_is_near_the_known_one() -> None:
    source = random.Random(2)
    differences = [source.choice([0.0, 0.0, 1 / 3, -1 / 3, 1.0]) for _ in range(150)]
    theirs = scipy_stats.bootstrap(
        (np.array(differences),), np.mean, method="percentile", n_resamples=4000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert bootstrap(differences, seed=4, rounds=4000) == pytest.approx((theirs.low, theirs.high), abs=0.008)


def test_the_bootstrap_is_the_same_for_the_same_seed() -> None:
    differences = [0.0, 1.0, -1.0, 0.5, 0.25]
    assert bootstrap(differences, seed=7) == bootstrap(differences, seed=7)
    assert bootstrap(differences, seed=7) != bootstrap(differences, seed=8)
