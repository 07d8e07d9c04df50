"""The state in force is the fold of the entries, whole or piece by piece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.ledger.entries import Actor, Entry, State, Step
from whet.ledger.folding import difference, fold, is_last, last_batch, move_of, seen_from, trace
from whet.ledger.patches import Action, Form, Patch, derived, digest, is_named
from whet.sessions.trust import Trust

RULES = ("a", "b", "c")


def applied(number: int, name: str, text: str | None, before: str | None = None, **more: object) -> Entry:
    action = Action.REMOVE if text is None else Action.ADD if before is None else Action.CHANGE
    patch = Patch(Form.RULE, action, name, text or "", trust=Trust.USER, before=digest(before))
    fields = {"step": Step.APPLIED, "before": digest(before), "after": digest(text), **more}
    return Entry(number=number, patch=patch, actor=Actor.PERSON, at=float(number), **fields)  # type: ignore[arg-type]


def turned(number: int, step: Step, entry: Entry) -> Entry:
    return Entry(number=number, step=step, patch=entry.patch, actor=Actor.PERSON, at=1.0, about=entry.number)


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    """Valid histories of three rules."""
    entries: list[Entry] = []
    for number in range(1, draw(st.integers(1, 30)) + 1):
        state = fold(entries)
        step = draw(st.sampled_from(["apply", "apply", "undo", "redo", "revert"]))
        revertible = [change for change in state.done if is_last(state, change)]
        by_number = {entry.number: entry for entry in entries}
        if step == "undo" and state.done:
            entries.append(turned(number, Step.UNDONE, by_number[state.done[-1].number]))
        elif step == "redo" and state.undone:
            entries.append(turned(number, Step.REDONE, by_number[state.undone[-1].number]))
        elif step == "revert" and revertible:
            entries.append(turned(number, Step.REVERTED, by_number[draw(st.sampled_from(revertible)).number]))
        else:
            name = draw(st.sampled_from(RULES))
            known = state.get(Form.RULE, name)
            text = None if known and draw(st.booleans()) else f"text {number}"
            entries.append(applied(number, name, text, known.text if known else None))
    return entries


@given(histories())
def test_undoing_restores_what_was_in_force_before(entries: list[Entry]) -> None:
    state = fold(entries)
    if not state.done:
        return
    top = state.done[-1]
    entry = next(entry for entry in entries if entry.number == top.number)
    number = len(entries) + 1
    undone = fold([*entries, turned(number, Step.UNDONE, entry)])
    again = fold([*entries, turned(number, Step.UNDONE, entry), turned(number + 1, Step.REDONE, entry)])
    assert undone.get(top.key.form, top.key.name) == top.before
    assert (again.items, again.done) == (state.items, state.done)


@given(histories())
def test_undoing_everything_leaves_nothing(entries: list[Entry]) -> None:
    state = fold(entries)
    by_number = {entry.number: entry for entry in entries}
    undone = enumerate(reversed(state.done), start=len(entries) + 1)
    state = fold([*entries, *(turned(number, Step.UNDONE, by_number[change.number]) for number, change in undone)])
    assert (state.items, state.done) == ((), ())


@given(histories())
def test_reverting_what_was_just_applied_restores_the_rulebook(entries: list[Entry]) -> None:
    number = len(entries) + 1
    known = fold(entries).get(Form.RULE, "a")
    entry = applied(number, "a", "new words", known.text if known else None)
    reverted = turned(number + 1, Step.REVERTED, entry)
    assert fold([*entries, entry, reverted]).items == fold(entries).items


@given(histories())
def test_every_rule_in_force_is_traced_to_its_entry(entries: list[Entry]) -> None:
    state = fold(entries)
    for rule in state.rules:
        found = [each for each in trace(entries, rule.text) if each.entry.patch.text == rule.text]
        assert [(each.entry.number, each.ended) for each in found] == [(rule.number, None)]
    texts = {entry.patch.text for entry in entries if entry.after and entry.step is Step.APPLIED}
    for text in texts - {rule.text for rule in state.rules}:
        found = [each for each in trace(entries, text) if each.entry.patch.text == text]
        assert all(each.ended is not None for each in found)


def test_a_persons_text_is_what_an_undo_returns_to() -> None:
    entry = applied(1, "a", "ours", "theirs", replaced="theirs")
    state = fold([entry, turned(2, Step.UNDONE, entry)])
    assert [item.text for item in state.items] == ["theirs"]
    assert move_of(fold([]), entry)[1:] == ("theirs", "ours")


def test_entries_of_a_batch_come_off_the_stack_together() -> None:
    entries = [applied(1, "a", "x"), applied(2, "b", "y", batch=2), applied(3, "c", "z", batch=2)]
    state = fold(entries)
    assert [change.number for change in last_batch(state.done)] == [3, 2]
    assert [change.number for change in last_batch(state.done[:1])] == [1]
    assert last_batch(()) == ()


def test_a_home_does_not_see_the_files_of_another() -> None:
    mine = applied(1, "a", "x", home="mine")
    theirs = applied(2, "a", "y", home="theirs")
    state = fold([mine, theirs, applied(3, "b", "z")])
    assert [item.text for item in seen_from("mine", state).items] == ["x", "z"]
    assert len(state.items) == 3


def test_a_diff_shows_what_changes() -> None:
    assert difference("one\ntwo", "one\nthree").splitlines()[2:] == ["@@ -1,2 +1,2 @@", " one", "-two", "+three"]
    assert difference("same", "same") == ""


def test_an_empty_ledger_has_nothing_in_force() -> None:
    assert fold([]) == State()


@given(st.lists(st.sampled_from(list(Trust)), min_size=1), st.sampled_from(list(Trust)))
def test_what_is_made_from_texts_is_trusted_as_the_lowest_of_them(lineage: list[Trust], own: Trust) -> None:
    patch = derived(Patch(Form.RULE, Action.ADD, "a", "x", trust=own), lineage)
    assert patch.trust is min(*lineage, own)


@given(st.text(), st.text())
def test_texts_have_the_same_digest_only_if_they_are_equal(one: str, other: str) -> None:
    assert (digest(one) == digest(other)) is (one == other)
    assert digest(None) == ""


@pytest.mark.parametrize(
    ("form", "name", "fits"),
    [
        (Form.NOTE, "memory/a1", True),
        (Form.NOTE, "other/a1", False),
        (Form.FILE, "brewing/references/water.md", True),
        (Form.FILE, "brewing/../../secrets/x", False),
        (Form.FILE, "brewing/references/..", False),
        (Form.FILE, "brewing/SKILL.md", False),
        (Form.SKILL, "brewing/../..", False),
        (Form.JOB, "nightly", True),
    ],
)
def test_only_names_that_lead_nowhere_else_are_names(form: Form, name: str, fits: bool) -> None:
    assert is_named(Patch(form, Action.ADD, name)) is fits
