"""The index of words is tidied after many writes, and finds the same afterwards."""

from pathlib import Path

import pytest

from whet.sessions.transcripts import Message, Role, Text, Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.search import search
from whet.store.words import tidy

WRITES = 12


def keep(database: Database, number: int) -> None:
    parts = (Text(f"needle number {number}"),)
    messages = (Message(role=Role.USER, parts=parts, trust=Trust.USER),)
    transcript = Transcript(source="pi", native_id=str(number), messages=messages)
    sessions.keep(database, prepare(transcript), Provenance(f"/{number}", 1.0, 2.0))


def parts_of_index(database: Database) -> int:
    return int(database.query("SELECT count(DISTINCT segid) FROM message_index_idx")[0][0])


@pytest.fixture
def written(database: Database) -> Database:
    for number in range(WRITES):
        keep(database, number)
    return database


def test_tidying_changes_no_answer(written: Database) -> None:
    before = search(written, "needle", limit=100)
    tidy(written)
    tidy(written)
    assert search(written, "needle", limit=100) == before
    assert len(before) == WRITES


def test_tidying_leaves_fewer_parts_to_look_into(tmp_path: Path) -> None:
    with opened(Home(tmp_path / "home")) as database:
        for number in range(WRITES):
            keep(database, number)
        many = parts_of_index(database)
        tidy(database)
        assert many > parts_of_index(database)
        assert database.query("PRAGMA integrity_check") == [("ok",)]
