"""Prompts by their key, restored byte for byte."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.ledger.patches import Action, Form, Patch
from whet.own.told.prompt import Material, Prompt, Sources, assemble
from whet.sessions.trust import Trust
from whet.shipped.guidance import built_in
from whet.store.attempts import keep_attempt, known_attempt
from whet.store.database import Database
from whet.store.records import keep_material, keep_progress, keep_prompt, key_of, material, progress_of, restore_prompt
from whet.trials.attempts import Arm, Attempt, Measures
from whet.trials.cases import Case
from whet.trials.checks import Check
from whet.trials.design import Price

ANY = st.text(st.characters(codec="utf-8"), max_size=200)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.builds(Prompt, ANY, ANY, ANY))
def test_a_prompt_comes_back_byte_for_byte(database: Database, prompt: Prompt) -> None:
    key = keep_prompt(database, prompt, now=1.0)
    restored = restore_prompt(database, key)
    assert restored == prompt
    assert restored.text.encode() == prompt.text.encode()


def test_a_resumed_session_is_told_what_it_was_told_though_memory_changed(database: Database) -> None:
    sources = Sources(guidance=built_in(), memory=Material("Likes tea.", Trust.USER))
    first = assemble(sources)
    key = keep_prompt(database, first, now=1.0)
    later = assemble(Sources(guidance=built_in(), memory=Material("Likes coffee.", Trust.USER)))
    assert keep_prompt(database, later, now=2.0) != key
    assert restore_prompt(database, key).text == first.text


def test_keeping_twice_changes_nothing(database: Database) -> None:
    prompt = Prompt("a", "b", "c")
    keep_prompt(database, prompt, now=1.0)
    keep_prompt(database, prompt, now=2.0)
    assert database.query("SELECT count(*), min(at) FROM records") == [(1, 1.0)]


def test_the_beginning_of_a_key_is_enough(database: Database) -> None:
    prompt = Prompt("a", "b", "c")
    keep_prompt(database, prompt, now=1.0)
    assert restore_prompt(database, prompt.key[:6]) == prompt


def test_a_beginning_that_two_keys_share_is_refused(database: Database) -> None:
    prompts = [Prompt(str(number), "", "") for number in range(17)]
    for prompt in prompts:
        keep_prompt(database, prompt, now=1.0)
    firsts = [prompt.key[0] for prompt in prompts]
    shared = next(first for first in firsts if firsts.count(first) > 1)
    with pytest.raises(WhetError, match="Several"):
        restore_prompt(database, shared)


@pytest.mark.parametrize("key", ["abcdef", "", "%", "not hexadecimal"])
def test_a_key_that_is_not_there_gives_advice(database: Database, key: str) -> None:
    keep_prompt(database, Prompt("a", "b", "c"), now=1.0)
    with pytest.raises(WhetError) as caught:
        restore_prompt(database, key)
    assert "session" in caught.value.advice


@pytest.mark.parametrize("body", [b'{"stable":"other","context":"b","volatile":"c"}', b"{"])
def test_a_damaged_prompt_is_refused_and_never_sent(database: Database, body: bytes) -> None:
    key = keep_prompt(database, Prompt("a", "b", "c"), now=1.0)
    database.execute("UPDATE records SET body = ? WHERE key = ?", (body, key))
    with pytest.raises(WhetError, match="damaged"):
        restore_prompt(database, key)


CASE = Case("Do it.", Check(command="true"), "one", files={"b": "2", "a": "1"})


def test_materials_are_stored_once_and_come_back(database: Database) -> None:
    key = keep_material(database, CASE, now=1.0)
    assert keep_material(database, CASE, now=2.0) == key
    assert material(database, key, Case) == CASE
    patch = Patch(Form.RULE, Action.ADD, "tidy", "Tidy up.")
    assert keep_material(database, patch, now=1.0) != key
    with pytest.raises(WhetError, match="is missing"):
        material(database, "nothing", Case)


def test_an_attempt_that_was_looked_at_stays_as_it_is(database: Database) -> None:
    first = Attempt("one", Arm.BASE, 1, Measures(True), session="s1")
    keep_attempt(database, "key", first, now=1.0)
    keep_attempt(database, "key", Attempt("one", Arm.BASE, 1, Measures(False)), now=2.0)
    assert known_attempt(database, "key") == first
    assert known_attempt(database, "other") is None


def test_progress_takes_the_place_of_older_progress(database: Database) -> None:
    assert progress_of(database, "t1", Price) is None
    for added in (1, 2):
        keep_progress(database, "t1", Price(added=added), now=float(added))
    assert progress_of(database, "t1", Price) == Price(added=2)


def test_a_key_tells_its_parts_apart() -> None:
    assert key_of("a", "b") != key_of("ab")
    assert key_of({"x": 1, "y": 2}) == key_of({"y": 2, "x": 1})
