"""Patches go into force and come out again, with their files; what a person wrote is never overwritten."""

import pytest
from msgspec.structs import replace

from changes.samples_of_changes import NAMES, NOW, OTHERS, TEXTS, adding, changing, ready, removing
from whet.changes.apply import Refused, apply, apply_all, promote, redo, revert, settle, try_out, undo
from whet.changes.places import edits, place_of, write
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Key, State, Step
from whet.ledger.folding import move_of
from whet.ledger.patch_faults import FaultKind
from whet.ledger.patches import Form, Patch
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.files import Conflict
from whet.store.home import Home
from whet.store.ledger import ledger_of

WHOLE_FILES = [Form.SKILL, Form.FILE, Form.TEMPLATE, Form.JOB]


def state(home: Home, database: Database) -> State:
    return ledger_of(home, database).state()


def person(home: Home, database: Database, patch: Patch) -> Entry:
    return apply(home, database, patch, actor=Actor.PERSON, now=NOW)


@pytest.mark.parametrize("form", list(TEXTS))
def test_undo_goes_back_to_nothing_and_redo_forth_again(home: Home, database: Database, form: Form) -> None:
    ready(home, form)
    person(home, database, adding(form))
    person(home, database, changing(form, TEXTS[form], OTHERS[form]))
    changed = state(home, database)
    assert changed.items[0].text == OTHERS[form]
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert [item.text for item in state(home, database).items] == [TEXTS[form]]
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert state(home, database).items == ()
    with pytest.raises(WhetError, match="Nothing to undo"):
        undo(home, database, actor=Actor.PERSON, now=NOW)
    redo(home, database, actor=Actor.PERSON, now=NOW)
    redo(home, database, actor=Actor.PERSON, now=NOW)
    assert state(home, database).items == changed.items
    with pytest.raises(WhetError, match="Nothing to redo"):
        redo(home, database, actor=Actor.PERSON, now=NOW)


@pytest.mark.parametrize("form", WHOLE_FILES)
def test_a_persons_edit_is_a_conflict_and_is_kept(home: Home, database: Database, form: Form) -> None:
    path = place_of(home, Key(form, NAMES[form])).path
    ready(home, form)
    entry = person(home, database, adding(form))
    path.write_text("My own words.")
    with pytest.raises(Conflict):
        undo(home, database, actor=Actor.PERSON, now=NOW)
    with pytest.raises(Conflict):
        revert(home, database, entry.number, actor=Actor.WATCH, now=NOW)
    with pytest.raises(Conflict):
        person(home, database, changing(form, TEXTS[form], OTHERS[form]))
    assert path.read_text() == "My own words."
    assert state(home, database).unfinished == ()


def test_a_change_on_top_of_a_persons_edit_can_be_undone_to_that_edit(home: Home, database: Database) -> None:
    path = place_of(home, Key(Form.SKILL, "brewing")).path
    person(home, database, adding(Form.SKILL))
    path.write_text("My own words.")
    person(home, database, changing(Form.SKILL, "My own words.", OTHERS[Form.SKILL]))
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert path.read_text() == "My own words."
    with pytest.raises(Conflict):
        undo(home, database, actor=Actor.PERSON, now=NOW)
    assert path.read_text() == "My own words."


def test_notes_leave_the_rest_of_the_page_alone(home: Home, database: Database) -> None:
    page = home.folder / "memory.md"
    page.write_bytes(b"# Mine\r\n- Tea, not coffee.\r\n")
    entry = person(home, database, adding(Form.NOTE))
    assert TEXTS[Form.NOTE] in page.read_text()
    revert(home, database, entry.number, actor=Actor.WATCH, now=NOW)
    assert page.read_bytes() == b"# Mine\r\n- Tea, not coffee.\r\n"


def test_a_note_that_would_not_be_found_again_is_refused(home: Home, database: Database) -> None:
    with pytest.raises(WhetError, match="one note"):
        person(home, database, adding(Form.NOTE, "Blanks at its end  "))
    assert ledger_of(home, database).entries() == []


def test_a_batch_with_one_fault_changes_nothing(home: Home, database: Database) -> None:
    wrong = adding(Form.NOTE, "The token is ghp_0123456789abcdefghijABCDEFGHIJ012345")
    with pytest.raises(Refused):
        apply_all(home, database, (adding(Form.SKILL), wrong), actor=Actor.PERSON, now=NOW)
    assert ledger_of(home, database).entries() == []
    assert not place_of(home, Key(Form.SKILL, "brewing")).path.exists()


@pytest.mark.parametrize(
    "patches",
    [
        (),
        (adding(Form.RULE), adding(Form.NOTE)),
        (adding(Form.NOTE), adding(Form.NOTE, "Other.")),
        (removing(Form.SKILL, TEXTS[Form.SKILL]), adding(Form.FILE)),
    ],
)
def test_a_batch_that_makes_no_sense_is_refused(home: Home, database: Database, patches: tuple[Patch, ...]) -> None:
    with pytest.raises(WhetError):
        apply_all(home, database, patches, actor=Actor.PERSON, now=NOW)


