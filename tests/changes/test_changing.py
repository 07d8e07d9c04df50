"""After a sudden stop at any point, files and ledger agree again: what was begun is confirmed or abandoned."""

from msgspec.structs import replace

from changes.samples_of_changes import NOW, TEXTS, adding
from whet.changes.apply import apply, settle, undo
from whet.changes.places import edits, place_of, write
from whet.ledger.entries import Actor, Entry, Key, State, Step
from whet.ledger.patches import Form, Patch
from whet.ledger.traces import move_of
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of

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
    assert not ledger.is_unfinished()
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
