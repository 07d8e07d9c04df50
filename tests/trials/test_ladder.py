"""The ladder: a rule that is told and not followed is said with an example, then dropped; nobody's own rule is."""

import pytest
from msgspec.structs import replace

from whet.ledger.entries import Item
from whet.ledger.patches import Action, Form, RuleSituation, Scope, digest
from whet.lessons.following import Following
from whet.sessions.trust import Trust
from whet.trials.ladder import Rung, is_unheeded, next_rung, step_of

RULE = Item(Form.RULE, "bun", "Run bun directly.", situation=RuleSituation("rtk bun i", "unrecognized", "bun i"))
IGNORED = Following(looked=20, came_up=10, told=8, untold=2, followed=3, told_followed=2)


def rung(
    rule: Item, fared: Following = IGNORED, *, is_movable: bool = False, is_remindable: bool = False
) -> Rung | None:
    return next_rung(rule, fared, is_movable=is_movable, is_remindable=is_remindable)


@pytest.mark.parametrize(
    ("told", "followed", "expected"), [(4, 0, False), (5, 0, True), (8, 3, True), (8, 4, False), (8, 8, False)]
)
def test_it_is_unheeded_when_it_was_told_often_and_followed_in_fewer_than_half(
    told: int, followed: int, expected: bool
) -> None:
    assert is_unheeded(RULE, Following(30, 20, told, 0, followed, followed)) is expected


def test_following_without_being_told_does_not_count() -> None:
    assert is_unheeded(RULE, replace(IGNORED, followed=10, came_up=15, told_followed=1))


def test_first_it_is_said_again_with_the_calls_as_an_example() -> None:
    assert rung(RULE) is Rung.EXAMPLE
    patch = step_of(RULE, Rung.EXAMPLE, IGNORED)
    assert patch.text == "Run bun directly. Example: where you would run `rtk bun i`, run `bun i`."
    assert (patch.action, patch.before, patch.situation) == (Action.CHANGE, digest(RULE.text), RULE.situation)
    assert patch.reason == "told in 8 sessions in its situation, followed in 2 of them"


def test_then_it_leaves_the_file_for_the_start_of_sessions() -> None:
    said = replace(RULE, text=step_of(RULE, Rung.EXAMPLE, IGNORED).text)
    assert rung(said, is_movable=True) is Rung.START
    patch = step_of(said, Rung.START, IGNORED)
    assert (patch.action, patch.text, patch.scope) == (Action.CHANGE, said.text, Scope(at_start=True))
    assert rung(replace(said, scope=patch.scope), is_movable=True) is Rung.DROP


def test_the_example_for_small_models_stays_with_it() -> None:
    small = replace(RULE, example="`bun i`")
    assert [step_of(small, each, IGNORED).example for each in Rung] == ["`bun i`", "`bun i`", "`bun i`", ""]


def test_then_it_is_reminded_of_at_the_call_and_counted_by_that() -> None:
    said = replace(RULE, text=step_of(RULE, Rung.EXAMPLE, IGNORED).text)
    assert rung(said, is_remindable=True) is Rung.REMINDER
    patch = step_of(said, Rung.REMINDER, IGNORED)
    assert (patch.action, patch.text, patch.scope) == (Action.CHANGE, said.text, Scope(at_call=True))
    reminded = replace(said, scope=patch.scope)
    assert patch.scope.words == ("a reminder at the call",), "a person sees what it is for"
    assert rung(reminded, is_remindable=True) is None, "no session was reminded yet, however often it was told"
    fared = replace(IGNORED, reminded=6, reminded_followed=2)
    assert rung(reminded, fared, is_remindable=True) is Rung.DROP
    assert step_of(reminded, Rung.DROP, fared).reason == "reminded of in 6 sessions, followed after that in 2 of them"
    assert rung(reminded, replace(fared, reminded_followed=3), is_remindable=True) is None
    assert rung(replace(reminded, trust=Trust.OPERATOR), fared, is_remindable=True) is None, "a person's own"


def test_then_it_is_dropped() -> None:
    said = replace(RULE, text=step_of(RULE, Rung.EXAMPLE, IGNORED).text)
    assert rung(said) is Rung.DROP
    patch = step_of(said, Rung.DROP, IGNORED)
    assert (patch.action, patch.text, patch.before) == (Action.REMOVE, "", digest(said.text))


@pytest.mark.parametrize(
    "situation",
    [
        RuleSituation("rtk bun i", "unrecognized"),
        RuleSituation("a" * 200, "", "bun i"),
        RuleSituation("a\nb", "", "bun i"),
        RuleSituation("echo `id`", "", "bun i"),
        RuleSituation(said="Use bun."),
    ],
)
def test_what_cannot_be_quoted_is_no_example(situation: RuleSituation) -> None:
    assert rung(replace(RULE, situation=situation)) is Rung.DROP


def test_a_persons_own_rule_is_never_to_be_dropped_and_one_on_trial_is_left_to_it() -> None:
    own = replace(RULE, situation=RuleSituation(), trust=Trust.OPERATOR)
    assert rung(own) is None
    assert rung(own, is_movable=True) is Rung.START
    assert rung(replace(RULE, canary=True)) is None


def test_a_rule_that_is_followed_stays() -> None:
    assert rung(RULE, replace(IGNORED, told_followed=7), is_movable=True, is_remindable=True) is None
