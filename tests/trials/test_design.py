"""Trials: a fixed order, arms that take turns, early stops, standing cases, and what the verdict rests on."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from whet.evidence.verdicts import Ruling
from whet.own.runs.run import Spent
from whet.text.words import estimate
from whet.trials.attempts import Arm, Attempt, AttemptConditions, Measures, TrialAgent, differences
from whet.trials.design import (
    Allowance,
    Trial,
    TrialDesign,
    TrialStop,
    cache_price,
    cases_in_order,
    is_affordable,
    waves,
)
from whet.trials.judging import is_needed, judged

NAMES = [f"case-{number}" for number in range(30)]


def made(case: str, arm: Arm, passed: bool, *, seed: int = 1, tokens: int = 10, reused: bool = False) -> Attempt:
    return Attempt(case, arm, seed, Measures(passed, spent=Spent(1, tokens, 0, seconds=1.0)), reused=reused)


def planned(cases: int = 30, guards: int = 0, *, seeds: int = 1, placebo: bool = True, **limits: float) -> Trial:
    standing = [f"guard-{number}" for number in range(guards)]
    allowance = Allowance(**limits)  # type: ignore[arg-type]
    return Trial("t", cases_in_order(NAMES[:cases], standing), TrialDesign(seeds, 0.05, placebo, allowance))


def carried_out(fixed: Trial, passes: dict[Arm, bool]) -> tuple[list[Attempt], TrialStop]:
    """Run a trial in which each arm always passes or always fails; standing cases pass in every arm."""
    attempts: list[Attempt] = []
    result = judged(fixed, attempts)
    for wave in waves(fixed):
        attempts += [
            made(place.case, place.arm, passes[place.arm] or place.case in fixed.cases.guards, seed=place.seed)
            for place in wave
            if is_needed(fixed, result, place)
        ]
        result = judged(fixed, attempts)
        if result.stop is not TrialStop.OPEN:
            break
    return attempts, result.stop


@given(st.integers(1, 30), st.integers(0, 9), st.integers(1, 4), st.booleans())
def test_every_case_is_tried_once_in_each_arm_with_each_seed(
    cases: int, guards: int, seeds: int, placebo: bool
) -> None:
    fixed = planned(cases, guards, seeds=seeds, placebo=placebo)
    places = [place for wave in waves(fixed) for place in wave]
    assert len(places) == len(set(places)) == (cases + guards) * seeds * len(fixed.design.arms)
    for wave in waves(fixed):
        whole = Counter(place.case for place in wave)
        assert set(whole.values()) == {seeds * len(fixed.design.arms)}, "a wave holds whole cases"


def test_the_arms_take_turns_at_being_first() -> None:
    first = Counter(wave[0].arm for wave in waves(planned(24)))
    assert set(first.values()) == {2}


def test_the_order_of_the_cases_is_not_the_persons() -> None:
    one, other = cases_in_order(NAMES, ()), cases_in_order(reversed(NAMES), ())
    assert one == other
    assert one.tried != tuple(NAMES)


def test_a_change_that_always_helps_is_accepted_long_before_the_last_case() -> None:
    attempts, stop = carried_out(planned(30), {Arm.BASE: False, Arm.CANDIDATE: True, Arm.PLACEBO: False})
    result = judged(planned(30), attempts)
    assert stop is TrialStop.EVIDENCE
    assert result.verdict.ruling is Ruling.ACCEPT
    assert len({attempt.case for attempt in attempts}) < 15
    assert result.lesson is not None
    assert result.form is not None
    assert (result.lesson.effect, result.form.effect) == (1.0, 0.0)


def test_what_a_placebo_gains_as_well_is_form_and_no_lesson_and_is_not_accepted() -> None:
    attempts, stop = carried_out(planned(30), {Arm.BASE: False, Arm.CANDIDATE: True, Arm.PLACEBO: True})
    result = judged(planned(30), attempts)
    assert (result.verdict.ruling, stop) == (Ruling.UNDECIDED, TrialStop.CASES)
    assert result.verdict.evidence_help >= 1 / result.verdict.alpha
    assert "placebo" in result.held_back
    assert result.lesson is not None
    assert result.form is not None
    assert (result.lesson.ruling, result.lesson.effect) == (Ruling.UNDECIDED, 0.0)
    assert result.form.effect == 1.0


def test_what_is_proved_against_the_base_goes_on_until_it_is_proved_against_the_placebo() -> None:
    fixed = planned(30)
    lucky = set(fixed.cases.tried[:6])  # in which the placebo does as well
    attempts = [
        made(place.case, place.arm, place.arm is Arm.CANDIDATE or (place.arm is Arm.PLACEBO and place.case in lucky))
        for wave in waves(fixed)
        for place in wave
    ]
    ways = [
        (place, judged(fixed, [each for each in attempts if each.case in fixed.cases.tried[:place]]))
        for place in range(5, 31, 5)
    ]
    proved = next(place for place, result in ways if result.verdict.stopped_at is not None)
    accepted = next(place for place, result in ways if result.verdict.ruling is Ruling.ACCEPT)
    assert proved < accepted
    assert next(result.stop for place, result in ways if place == proved) is TrialStop.OPEN


def test_when_the_allowance_is_spent_the_final_look_is_taken() -> None:
    fixed = planned(30, placebo=False, tokens=160)
    attempts = [made(case, arm, arm is Arm.CANDIDATE) for case in fixed.cases.tried[:8] for arm in fixed.design.arms]
    result = judged(fixed, attempts)
    assert result.verdict.ruling is Ruling.ACCEPT, "8 of 8 are enough at the end"
    assert (
        judged(replace(fixed, design=replace(fixed.design, allowance=Allowance())), attempts).verdict.ruling
        is Ruling.UNDECIDED
    )


def test_a_change_that_harms_is_rejected() -> None:
    attempts, stop = carried_out(planned(30), {Arm.BASE: True, Arm.CANDIDATE: False, Arm.PLACEBO: True})
    assert stop is TrialStop.EVIDENCE
    assert judged(planned(30), attempts).verdict.ruling is Ruling.REJECT


def test_cases_without_a_difference_decide_nothing_and_are_called_useless() -> None:
    attempts, stop = carried_out(planned(12), dict.fromkeys(Arm, True))
    result = judged(planned(12), attempts)
    assert stop is TrialStop.CASES
    assert result.verdict.ruling is Ruling.UNDECIDED
    assert set(result.always) == set(NAMES[:12])
    never = judged(planned(1), [made("case-0", arm, False) for arm in Arm])
    assert (never.always, never.never) == ((), ("case-0",))


def test_equal_arms_are_seldom_called_different() -> None:
    draw = random.Random(7)
    wrong = 0
    for _ in range(200):
        fixed = planned(30, placebo=False)
        attempts: list[Attempt] = []
        for wave in waves(fixed):
            attempts += [made(place.case, place.arm, draw.random() < 0.5) for place in wave]
            if judged(fixed, attempts).stop is not TrialStop.OPEN:
                break
        wrong += judged(fixed, attempts).verdict.ruling is not Ruling.UNDECIDED
    assert wrong <= 20, "each side is wrong with a chance of at most 5 %"


def test_standing_cases_are_all_run_before_an_acceptance_counts() -> None:
    fixed = planned(30, guards=9)
    attempts, stop = carried_out(fixed, {Arm.BASE: False, Arm.CANDIDATE: True, Arm.PLACEBO: False})
    assert stop is TrialStop.EVIDENCE
    assert set(fixed.cases.guards) <= {attempt.case for attempt in attempts}
    assert len({attempt.case for attempt in attempts} - set(fixed.cases.guards)) < 20
    assert judged(fixed, attempts).verdict.ruling is Ruling.ACCEPT


def test_harm_on_standing_cases_takes_an_acceptance_away() -> None:
    fixed = planned(12, guards=12, placebo=False)
    helped = [made(case, arm, arm is Arm.CANDIDATE) for case in fixed.cases.tried for arm in fixed.design.arms]
    harmed = [made(case, arm, arm is Arm.BASE) for case in fixed.cases.guards for arm in fixed.design.arms]
    assert judged(fixed, [*helped, *harmed]).verdict.ruling is Ruling.REJECT
    some = [
        made(case, arm, arm is Arm.BASE or case != fixed.cases.guards[0])
        for case in fixed.cases.guards
        for arm in fixed.design.arms
    ]
    few = planned(12, guards=3, placebo=False)
    result = judged(few, [*helped, *(each for each in some if each.case in few.cases.guards)])
    fell = any(not each.measures.passed for each in some if each.case in few.cases.guards)
    assert (result.verdict.ruling is Ruling.UNDECIDED) == fell == bool(result.held_back)


def test_what_standing_cases_cost_more_takes_an_acceptance_away() -> None:
    fixed = planned(12, guards=3, placebo=False)
    helped = [made(case, arm, arm is Arm.CANDIDATE) for case in fixed.cases.tried for arm in fixed.design.arms]
    dear = [
        made(case, arm, True, tokens=10 if arm is Arm.BASE else 20)
        for case in fixed.cases.guards
        for arm in fixed.design.arms
    ]
    alike = [made(case, arm, True) for case in fixed.cases.guards for arm in fixed.design.arms]
    assert judged(fixed, [*helped, *alike]).verdict.ruling is Ruling.ACCEPT
    result = judged(fixed, [*helped, *dear])
    assert result.verdict.ruling is Ruling.UNDECIDED
    assert result.held_back == "the standing cases take 2.0 times the tokens"
    first_done = [replace(each, measures=replace(each.measures, passed=each.arm is Arm.CANDIDATE)) for each in dear]
    assert judged(fixed, [*helped, *first_done]).verdict.ruling is Ruling.ACCEPT, "giving up early costs less"


def test_a_trial_ends_with_its_budget() -> None:
    fixed = planned(30, tokens=100)
    attempts, stop = carried_out(fixed, dict.fromkeys(Arm, True))
    assert stop is TrialStop.BUDGET
    assert len(attempts) < 20


def test_what_was_paid_in_another_trial_costs_nothing_in_this_one() -> None:
    fixed = planned(4)
    attempts = [
        made(case, arm, True, reused=arm is Arm.BASE) for case in fixed.cases.tried for arm in fixed.design.arms
    ]
    result = judged(fixed, attempts)
    assert (result.spent.input, result.reused) == (80, 4)


def test_a_placebo_is_left_out_where_the_budget_is_too_small() -> None:
    assert is_affordable(replace(planned(10, tokens=10_000), of_one=Spent(input=100)))
    assert not is_affordable(replace(planned(10, tokens=1_000), of_one=Spent(input=100)))


def test_invalid_attempts_count_for_neither_arm() -> None:
    base, lost = made("a", Arm.BASE, True), Attempt("a", Arm.CANDIDATE, 1, Measures(False), invalid="no network")
    assert differences([base, lost], ["a"], arm=Arm.CANDIDATE, against=Arm.BASE) == []
    result = judged(planned(1), [base, lost])
    assert (result.invalid, result.invalid_why) == (1, "no network")
    assert [each.invalid for each in result.tallies] == [0, 1, 0]


def test_a_trial_of_which_most_attempts_are_invalid_is_undecided() -> None:
    fixed = planned(30)
    attempts, _ = carried_out(fixed, {Arm.BASE: False, Arm.CANDIDATE: True, Arm.PLACEBO: False})
    assert judged(fixed, attempts).verdict.ruling is Ruling.ACCEPT
    lost = [Attempt(each.case, each.arm, 9, Measures(False), invalid="no login") for each in attempts]
    result = judged(fixed, [*attempts, *lost, *lost[:1]])
    assert (result.stop, result.verdict.ruling) == (TrialStop.INVALID, Ruling.UNDECIDED)
    assert result.held_back == f"{len(lost) + 1} of {2 * len(lost) + 1} attempts were invalid: no login"


def test_a_trial_ends_when_its_agent_changes() -> None:
    agent = TrialAgent("claude", "2.1.1", "sonnet")
    fixed = replace(planned(30), conditions=AttemptConditions(agent=agent))
    attempts, _ = carried_out(fixed, {Arm.BASE: False, Arm.CANDIDATE: True, Arm.PLACEBO: False})
    recorded = replace(agent, model="claude-sonnet-4-5")
    as_recorded = [replace(each, agent=recorded) for each in attempts]
    assert judged(fixed, as_recorded).stop is TrialStop.EVIDENCE, "sonnet is what the person calls it"
    for change, words in (
        ({"version": "2.1.2"}, "the version of claude changed from 2.1.1 to 2.1.2"),
        ({"model": "claude-opus-4-5"}, "the model of claude changed from claude-sonnet-4-5 to claude-opus-4-5"),
    ):
        last = replace(as_recorded[-1], agent=replace(recorded, **change))
        result = judged(fixed, [*as_recorded[:-1], last])
        assert (result.stop, result.verdict.ruling, result.held_back) == (
            TrialStop.CHANGED, Ruling.UNDECIDED, words,
        )  # fmt: skip


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_a_difference_is_the_mean_over_the_seeds(pairs: list[tuple[bool, bool]]) -> None:
    attempts = [
        made("a", arm, passed, seed=seed)
        for seed, pair in enumerate(pairs)
        for arm, passed in zip((Arm.BASE, Arm.CANDIDATE), pair, strict=True)
    ]
    [found] = differences(attempts, ["a"], arm=Arm.CANDIDATE, against=Arm.BASE)
    assert abs(found - sum(with_ - without for without, with_ in pairs) / len(pairs)) < 1e-9


@given(st.text("ab ", max_size=60), st.text("ab ", max_size=60), st.text("cd ", min_size=1, max_size=60))
def test_the_cache_price_is_what_stands_behind_the_changed_place(before: str, after: str, added: str) -> None:
    price = cache_price(before + after, before + added + after)
    assert price.invalidated <= estimate(after) + 1
    assert abs(price.added - estimate(added)) <= 1
    assert cache_price(before, before).invalidated == 0
