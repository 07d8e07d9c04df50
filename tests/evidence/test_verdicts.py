"""A verdict follows from its evidence, and from nothing else."""

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evidence.verdicts import Ruling, fixed_order, judge

DIFFERENCES = st.lists(st.sampled_from([-1.0, -1 / 3, 0.0, 1 / 3, 1.0]), min_size=1, max_size=60)
PLANS = st.sampled_from([None, 60, 200])
OPPOSITE = {Ruling.ACCEPT: Ruling.REJECT, Ruling.REJECT: Ruling.ACCEPT, Ruling.UNDECIDED: Ruling.UNDECIDED}


@settings(max_examples=40)
@given(DIFFERENCES, PLANS, st.sampled_from([0.05, 0.019]))
def test_the_ruling_is_what_the_evidence_says(differences: list[float], planned: int | None, alpha: float) -> None:
    verdict = judge(differences, planned=planned, alpha=alpha)
    goal = 1 / verdict.alpha
    assert (verdict.ruling is Ruling.UNDECIDED) == (max(verdict.evidence_help, verdict.evidence_harm) < goal)
    assert (verdict.stopped_at is None) == (verdict.ruling is Ruling.UNDECIDED)
    if verdict.ruling is Ruling.ACCEPT:
        assert verdict.evidence_help >= goal
        assert verdict.interval.low >= -1e-6
    if verdict.ruling is Ruling.REJECT:
        assert verdict.evidence_harm >= goal
        assert verdict.interval.high <= 1e-6
    assert verdict.interval.low <= 1e-6 or verdict.evidence_help >= goal
    assert verdict.interval.high >= -1e-6 or verdict.evidence_harm >= goal


@settings(max_examples=40)
@given(DIFFERENCES, PLANS)
def test_swapping_the_arms_turns_the_verdict_round(differences: list[float], planned: int | None) -> None:
    verdict, swapped = (judge([sign * each for each in differences], planned=planned) for sign in (1, -1))
    assert swapped.ruling is OPPOSITE[verdict.ruling]
    assert swapped.evidence_help == verdict.evidence_harm
    assert swapped.effect == -verdict.effect


@settings(max_examples=40)
@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_without_a_plan_the_order_is_nothing(differences: list[float], source: random.Random) -> None:
    shuffled = source.sample(differences, len(differences))
    verdict, other = judge(differences), judge(shuffled)
    assert verdict.ruling is other.ruling
    assert verdict.effect == pytest.approx(other.effect)
    assert verdict.evidence_help == pytest.approx(other.evidence_help)


@settings(max_examples=40)
@given(DIFFERENCES, DIFFERENCES)
def test_a_planned_verdict_stays_when_more_cases_come(first: list[float], rest: list[float]) -> None:
    early = judge(first, planned=120)
    late = judge(first + rest, planned=120)
    if early.ruling is not Ruling.UNDECIDED:
        assert (late.ruling, late.stopped_at) == (early.ruling, early.stopped_at)


def test_equal_arms_are_undecided_for_ever() -> None:
    for planned in (None, 1000):
        verdict = judge([0.0] * 1000, planned=planned)
        assert verdict.ruling is Ruling.UNDECIDED
        assert verdict.effect == 0
        assert (verdict.evidence_help, verdict.evidence_harm) == pytest.approx((1.0, 1.0))


def test_no_cases_decide_nothing() -> None:
    assert judge([]).ruling is Ruling.UNDECIDED
    assert judge([], planned=10).ruling is Ruling.UNDECIDED


def test_a_plan_decides_what_no_plan_leaves_open() -> None:
    differences = [1 / 3, 0.0, 0.0, -1 / 3, 0.0, 1 / 3, 0.0, 1 / 3, 0.0, 0.0] * 7
    assert judge(differences).ruling is Ruling.UNDECIDED
    assert judge(differences, planned=70).ruling is Ruling.ACCEPT


def test_overwhelming_evidence_is_a_number() -> None:
    assert 1e200 < judge([1.0] * 5000).evidence_help < float("inf")


def test_the_fixed_order_is_the_same_in_every_process_and_mixes() -> None:
    cases = [f"case-{number}" for number in range(50)]
    command = "import sys; from whet.evidence.verdicts import fixed_order; print(*fixed_order(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", command, *reversed(cases)], capture_output=True, check=True, text=True)
    assert done.stdout.split() == fixed_order(cases)
    assert fixed_order(cases) != cases
