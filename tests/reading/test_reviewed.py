"""A review sees all that a person typed, and what it claims is kept as a claim with the words that were really said."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from claimed_sessions import ASKED, keep_sessions, session
from conversations import agent, conversation, shell, user
from whet.improving.review import keep_claims, retold
from whet.lessons.claims import ClaimAuthor
from whet.sessions.transcripts import Transcript
from whet.store.claims import claims_of
from whet.store.database import Database
from whet.telling.targets.project_names import name_of_project
from whet.text.words import estimate

EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)


def talk(count: int, words: str) -> Transcript:
    turns = [part for number in range(count) for part in (user(f"Wish {number}. {words}"), agent("Done."))]
    return conversation(*turns, shell("make check", "error: no rule", error=True), native_id="talk", source="codex")


@pytest.mark.parametrize("words", ["", "Make it green. " * 100])
def test_every_message_of_the_person_is_shown(words: str) -> None:
    text = retold(talk(60, words), 6_000)
    assert all(f"PERSON: Wish {number}." in text for number in range(60))
    assert estimate(text) < 7_500
    assert [f"[{2 * number}]" in text for number in range(60)] == [True] * 60


def test_events_are_shown_beside_what_the_person_said() -> None:
    assert "RED make check → error: no rule" in retold(talk(3, ""), 6_000)


@EMBEDDED
def test_claims_in_the_last_words_are_kept_with_the_message_that_says_them(database: Database, tmp_path: Path) -> None:
    spoken = session("day0", tmp_path, 0)
    keep_sessions(database, [spoken])
    good = {"op": "new", "rule": "Never push to main.", "source": "person", "quotes": [{"words": ASKED}]}
    invented = {"op": "new", "rule": "Deploy on Friday.", "source": "person", "quotes": [{"words": "deploy on Friday"}]}
    text = f"Nothing to keep.\n{json.dumps(good)}\n{json.dumps(invented)}"
    assert keep_claims(database, spoken, text, reader="m") == 1
    assert keep_claims(database, spoken, text, reader="m") == 1  # done again, nothing is kept twice
    [logged] = claims_of(database, name_of_project(tmp_path))
    assert (logged.reader.author, logged.claim.rule) == (ClaimAuthor.REVIEW, good["rule"])
    assert [(each.session, each.message) for each in logged.claim.quotes] == [(spoken.id, 8)]


@EMBEDDED
def test_an_answer_without_claims_and_a_session_without_a_folder_keep_nothing(
    database: Database, tmp_path: Path
) -> None:
    spoken = session("day0", tmp_path, 0)
    keep_sessions(database, [spoken])
    assert keep_claims(database, spoken, "Kept one note.", reader="m") == 0
    line = json.dumps({"op": "new", "rule": "Never push.", "source": "person", "quotes": [{"words": ASKED}]})
    assert keep_claims(database, replace(spoken, folder=""), line, reader="m") == 0
