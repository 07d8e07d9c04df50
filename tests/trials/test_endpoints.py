"""A live trial by the rule's own failure: what decides, what counts, and what stops or reverts beside it."""

import random

from whet.lessons.rungs import CanaryMove
from whet.trials.canaries import EndpointVerdict, LiveUnit, judge_endpoint


def units(
    *, told: float = 0.05, untold: float = 0.35, number: int = 100, unchecked: tuple[float, float] = (0.1, 0.1)
) -> list[LiveUnit]:
    """Sessions in the situation, every second one told, with failures spread evenly; and as many outside it."""
    chance = random.Random("units")
    found: list[LiveUnit] = []
    for index in range(number):
        side = index % 2 == 0
        rate = told if side else untold
        failed = int((index // 2 + 1) * rate) > int((index // 2) * rate)
        lazy = chance.random() < unchecked[side]
        found.append(LiveUnit(side, 0.3, failed, False, lazy, 1000))
        found.append(LiveUnit(chance.random() < 0.5, 0.3, None, False, False, 1000))
    return found


def judged(found: list[LiveUnit]) -> EndpointVerdict:
    return judge_endpoint(found, share=0.5)


def test_fewer_of_its_own_failures_promote_and_only_sessions_in_its_situation_count() -> None:
    found = judged(units())
    assert found.comparison.decision is CanaryMove.PROMOTE
    assert found.held_by == ""
    assert found.comparison.told + found.comparison.untold == 100
    assert (found.comparison.loss_told or 0) < (found.comparison.loss_untold or 0)


def test_more_of_its_own_failures_revert() -> None:
    assert judged(units(told=0.35, untold=0.05)).comparison.decision is CanaryMove.REVERT


def test_a_rule_that_changes_nothing_waits() -> None:
    found = judged(units(told=0.2, untold=0.2))
    assert (found.comparison.decision, found.comparison.decided_at) == (CanaryMove.WAIT, None)


def test_a_guard_that_is_clearly_worse_stops_the_promotion() -> None:
    found = judged(units(unchecked=(0.05, 0.3)))
    assert found.comparison.decision is CanaryMove.WAIT
    assert found.held_by == "changes without a check"
    assert [guard.name for guard in found.guards if guard.stops] == ["changes without a check"]


def test_a_guard_with_more_evidence_reverts() -> None:
    found = judged(units(number=200, unchecked=(0.0, 1.0)))
    assert found.comparison.decision is CanaryMove.REVERT
    assert found.held_by == "changes without a check"


def test_more_tokens_are_seen_whatever_is_usual() -> None:
    plain = units(number=200)
    dear = [each._replace(tokens=5000 if each.told else 1000) for each in plain]
    assert judged(dear).held_by == "tokens"
    assert [guard.evidence_harm < 20 for guard in judged(plain).guards] == [True] * 4


def test_a_situation_that_comes_up_more_often_is_no_gain() -> None:
    """As many failures as without it, among many more sessions that went well because it asks for the call."""
    failing = [LiveUnit(index % 2 == 0, 0.3, True) for index in range(20)]
    going_well = [LiveUnit(index % 10 != 0, 0.3, False) for index in range(180)]
    mixed = [each for pair in zip(failing * 1, going_well[:20], strict=True) for each in pair] + going_well[20:]
    one_more = [LiveUnit(True, 0.3, True), *mixed]
    found = judged(one_more)
    assert found.comparison.decision is CanaryMove.WAIT
    assert "more often" in found.held_by


def test_what_was_not_measured_counts_for_no_guard() -> None:
    found = judged([LiveUnit(True, 0.2), LiveUnit(False, 0.2)])
    assert [guard.told for guard in found.guards] == [0.2, None, None, None]
    assert found.comparison.decision is CanaryMove.WAIT
