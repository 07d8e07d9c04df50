"""Which entry put a sentence there, which one took it away, and what an entry did."""

from msgspec.structs import replace

from whet.ledger.entries import Actor, Entry, Item, Step
from whet.ledger.folding import difference, fold, is_vouched_for, last_batch, move_of, trace, was_approved
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.trust import Trust

TEXT, LATER = "Water the plants on Mondays.", "Water the plants on Fridays."
ADD = Patch(Form.RULE, Action.ADD, "plants", TEXT, trust=Trust.USER)
CHANGE = Patch(Form.RULE, Action.CHANGE, "plants", LATER, trust=Trust.USER, before=digest(TEXT))
REMOVE = Patch(Form.RULE, Action.REMOVE, "plants", trust=Trust.USER, before=digest(LATER))


def entry(number: int, patch: Patch, step: Step = Step.APPLIED, *, about: int = 0) -> Entry:
    return Entry(number, step, patch, Actor.PERSON, float(number), patch.before, patch.after, about=about)


def told(entries: list[Entry], words: str) -> list[tuple[int, int]]:
    return [(found.entry.number, found.ended.number if found.ended else 0) for found in trace(entries, words)]


def test_a_sentence_is_traced_to_the_entry_that_put_it_there_and_to_its_end() -> None:
    history = [entry(1, ADD), entry(2, CHANGE), entry(3, REMOVE)]
    assert told(history[:1], "water THE  plants") == [(1, 0)]
    assert told(history[:2], "plants") == [(2, 0), (1, 2)]
    assert told(history, "plants") == [(2, 3), (1, 2)]
    assert told(history, "weeds") == []


def test_what_is_undone_is_ended_and_what_is_redone_is_in_force_again() -> None:
    history = [entry(1, ADD), entry(2, ADD, Step.UNDONE, about=1)]
    assert told(history, "plants") == [(1, 2)]
    assert told([*history, entry(3, ADD, Step.REDONE, about=1)], "plants") == [(1, 0)]


def test_what_is_reverted_is_ended_by_the_revert() -> None:
    assert told([entry(1, ADD), entry(2, ADD, Step.REVERTED, about=1)], "plants") == [(1, 2)]


def test_what_was_only_proposed_or_tried_is_found_with_the_decision_on_it() -> None:
    proposed = entry(1, ADD, Step.PROPOSED)
    assert told([proposed], "plants") == [(1, 0)]
    assert told([proposed, entry(2, ADD, Step.UNDECIDED)], "plants") == [(1, 0)], "it still waits"
    assert told([proposed, entry(2, ADD, Step.REFUSED, about=1)], "plants") == [(1, 2)]
    assert told([proposed, entry(2, ADD, Step.APPROVED, about=1), entry(3, ADD)], "plants") == [(3, 0)]
    assert told([entry(1, ADD, Step.REJECTED)], "plants") == [(1, 1)]


def test_a_move_is_told_from_the_state_before_it() -> None:
    state = fold([entry(1, ADD)])
    assert move_of(state, entry(2, CHANGE))[1:] == (TEXT, LATER)
    assert move_of(state, entry(2, ADD, Step.REVERTED, about=1))[1:] == (TEXT, None)
    assert difference(TEXT, LATER).splitlines()[-2:] == [f"-{TEXT}", f"+{LATER}"]


def test_the_changes_of_a_batch_are_on_top_together() -> None:
    other = Patch(Form.RULE, Action.ADD, "weeds", "Pull the weeds.", trust=Trust.USER)
    third = Patch(Form.RULE, Action.ADD, "soil", "Turn the soil.", trust=Trust.USER)
    batch = [replace(entry(2, other), batch=2), replace(entry(3, third), batch=2)]
    done = fold([entry(1, ADD), *batch]).done
    assert [change.number for change in last_batch(done)] == [3, 2]
    assert [change.number for change in last_batch(done[:1])] == [1]
    assert last_batch(()) == ()


def test_a_foreign_text_is_vouched_for_by_the_approval_of_a_person_alone() -> None:
    foreign = replace(ADD, trust=Trust.EXTERNAL)
    item = Item(Form.RULE, "plants", TEXT, trust=Trust.EXTERNAL, number=3)
    approval = entry(2, foreign, Step.APPROVED, about=1)
    applied = entry(3, foreign)
    assert is_vouched_for(item, [approval, applied])
    assert not is_vouched_for(item, [replace(approval, actor=Actor.POLICY), applied])
    assert not was_approved(item, [replace(approval, number=4), applied])
    assert is_vouched_for(replace(item, trust=Trust.AGENT), [])
