"""Canaries: draws that nobody chose, and evidence that may be looked at after every session."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.betting import log_capital, tally
from whet.ledger.entries import Actor, Entry, Item, Step
from whet.ledger.folding import fold
from whet.ledger.patches import Action, Form, Patch, digest
from whet.lessons.rungs import CanaryMove
from whet.sessions.transcripts import RecordedCheck
from whet.sessions.trust import Trust
from whet.trials.canaries import ALPHA, CanaryDecision, Observation, compare, decide, loss_of, mirrored, moves_of
from whet.trials.draws import is_told
from whet.trials.told_rules import key_of, replaced_by, told_rules
from whet.trouble.values import SessionTrouble, Trouble

LOSSES = st.floats(0, 1)
SHARES = st.floats(0.05, 0.95)
OBSERVED = st.lists(st.builds(Observation, st.booleans(), LOSSES, SHARES), max_size=40)


def live(rule: int, *, told: float, untold: float, sessions: int, share: float = 0.5) -> list[Observation]:
    chance = random.Random(rule)
    draws = [is_told(f"rule-{rule}", f"session-{number}", share) for number in range(sessions)]
    return [Observation(draw, float(chance.random() < (told if draw else untold)), share) for draw in draws]


def decided(observations: list[Observation]) -> CanaryDecision:
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


def lost(share: float, *, ends_failed: bool | None = False) -> SessionTrouble:
    """A session of 100 seconds."""
    slips = (Trouble("slip", 1, 2, seconds=100 * share),)
    return SessionTrouble("s", agent_seconds=100.0, is_timed=True, troubles=slips, ends_failed=ends_failed)


def test_a_check_outranks_all_that_the_record_shows() -> None:
    assert loss_of(lost(0.9), ()) == 0.9
    assert loss_of(lost(0.9), [RecordedCheck("tests", passed=True)]) == 0.0
    assert loss_of(lost(0.1), [RecordedCheck("tests", passed=False), RecordedCheck("score", score=0.5)]) == 0.75
    assert loss_of(lost(0.4), [RecordedCheck("points", score=17.0)]) == 0.4, "no share of anything that is known"


def test_a_session_that_ends_in_failure_is_lost_and_one_without_an_answer_is_not_counted() -> None:
    assert loss_of(lost(0.1, ends_failed=True), ()) == 1.0
    assert loss_of(lost(0.0, ends_failed=None), ()) is None
    assert loss_of(lost(0.0, ends_failed=None), [RecordedCheck("tests", passed=True)]) == 0.0


def test_without_times_the_share_of_calls_counts() -> None:
    untimed = SessionTrouble("s", troubles=(Trouble("slip", 1, 2, calls=2),), calls=8)
    assert loss_of(untimed, ()) == 0.25
    assert loss_of(SessionTrouble("s"), ()) == 0.0


def test_the_risk_and_the_share_are_those_that_are_promised() -> None:
    assert (ALPHA, Observation(True, 0.0).share) == (0.01, 0.5)


def test_draws_are_those_that_sessions_were_made_with() -> None:
    drawn = [number for number in range(24) if is_told("rule", f"session-{number}", 0.5)]
    assert drawn == [0, 3, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 19, 21]


def test_each_new_try_of_a_rule_draws_anew() -> None:
    item = Item(Form.RULE, "answers", "Answer briefly.", number=3)
    assert key_of(item) == f"3/answers/{digest('Answer briefly.')}"


def test_a_move_is_measured_from_what_was_usual_until_then() -> None:
    observed = [Observation(True, 1.0), Observation(False, 1.0), Observation(True, 0.0), Observation(False, 0.0)]
    # Usual is a half before the first, as if of one session: then 3/4, 5/6, 5/8.
    assert list(moves_of(observed)) == pytest.approx([-1 / 2, 1 / 4, 5 / 6, -5 / 8])


def test_a_draw_that_was_rarer_counts_for_more() -> None:
    for share in (0.2, 0.8):
        (told,), (untold,) = (moves_of([Observation(side, 1.0, share)]) for side in (True, False))
        assert (told, untold) == pytest.approx(((share - 1) * 0.5 / 0.8, share * 0.5 / 0.8))


@given(OBSERVED, st.floats(0, 1), st.floats(-1, 1), SHARES)
def test_a_bet_against_just_this_effect_wins_nothing_on_average(
    before: list[Observation], untold: float, effect: float, share: float
) -> None:
    outcomes = (Observation(True, untold - effect, share), Observation(False, untold, share))
    told, other = (list(moves_of([*before, each], effect=effect))[-1] for each in outcomes)
    assert share * told + (1 - share) * other == pytest.approx(0, abs=1e-9)


@given(OBSERVED, st.floats(-1, 1))
def test_no_move_loses_more_than_everything(observed: list[Observation], effect: float) -> None:
    assert all(move >= -1 - 1e-9 for move in moves_of(observed, effect=effect))


@given(st.lists(st.builds(Observation, st.booleans(), LOSSES, st.sampled_from([0.25, 0.5])), max_size=12))
def test_with_the_sides_exchanged_everything_is_turned_round(observed: list[Observation]) -> None:
    found, other = compare(observed), compare(list(mirrored(observed)))
    assert (other.told, other.loss_told, other.untold) == (found.untold, found.loss_untold, found.told)
    assert (other.evidence_help, other.evidence_harm) == pytest.approx((found.evidence_harm, found.evidence_help))
    assert other.effect == pytest.approx(-found.effect)
    assert (other.interval.low, other.interval.high) == pytest.approx((-found.interval.high, -found.interval.low))


def test_nothing_observed_says_nothing() -> None:
    found = compare([])
    assert (found.decision, found.decided_at, found.told, found.untold) == (CanaryMove.WAIT, None, 0, 0)
    assert (found.loss_told, found.loss_untold, found.effect) == (None, None, 0.0)
    assert (found.evidence_help, found.evidence_harm) == (1.0, 1.0)
    assert compare([Observation(True, 1.0)]).effect == 0.0
    assert compare([Observation(False, 1.0)]).effect == 0.0


@pytest.mark.parametrize(("sign", "decision"), [(1.0, CanaryMove.PROMOTE), (-1.0, CanaryMove.REVERT)])
def test_the_first_crossing_decides_and_nothing_after_it_is_counted(sign: float, decision: CanaryMove) -> None:
    found = decide([sign] * 40)
    assert found.decision is decision
    assert found.at is not None
    assert 3 < found.at < 40
    assert decide([sign] * (found.at - 1)).decision is CanaryMove.WAIT
    assert decide([sign] * found.at + [-sign] * 400) == found
    assert max(found.evidence_help, found.evidence_harm) >= 100 > max(decide([sign] * (found.at - 1))[2:])


def test_evidence_that_is_just_enough_decides() -> None:
    for count in range(3, 40):
        evidence = decide([1.0] * count, alpha=1e-9).evidence_help
        if 1 / (1 / evidence) == evidence:
            assert decide([1.0] * count, alpha=1 / evidence).at == count
            return
    pytest.fail("no evidence could be put on the bar")


def test_what_lies_before_counts_for_what_is_usual_and_for_nothing_else() -> None:
    before = [Observation(place % 3 == 0, 0.25) for place in range(9)]
    after = live(3, told=0.1, untold=0.6, sessions=200)
    whole = compare([*before, *after], since=9)
    found = decide(list(moves_of([*before, *after]))[9:])
    assert (whole.decision, whole.decided_at, whole.evidence_help) == (found.decision, found.at, found.evidence_help)
    assert (whole.told, whole.untold) == (compare(after).told, compare(after).untold)
    assert whole.effect == compare(after).effect
    assert compare([*live(4, told=0.9, untold=0.1, sessions=200), *after], since=200).interval.low > 0


def test_a_rule_that_replaced_a_canary_leads_back_through_it() -> None:
    first = Patch(Form.RULE, Action.ADD, "a", "One.", trust=Trust.USER)
    second = Patch(Form.RULE, Action.CHANGE, "a", "Two.", trust=Trust.USER, before=digest(first.text))
    entries = [entry(1, first, Step.CANARY, 0.5), entry(2, second, Step.CANARY, 0.5)]
    seen = {tuple(told(entries, f"session-{number}")) for number in range(60)}
    assert seen == {(), ("One.",), ("Two.",)}


def test_only_what_is_tried_live_remembers_what_stood_before() -> None:
    first = Patch(Form.RULE, Action.ADD, "a", "One.", trust=Trust.USER)
    second = Patch(Form.RULE, Action.CHANGE, "a", "Two.", trust=Trust.USER, before=digest(first.text))
    gone = Patch(Form.RULE, Action.REMOVE, "a", trust=Trust.USER, before=digest(second.text))
    entries = [entry(1, first, Step.APPLIED), entry(2, second, Step.CANARY, 0.5)]
    (before,) = replaced_by(fold(entries)).items()
    assert before == (2, fold(entries[:1]).rules[0])
    assert list(replaced_by(fold([*entries, entry(3, gone, Step.APPLIED)]))) == [2]
    assert told([entry(1, first, Step.APPLIED)], "") == ["One."]


@pytest.mark.parametrize(("share", "loss"), [(0.0, 0.0), (0.4, 0.4), (1.0, 1.0), (1.5, 1.0)])
def test_what_was_lost_is_a_loss_between_none_and_all(share: float, loss: float) -> None:
    assert loss_of(lost(share), ()) == loss


@pytest.mark.parametrize(("score", "loss"), [(0.0, 1.0), (0.25, 0.75), (1.0, 0.0), (-0.1, 0.4), (1.1, 0.4)])
def test_a_score_counts_where_it_is_a_share(score: float, loss: float) -> None:
    assert loss_of(lost(0.4), [RecordedCheck("points", score=score)]) == loss
    assert loss_of(lost(0.4), [RecordedCheck("points", passed=False, score=score)]) == 1.0
    assert loss_of(lost(0.4), [RecordedCheck("points")]) == 0.4


@pytest.mark.parametrize("since", [0, 20])
@pytest.mark.parametrize("alpha", [0.01, 0.2])
def test_a_bound_is_where_a_bet_has_just_enough(alpha: float, since: int) -> None:
    observed = live(5, told=0.2, untold=0.5, sessions=150)
    interval = compare(observed, alpha=alpha, since=since).interval

    def evidence(sides: list[Observation], effect: float) -> float:
        return log_capital(tally(list(moves_of(sides, effect=effect))[since:]))

    for sides, bound in ((observed, interval.low), (list(mirrored(observed)), -interval.high)):
        assert evidence(sides, bound - 1e-4) > math.log(1 / alpha) > evidence(sides, bound + 1e-4)
