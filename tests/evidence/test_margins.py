"""No worse by more than a margin: with the error rate that is stated, at any look."""

import random

import pytest

from whet.evidence.verdicts import Ruling, Verdict, cases_to_show, judge, way, within_margin

ALPHA, MARGIN, CASES = 0.05, 0.2, 40
EXPERIMENTS = 400
UNDECIDED = judge([], planned=CASES)


def drawn(chance: random.Random, loss: float) -> list[float]:
    """Differences of one experiment: with it nine of ten cases pass, without it so many fewer."""
    return [(chance.random() < 0.9 - loss) - (chance.random() < 0.9) for _ in range(CASES)]


def no_worse(differences: list[float], *, margin: float = MARGIN, planned: int = CASES) -> Verdict:
    return within_margin(UNDECIDED, differences, margin, planned=planned)


def accepted(loss: float, seed: int) -> float:
    chance = random.Random(seed)
    return sum(no_worse(drawn(chance, loss)).ruling is Ruling.ACCEPT for _ in range(EXPERIMENTS)) / EXPERIMENTS


def test_what_costs_just_the_margin_is_seldom_called_harmless_however_often_one_looks() -> None:
    assert accepted(MARGIN, 1) <= ALPHA + 0.03  # with the spread of so many experiments
    assert accepted(0.0, 2) > 0.5


@pytest.mark.parametrize("margin", [0.05, 0.1, 0.25])
def test_so_many_cases_that_end_alike_are_enough_and_one_fewer_is_not(margin: float) -> None:
    least = cases_to_show(margin, ALPHA)
    assert no_worse([0.0] * least, margin=margin, planned=least).stopped_at == least
    assert no_worse([0.0] * (least - 1), margin=margin, planned=least - 1).ruling is Ruling.UNDECIDED


def test_a_verdict_with_a_margin_accepts_what_does_nothing_and_rejects_what_is_needed() -> None:
    same, worse = [0.0] * CASES, [-1.0] * CASES
    plain = judge(same, planned=CASES)
    assert plain.ruling is Ruling.UNDECIDED
    verdict = within_margin(plain, same, MARGIN, planned=CASES)
    assert (verdict.ruling, verdict.margin) == (Ruling.ACCEPT, MARGIN)
    assert verdict.interval.low >= -MARGIN
    assert verdict.evidence_help >= 1 / ALPHA
    assert way(same, verdict, planned=CASES)[-1] == verdict.evidence_help
    assert within_margin(judge(worse, planned=CASES), worse, MARGIN, planned=CASES).ruling is Ruling.REJECT


def test_without_cases_there_is_no_evidence() -> None:
    assert no_worse([]).evidence_help == 1.0