def test_reverting_takes_one_entry_back_and_can_itself_be_undone(home: Home, database: Database) -> None:
    first = person(home, database, adding(Form.RULE))
    person(home, database, adding(Form.RULE, "Answer in the language of the question.", name="language"))
    revert(home, database, first.number, actor=Actor.WATCH, now=NOW, note="harm in live sessions")
    assert [rule.name for rule in state(home, database).rules] == ["language"]
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert [rule.name for rule in state(home, database).rules] == ["test-first", "language"]


def test_what_was_changed_since_cannot_be_reverted(home: Home, database: Database) -> None:
    first = person(home, database, adding(Form.RULE))
    second = person(home, database, changing(Form.RULE, TEXTS[Form.RULE], "Lint before each release."))
    with pytest.raises(Conflict, match=f"entry {second.number}"):
        revert(home, database, first.number, actor=Actor.PERSON, now=NOW)
    revert(home, database, second.number, actor=Actor.PERSON, now=NOW)
    revert(home, database, first.number, actor=Actor.PERSON, now=NOW)
    assert state(home, database).rules == ()


def test_an_entry_that_changed_nothing_cannot_be_reverted(home: Home, database: Database) -> None:
    entry = person(home, database, adding(Form.RULE))
    (undone,) = undo(home, database, actor=Actor.PERSON, now=NOW)
    for number in (entry.number, undone.number, 99):
        with pytest.raises(WhetError):
            revert(home, database, number, actor=Actor.PERSON, now=NOW)


def test_an_agent_turns_nothing_back(home: Home, database: Database) -> None:
    entry = person(home, database, adding(Form.RULE))
    for attempt in (undo, redo):
        with pytest.raises(WhetError, match="agent"):
            attempt(home, database, actor=Actor.AGENT, now=NOW)
    with pytest.raises(WhetError, match="agent"):
        revert(home, database, entry.number, actor=Actor.AGENT, now=NOW)


def test_an_agents_words_are_never_trusted_more_than_an_agent(home: Home, database: Database) -> None:
    apply(home, database, adding(Form.RULE, trust=Trust.OPERATOR), actor=Actor.AGENT, now=NOW)
    assert state(home, database).rules[0].trust is Trust.AGENT


def test_a_canary_is_promoted_for_everybody(home: Home, database: Database) -> None:
    entry = try_out(home, database, adding(Form.RULE), actor=Actor.POLICY, now=NOW)
    assert state(home, database).rules[0].canary
    promote(home, database, entry.number, actor=Actor.WATCH, now=NOW)
    assert not state(home, database).rules[0].canary
    with pytest.raises(WhetError):
        promote(home, database, entry.number, actor=Actor.WATCH, now=NOW)
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert state(home, database).rules == ()


def test_a_stale_rule_is_refused(home: Home, database: Database) -> None:
    person(home, database, adding(Form.RULE))
    with pytest.raises(Refused) as refused:
        person(home, database, changing(Form.RULE, "What never was there.", "Other words."))
    assert [fault.kind for fault in refused.value.faults] == [FaultKind.STALE]


def test_homes_that_share_a_database_share_rules_and_not_files(home: Home, database: Database) -> None:
    if not home.database_url:
        pytest.skip("the embedded database belongs to one home")
    other = home._replace(folder=home.folder.with_name("other"))
    person(home, database, adding(Form.RULE))
    person(home, database, adding(Form.SKILL))
    assert [item.form for item in state(other, database).items] == [Form.RULE]
    person(other, database, adding(Form.SKILL, OTHERS[Form.SKILL]))
    undo(other, database, actor=Actor.PERSON, now=NOW)
    assert place_of(home, Key(Form.SKILL, "brewing")).path.read_text() == TEXTS[Form.SKILL]
    assert [entry.step for entry in ledger_of(home, database).entries()][-2:] == [Step.BEGUN, Step.UNDONE]


def test_a_page_of_notes_has_a_limit_and_an_undo_has_none(home: Home, database: Database) -> None:
    person(home, database, adding(Form.NOTE))
    person(home, database, removing(Form.NOTE, TEXTS[Form.NOTE]))
    (home.folder / "memory.md").write_text(f"- {'mine ' * 500}\n")
    with pytest.raises(WhetError, match="limit"):
        person(home, database, adding(Form.NOTE, name="memory/other"))
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert TEXTS[Form.NOTE] in (home.folder / "memory.md").read_text()


def test_support_files_leave_with_their_skill_and_come_back_with_it(home: Home, database: Database) -> None:
    person(home, database, adding(Form.SKILL))
    person(home, database, adding(Form.FILE))
    both = state(home, database).items
    archived = person(home, database, removing(Form.SKILL, TEXTS[Form.SKILL]))
    assert state(home, database).items == ()
    with pytest.raises(Conflict, match=f"taken away since entry {both[1].number}, by entry {archived.number}"):
        revert(home, database, both[1].number, actor=Actor.PERSON, now=NOW)
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert state(home, database).items == both
    redo(home, database, actor=Actor.PERSON, now=NOW)
    assert state(home, database).items == ()
    revert(home, database, archived.number, actor=Actor.PERSON, now=NOW)
    assert state(home, database).items == both
    assert place_of(home, both[1].key).path.read_text() == TEXTS[Form.FILE]


