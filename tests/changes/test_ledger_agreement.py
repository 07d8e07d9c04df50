"""Random operations on the real ledger, its files and its database agree with a simple model of them."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changes.ledger_model import FILE, SKILL, Model, Thing, Turn, action_for
from disks import fast_folder
from lengths import examples
from postgres_server import fresh_schema
from whet.changes.apply import apply_all, redo, revert, undo
from whet.changes.pending import approve, propose, refuse
from whet.changes.places import place_of
from whet.errors import WhetError
from whet.ledger.entries import Actor, Key, State
from whet.ledger.patches import Form, Patch, digest
from whet.own.told import note_pages
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.files import Conflict
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened

OPERATIONS = 50
THINGS = (
    Thing(Form.RULE, "first"),
    Thing(Form.RULE, "second"),
    Thing(Form.RULE, "third"),
    Thing(Form.NOTE, "memory/a1"),
    Thing(Form.NOTE, "memory/b2"),
    Thing(Form.NOTE, "user/c3"),
    SKILL,
    FILE,
    Thing(Form.TEMPLATE, "morning"),
    Thing(Form.JOB, "nightly"),
)
FILES = tuple(thing for thing in THINGS if thing.form is not Form.RULE)
WHOLE_FILES = tuple(thing for thing in FILES if thing.form is not Form.NOTE)

things = st.integers(0, len(THINGS) - 1)
OPERATION = st.one_of(
    st.tuples(st.just("apply"), things, st.booleans()),
    st.tuples(st.just("apply"), things, st.booleans()),
    st.tuples(st.just("batch"), st.sets(things, min_size=2, max_size=3), st.booleans()),
    st.tuples(st.just("edit"), things, st.booleans()),
    st.tuples(st.just("undo")),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
    st.tuples(st.just("revert"), st.integers(0, 1000)),
    st.tuples(st.just("propose"), things, st.sampled_from(["approve", "refuse"])),
    st.tuples(st.just("stale"), things, st.just(None)),
)


class World:
    """The real thing and its model, side by side."""

    def __init__(self, home: Home, database: Database) -> None:
        self.home, self.database, self.model = home, database, Model()
        self.clock = 0.0
        self.texts = 0

    def run(self, name: str, *arguments: object) -> None:
        self.clock += 1
        getattr(self, f"do_{name}")(*arguments)
        self.check()

    def do_apply(self, place: int, removes: bool) -> None:
        self._apply((THINGS[place],), removes=removes)

    def do_batch(self, places: set[int], removes: bool) -> None:
        chosen = tuple(THINGS[place] for place in sorted(places))
        mixed = len({thing.form is Form.RULE for thing in chosen}) > 1
        torn = removes and {SKILL, FILE} <= set(chosen) and SKILL in self.model.world
        self._apply(chosen, removes=removes, refused=mixed or torn)

    def do_edit(self, place: int, removes: bool) -> None:
        """A person's own edit, past the ledger."""
        thing = THINGS[place]
        if thing.form is Form.RULE:
            return
        path = place_of(self.home, Key(*thing)).path
        text = self.text(thing)
        if thing.form is Form.NOTE:
            page = path.read_text() if path.exists() else ""
            notes = note_pages.placed(page)
            if not notes:
                return
            old = notes[0].text
            path.write_text(
                note_pages.removed(page, notes[0]) if removes else note_pages.replaced(page, notes[0], text)
            )
            self.model.page(thing).remove(old)
            if not removes:
                self.model.page(thing).append(text)
        elif removes:
            path.unlink(missing_ok=True)
            self.model.write(thing, None)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            self.model.write(thing, text)

    def do_undo(self) -> None:
        possible = bool(self.model.done) and self.model.undo()
        with self.expect(possible):
            undo(self.home, self.database, actor=Actor.PERSON, now=self.clock)

    def do_redo(self) -> None:
        possible = bool(self.model.undone) and self.model.redo()
        with self.expect(possible):
            redo(self.home, self.database, actor=Actor.PERSON, now=self.clock)

    def do_revert(self, number: int) -> None:
        count = len(self.model.flat())
        if not count:
            return
        place = number % count
        entry = self.state().done[place].number
        with self.expect(self.model.revert(place)):
            revert(self.home, self.database, entry, actor=Actor.WATCH, now=self.clock)

    def do_propose(self, place: int, decision: str) -> None:
        thing = THINGS[place]
        before = self.model.current(thing)
        patch = self.patch(thing, before, self.text(thing), trust=Trust.EXTERNAL)
        waiting = propose(self.home, self.database, patch, actor=Actor.AGENT, now=self.clock)
        self.check()
        if decision == "refuse":
            refuse(self.home, self.database, waiting.number, actor=Actor.PERSON, now=self.clock)
            return
        with self.expect(self.is_writable(thing)):
            approve(self.home, self.database, waiting.number, actor=Actor.PERSON, now=self.clock)
            self.model.apply((Turn(thing, before, patch.text),))

    def do_stale(self, place: int, _: None) -> None:
        """A patch written on what is not there is refused and changes nothing."""
        patch = self.patch(THINGS[place], "what never was there", self.text(THINGS[place]))
        with pytest.raises(WhetError):
            apply_all(self.home, self.database, (patch,), actor=Actor.PERSON, now=self.clock)

    def _apply(self, chosen: tuple[Thing, ...], *, removes: bool, refused: bool = False) -> None:
        turns = []
        for thing in chosen:
            before = self.model.current(thing)
            turns.append(Turn(thing, before, None if removes and before is not None else self.text(thing)))
        patches = tuple(self.patch(turn.thing, turn.before, turn.after) for turn in turns)
        writable = all(self.is_writable(thing, chosen) for thing in chosen)
        with self.expect(writable and not refused):
            apply_all(self.home, self.database, patches, actor=Actor.PERSON, now=self.clock)
            self.model.apply(tuple(turns))

    def patch(self, thing: Thing, before: str | None, after: str | None, trust: Trust = Trust.USER) -> Patch:
        return Patch(thing.form, action_for(before, after), thing.name, after or "", trust=trust, before=digest(before))

    def is_writable(self, thing: Thing, beside: tuple[Thing, ...] = ()) -> bool:
        """A support file needs its skill; a new one may come with it."""
        is_new = FILE not in self.model.world and SKILL in beside
        return thing != FILE or SKILL in self.model.world or is_new

    def text(self, thing: Thing) -> str:
        """Words that were never used before, so that no two texts are alike."""
        self.texts += 1
        words = f"word{self.texts}a word{self.texts}b"
        return f"---\nname: brewing\ndescription: {words}\n---\nBrew.\n" if thing == SKILL else words

    @contextlib.contextmanager
    def expect(self, possible: bool) -> Iterator[None]:
        if possible:
            yield
            return
        with pytest.raises((WhetError, Conflict)):
            yield

    def state(self) -> State:
        return ledger_of(self.home, self.database).state()

    def check(self) -> None:
        state, model = self.state(), self.model
        assert {Thing(item.form, item.name): item.text for item in state.items} == model.known
        assert [(change.key.name, _text(change.before), _text(change.after)) for change in state.done] == [
            (turn.thing.name, turn.before, turn.after) for turn in model.flat()
        ]
        assert len(state.undone) == sum(map(len, model.undone))
        assert state.unfinished == ()
        for thing in WHOLE_FILES:
            path = place_of(self.home, Key(*thing)).path
            assert (path.read_text() if path.exists() else None) == model.world.get(thing)
        for name, texts in model.pages.items():
            path = self.home.folder / f"{name}.md"
            page = path.read_text() if path.exists() else ""
            assert sorted(note.text for note in note_pages.placed(page)) == sorted(texts)
        assert {thing: text for thing, text in model.world.items() if thing.form is Form.RULE} == {
            thing: text for thing, text in model.known.items() if thing.form is Form.RULE
        }


def _text(item: object) -> str | None:
    return getattr(item, "text", None)


operations_to_run = st.lists(OPERATION, min_size=OPERATIONS, max_size=OPERATIONS)
LARGE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


def run_all(operations: list[tuple[object, ...]], database_url: str = "") -> None:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        home = Home(Path(folder) / "home", database_url)
        with opened(home) as database:
            world = World(home, database)
            for name, *arguments in operations:
                world.run(str(name), *arguments)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=LARGE)
@given(operations_to_run)
def test_random_operations_agree_with_the_model(operations: list[tuple[object, ...]]) -> None:
    run_all(operations)


@settings(max_examples=examples(10), deadline=None, suppress_health_check=LARGE)
@given(operations_to_run)
def test_random_operations_agree_on_postgres(postgres_url: str, operations: list[tuple[object, ...]]) -> None:
    with fresh_schema(postgres_url, f"agreement_{secrets.token_hex(8)}") as url:
        run_all(operations, url)
