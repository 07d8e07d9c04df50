"""What an entry claims when nothing is said, and what promotion leaves."""

from whet.ledger.entries import Actor, Change, Entry, Item, Key, State, Step
from whet.ledger.folding import fold
from whet.ledger.patch_faults import TextLimits
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.trust import Trust

RULE = Patch(Form.RULE, Action.ADD, "a", "Run the tests.", trust=Trust.USER)


def entry(number: int, step: Step, **more: object) -> Entry:
    return Entry(number, step, RULE, Actor.PERSON, float(number), **more)  # type: ignore[arg-type]


def test_a_new_entry_claims_nothing_that_was_not_said() -> None:
    made = entry(1, Step.APPLIED)
    assert (made.about, made.begun, made.batch, made.share) == (0, 0, 0, 0.0)
    assert (made.before, made.after, made.note, made.verdict, made.home) == ("", "", "", "", "")
    assert (made.replaced, made.intends) == (None, None)


def test_a_new_item_change_and_state_claim_nothing_either() -> None:
    item = Item(Form.RULE, "a", "text")
    assert (item.since, item.number, item.canary, item.share, item.home) == (0.0, 0, False, 0.0, "")
    assert Change(1, Key(Form.RULE, "a"), None, item).batch == 0
    assert State().number == 0


def test_promotion_makes_a_canary_a_rule_for_all_and_forgets_its_share() -> None:
    entries = [entry(1, Step.CANARY, share=0.5, after=digest(RULE.text)), entry(2, Step.PROMOTED, about=1)]
    (before,) = fold(entries[:1]).rules
    assert (before.canary, before.share) == (True, 0.5)
    state = fold(entries)
    (rule,) = state.rules
    assert (rule.canary, rule.share) == (False, 0.0)
    assert state.done[-1].after == rule


def test_a_digest_has_the_length_that_stored_ones_have() -> None:
    assert len(digest("text")) == 32


def test_as_many_changes_wait_as_a_person_can_look_through() -> None:
    assert TextLimits().pending == 100
