"""A verdict follows from its evidence, and from nothing else."""

import random
import subprocess
import sys
from collections.abc import Iterable
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evidence.betting import MOST_LOOKED, aimed, constant
from whet.evidence.verdicts import FRESH, Capital, Ruling, fixed_order, judge, record_of, way

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
@given(DIFFERENCES, PLANS, st.booleans(), st.sampled_from([1.0, 2.0]))
def test_the_way_of_the_evidence_ends_at_the_verdict(
    differences: list[float], planned: int | None, is_over: bool, before: float
) -> None:
    start = Capital(before) if planned else FRESH
    verdict = judge(differences, planned=planned, before=start, is_over=is_over)
    walked = way(differences, verdict, planned=planned, before=start)
    assert walked[-1] == verdict.evidence_help
    goal = 1 / verdict.alpha
    if planned:
        assert all(each < goal for each in walked[:-1]), "it ends where it was enough"
    if verdict.ruling is Ruling.ACCEPT and planned:
        assert len(walked) == verdict.stopped_at
    if verdict.ruling is Ruling.UNDECIDED:
        assert len(walked) == len(differences)


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
    for planned in (None, 10):
        verdict = judge([], planned=planned)
        assert (verdict.ruling, verdict.stopped_at) == (Ruling.UNDECIDED, None)
        assert (verdict.evidence_help, verdict.evidence_harm) == pytest.approx((1.0, 1.0))
        assert verdict.interval == (-1.0, 1.0)


def test_a_plan_decides_what_no_plan_leaves_open() -> None:
    differences = [1 / 3, 0.0, 0.0, -1 / 3, 0.0, 1 / 3, 0.0, 1 / 3, 0.0, 0.0] * 7
    assert judge(differences).ruling is Ruling.UNDECIDED
    assert judge(differences, planned=70).ruling is Ruling.ACCEPT


def test_overwhelming_evidence_is_a_number() -> None:
    assert judge([1.0] * 5000).evidence_help == pytest.approx(1e300)


def test_the_fixed_order_is_the_same_in_every_process_and_mixes() -> None:
    cases = [f"case-{number}" for number in range(50)]
    command = "import sys; from whet.evidence.verdicts import fixed_order; print(*fixed_order(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", command, *reversed(cases)], capture_output=True, check=True, text=True)
    assert done.stdout.split() == fixed_order(cases)
    assert fixed_order(cases) != cases


def first_at(capitals: Iterable[float], goal: float) -> int | None:
    return next((done for done, capital in enumerate(capitals, start=1) if capital >= goal), None)


@given(st.lists(st.sampled_from([-1.0, -1 / 3, 0.0, 1.0]), min_size=1, max_size=40), st.sampled_from([0.05, 0.2, 0.4]))
def test_a_verdict_says_when_its_evidence_was_enough(differences: list[float], alpha: float) -> None:
    verdict = judge(differences, alpha=alpha)
    sign = -1 if verdict.ruling is Ruling.REJECT else 1
    if verdict.ruling is not Ruling.UNDECIDED:
        assert verdict.stopped_at == first_at(constant(sign * each for each in differences), 1 / alpha)
    many = MOST_LOOKED + 30
    planned, goal = judge(differences, alpha=alpha, planned=many), 1 / alpha
    helped, harmed = (
        first_at(aimed([sign * each for each in differences], planned=many, goal=goal), goal) for sign in (1, -1)
    )
    assert planned.stopped_at == min((each for each in (helped, harmed) if each is not None), default=None)
    *_, last = islice(aimed(differences, planned=many, goal=goal), helped)
    assert planned.evidence_help == last


def test_the_case_that_brings_just_enough_is_the_one_that_decides() -> None:
    capitals = list(constant([1.0] * 20))
    on_the_bar = [(done, capital) for done, capital in enumerate(capitals, start=1) if 1 / (1 / capital) == capital > 2]
    assert on_the_bar
    for done, capital in on_the_bar:
        assert judge([1.0] * 30, alpha=1 / capital).stopped_at == done


def test_a_verdict_keeps_what_it_was_told_and_can_be_read_by_programs() -> None:
    verdict = judge([1.0, 0.0, 0.5], attempts=9, alpha=0.1)
    assert (verdict.attempts, verdict.alpha, verdict.cases, verdict.effect) == (9, 0.1, 3, 0.5)
    assert judge([1.0]).attempts == 0
    assert record_of(verdict) == {
        "verdict": "undecided", "effect": 0.5, "interval": [*verdict.interval], "cases": 3, "attempts": 9,
        "evidence_help": verdict.evidence_help, "evidence_harm": verdict.evidence_harm,
        "stopped_at": None, "alpha": 0.1, "helped": 2, "harmed": 0,
    }  # fmt: skip
    assert judge([1.0]).alpha == 0.05
