"""Canaries: draws that nobody chose, and evidence that may be looked at after every session."""

import random
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.folding import fold
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.transcripts import RecordedCheck
from whet.sessions.trust import Trust
from whet.trials.canaries import (
    ALPHA,
    CanaryMove,
    Decided,
    Observation,
    compare,
    decide,
    is_told,
    loss_of,
    moves_of,
    replaced_by,
    told_rules,
)

LOSSES = st.floats(0, 1)
SHARES = st.floats(0.05, 0.95)
OBSERVED = st.lists(st.builds(Observation, st.booleans(), LOSSES, SHARES), max_size=40)


def live(rule: int, *, told: float, untold: float, sessions: int, share: float = 0.5) -> list[Observation]:
    chance = random.Random(rule)
    draws = [is_told(f"rule-{rule}", f"session-{number}", share) for number in range(sessions)]
    return [Observation(draw, float(chance.random() < (told if draw else untold)), share) for draw in draws]


def decided(observations: list[Observation]) -> Decided:
    return decide(moves_of(observations))


def test_all_of_a_hundred_harmful_rules_are_reverted() -> None:
    found = [decided(live(rule, told=0.6, untold=0.3, sessions=600)) for rule in range(100)]
    assert [each.decision for each in found] == [CanaryMove.REVERT] * 100
    assert sorted(each.at or 0 for each in found)[50] < 120, "half of them within so many sessions"


def test_of_a_hundred_rules_that_do_nothing_at_most_five_are_touched() -> None:
    found = [decided(live(rule, told=0.3, untold=0.3, sessions=600)) for rule in range(100)]
    assert sum(each.decision is not CanaryMove.WAIT for each in found) <= 5


def test_a_rule_that_clearly_helps_is_promoted() -> None:
    found = compare(live(1, told=0.1, untold=0.5, sessions=300))
    assert found.decision is CanaryMove.PROMOTE
    assert found.evidence_help >= 1 / ALPHA > found.evidence_harm
    assert found.interval.low > 0


@given(OBSERVED, LOSSES, SHARES)
def test_if_the_rule_does_nothing_the_next_move_is_worth_nothing(
    before: list[Observation], loss: float, share: float
) -> None:
    """Whatever went before and however the next session goes, the draw alone decides whom its outcome counts for."""
    either = [list(moves_of([*before, Observation(told, loss, share)]))[-1] for told in (True, False)]
    mean = Fraction(share) * Fraction(either[0]) + (1 - Fraction(share)) * Fraction(either[1])
    assert abs(float(mean)) < 1e-12
    assert all(-1 <= move <= 1 for move in either)


@given(OBSERVED)
def test_what_is_decided_once_stays_decided(observed: list[Observation]) -> None:
    moves = list(moves_of(observed))
    decisions = [decide(moves[:count], alpha=0.3).decision for count in range(len(moves) + 1)]
    for earlier, later in pairwise(decisions):
        assert earlier is CanaryMove.WAIT or earlier is later


@given(st.text(min_size=1), st.text(), SHARES)
def test_a_draw_is_always_the_same_and_grows_with_the_share(canary: str, unit: str, share: float) -> None:
    assert is_told(canary, unit, share) is is_told(canary, unit, share)
    assert is_told(canary, unit, 1.0)
    assert not is_told(canary, unit, 0.0)
    assert is_told(canary, unit, share) <= is_told(canary, unit, min(1.0, share + 0.1))


def test_draws_keep_to_the_share_and_differ_between_rules() -> None:
    units = [f"session-{number}" for number in range(4000)]
    first, second = ([is_told(rule, unit, 0.3) for unit in units] for rule in ("a", "b"))
    assert abs(sum(first) / 4000 - 0.3) < 0.04
    both = sum(one and other for one, other in zip(first, second, strict=True))
    assert abs(both / 4000 - 0.09) < 0.03


def entry(number: int, patch: Patch, step: Step, share: float = 0.0) -> Entry:
    return Entry(number, step, patch, Actor.PERSON, 1.0, patch.before, patch.after, share=share)


def told(entries: list[Entry], unit: str) -> list[str]:
    state = fold(entries)
    return [item.text for item in told_rules(state.rules, replaced_by(state), unit)]


def test_who_is_not_told_of_a_changed_rule_keeps_the_old_one() -> None:
    old = Patch(Form.RULE, Action.ADD, "answers", "Answer briefly.", trust=Trust.USER)
    new = Patch(Form.RULE, Action.CHANGE, "answers", "Answer in a table.", trust=Trust.USER, before=digest(old.text))
    entries = [entry(1, old, Step.APPLIED), entry(2, new, Step.CANARY, 0.5)]
    assert {told(entries, f"session-{number}")[0] for number in range(40)} == {"Answer briefly.", "Answer in a table."}
    assert told(entries, "") == ["Answer briefly."], "nothing is drawn for nobody"


def test_a_new_rule_is_told_to_its_share_alone() -> None:
    new = Patch(Form.RULE, Action.ADD, "tables", "Answer in a table.", trust=Trust.USER)
    entries = [entry(1, new, Step.CANARY, 0.25)]
    share = sum(bool(told(entries, f"session-{number}")) for number in range(1000)) / 1000
    assert 0.2 < share < 0.3
    assert told(entries, "") == []


def test_a_check_outranks_the_signs_of_failure() -> None:
    assert loss_of(0.9, ()) == 0.9
    assert loss_of(0.9, [RecordedCheck("tests", passed=True)]) == 0.0
    assert loss_of(0.1, [RecordedCheck("tests", passed=False), RecordedCheck("score", score=0.5)]) == 0.75
    assert loss_of(0.4, [RecordedCheck("points", score=17.0)]) == 0.4, "no share of anything that is known"