def test_a_skill_and_its_support_file_come_together_or_not_at_all(home: Home, database: Database) -> None:
    both = (adding(Form.SKILL), adding(Form.FILE))
    with pytest.raises(WhetError, match="There is no skill"):
        apply(home, database, adding(Form.FILE), actor=Actor.PERSON, now=NOW)
    with pytest.raises(Refused):
        apply_all(home, database, (both[0], replace(both[1], text="")), actor=Actor.PERSON, now=NOW)
    assert not (home.folder / "skills").exists()
    apply_all(home, database, both, actor=Actor.PERSON, now=NOW)
    assert [item.form for item in state(home, database).items] == [Form.SKILL, Form.FILE]
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert state(home, database).items == ()
    assert not place_of(home, Key(Form.SKILL, NAMES[Form.SKILL])).path.parent.exists()


PATCHES = (adding(Form.SKILL), adding(Form.FILE), adding(Form.NOTE))


def begin(home: Home, database: Database, patches: tuple[Patch, ...]) -> tuple[Entry, ...]:
    """Announce a change as if the process was killed right after it."""
    ledger = ledger_of(home, database)
    drafts = [
        Entry(
            number=0,
            step=Step.BEGUN,
            intends=Step.APPLIED,
            patch=patch,
            actor=Actor.PERSON,
            at=NOW,
            after=patch.after,
            home=ledger.home,
        )
        for patch in patches
    ]
    return ledger.append(drafts, as_batch=len(drafts) > 1)


def carry_out(home: Home, database: Database, entry: Entry) -> None:
    for edit in edits(home, [move_of(ledger_of(home, database).state(), entry)]):
        write(edit)


def settled(home: Home, database: Database) -> State:
    ledger = ledger_of(home, database)
    settle(home, ledger, now=NOW + 1)
    state = ledger.state()
    assert state.unfinished == ()
    return state


def test_killed_before_the_file_was_written(home: Home, database: Database) -> None:
    begin(home, database, PATCHES)
    state = settled(home, database)
    assert state.items == ()
    assert [entry.step for entry in ledger_of(home, database).entries()[3:]] == [Step.ABANDONED] * 3


def test_killed_after_the_file_was_written(home: Home, database: Database) -> None:
    for patch in PATCHES:
        (entry,) = begin(home, database, (patch,))
        carry_out(home, database, entry)
    state = settled(home, database)
    assert {item.form for item in state.items} == {Form.SKILL, Form.FILE, Form.NOTE}
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert len(settled(home, database).items) == 2


def test_killed_in_the_middle_of_a_batch(home: Home, database: Database) -> None:
    entries = begin(home, database, PATCHES)
    carry_out(home, database, entries[1])
    state = settled(home, database)
    assert len(state.items) == 3
    assert place_of(home, Key(Form.SKILL, "brewing")).path.read_text() == TEXTS[Form.SKILL]
    undo(home, database, actor=Actor.PERSON, now=NOW)
    assert settled(home, database).items == ()


def test_killed_in_the_middle_of_a_batch_and_edited_since(home: Home, database: Database) -> None:
    entries = begin(home, database, PATCHES)
    carry_out(home, database, entries[1])
    path = place_of(home, Key(Form.SKILL, "brewing")).path
    path.write_text("Mine.")
    state = settled(home, database)
    assert path.read_text() == "Mine."
    assert {item.form for item in state.items} == {Form.FILE, Form.NOTE}


def test_killed_while_undoing(home: Home, database: Database) -> None:
    applied = apply(home, database, PATCHES[0], actor=Actor.PERSON, now=NOW)
    ledger = ledger_of(home, database)
    ledger.append([replace(applied, step=Step.BEGUN, intends=Step.UNDONE, about=applied.number, begun=0)])
    assert len(settled(home, database).items) == 1
    (begun,) = ledger.append(
        [replace(applied, step=Step.BEGUN, intends=Step.UNDONE, about=applied.number, begun=0, after="")]
    )
    carry_out(home, database, begun)
    state = settled(home, database)
    assert state.items == ()
    assert len(state.undone) == 1


def test_the_next_change_settles_what_was_left(home: Home, database: Database) -> None:
    (entry,) = begin(home, database, PATCHES[:1])
    carry_out(home, database, entry)
    apply(home, database, PATCHES[2], actor=Actor.PERSON, now=NOW)
    assert len(ledger_of(home, database).state().items) == 2


def test_a_home_of_a_shared_database_keeps_its_identity(home: Home, database: Database) -> None:
    first = ledger_of(home, database).home
    assert ledger_of(home, database).home == first
    assert bool(first) is bool(home.database_url)
