"""Ideas and what becomes of them: what was decided stays decided, and what was measured is said of one model."""

import pytest
from msgspec.structs import replace

from whet.evidence.intervals import Interval
from whet.evidence.verdicts import Ruling, judge
from whet.ledger.entries import Actor, Entry, Item, Step
from whet.ledger.patches import Action, Form, Patch, Scope, digest
from whet.sessions.trust import Trust
from whet.trials.improvements import MARGIN, decided, retires, without

RULE = Patch(Form.RULE, Action.ADD, "tidy", "Remove unused imports.", trust=Trust.AGENT)
OF_EARLIER_VERSIONS = replace(RULE, scope=Scope(("small",)))


def entry(step: Step, patch: Patch = RULE, at: float = 10.0) -> Entry:
    return Entry(1, step, patch, Actor.POLICY, at)


@pytest.mark.parametrize("step", [Step.REJECTED, Step.REVERTED, Step.REFUSED, Step.CANARY, Step.APPLIED, Step.PROPOSED])
def test_what_was_decided_is_not_tried_again_under_another_name(step: Step) -> None:
    assert decided(replace(RULE, name="other"), [entry(step)], latest=99.0)
    assert not decided(replace(RULE, text="Remove dead code."), [entry(step)], latest=99.0)


def test_what_was_undecided_is_tried_again_when_more_was_seen() -> None:
    assert decided(RULE, [entry(Step.UNDECIDED)], latest=9.0)
    assert not decided(RULE, [entry(Step.UNDECIDED)], latest=11.0)


def test_a_verdict_on_one_model_binds_no_other() -> None:
    rejected = replace(entry(Step.REJECTED), tried_on="small")
    assert not decided(RULE, [rejected], latest=99.0, models=frozenset({"large", "local/large"}))
    assert decided(RULE, [rejected], latest=99.0, models=frozenset({"small", "local/small"}))


def test_what_a_person_decided_binds_every_model() -> None:
    refused = entry(Step.REFUSED, OF_EARLIER_VERSIONS)
    assert decided(RULE, [refused], latest=99.0, models=frozenset({"large"}))


def test_leaving_a_rule_out_is_a_change_like_any_other() -> None:
    patch = without(Item(Form.RULE, "tidy", RULE.text, trust=Trust.OPERATOR, number=3))
    assert (patch.action, patch.before, patch.trust) == (Action.REMOVE, digest(RULE.text), Trust.AGENT)


def test_a_rule_goes_when_that_helps_or_surely_loses_next_to_nothing() -> None:
    unsure = judge([0.0] * 5, planned=5)
    assert unsure.ruling is Ruling.UNDECIDED
    assert not retires(unsure), "five cases cannot rule out a loss"
    assert retires(replace(unsure, interval=Interval(-MARGIN / 2, 0.1)))
    assert retires(judge([1.0] * 30))
    assert not retires(judge([-1.0] * 30))
