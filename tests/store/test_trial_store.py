"""Trials in the database: materials by their hash, attempts once, progress in the place of older progress."""

import pytest

from whet.errors import WhetError
from whet.ledger.patches import Action, Form, Patch
from whet.store.database import Database
from whet.store.records import (
    keep_attempt,
    keep_material,
    keep_progress,
    key_of,
    known_attempt,
    material,
    progress_of,
)
from whet.trials.attempts import Arm, Attempt, Measures
from whet.trials.cases import Case
from whet.trials.checks import Check
from whet.trials.design import Price

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
