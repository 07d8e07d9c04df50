"""The words of a message, as the index takes them and a query asks for them."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.sessions.transcripts import Media, Message, Role, Text, Thought, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.store.words import (
    LEXEME_BYTES,
    MARK,
    OCCURRENCES,
    POSITIONS,
    indexed,
    lexeme,
    marks,
    plain,
    role_mark,
    searchable,
    terms,
    tool_mark,
    vectors,
)


def message(*parts: Text | Thought | Media | ToolCall | ToolResult) -> Message:
    return Message(role=Role.AGENT, parts=parts, trust=Trust.AGENT)


def test_all_that_a_message_holds_is_one_text_in_order() -> None:
    value = message(
        Thought("hm"),
        Text("I look."),
        ToolCall("c1", "Bash", '{"command": "ls"}'),
        ToolResult("c0", (Text("a b"), Media(kind="image"), Text("c"))),
        Media(kind="image", name="screen.png"),
    )
    assert plain(value) == 'hm\nI look.\nBash\n{"command": "ls"}\na b\nc'


def test_escapes_in_arguments_do_not_hide_their_words() -> None:
    value = message(
        ToolCall("c", "Write", '{"path": "a.py", "lines": ["one\\ntwo", 3, true, null, {"deep": "\\u00e9"}]}')
    )
    assert terms(plain(value)) == ["write", "path", "a", "py", "lines", "one", "two", "3", "true", "deep", "e"]


@pytest.mark.parametrize("arguments", ['{"broken\\": ', '"\\ud800"', "[" * 5_000 + '"\\n"' + "]" * 5_000])
def test_arguments_that_are_no_json_are_taken_as_they_are(arguments: str) -> None:
    assert plain(message(ToolCall("c", "Bash", arguments))).startswith("Bash\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("src/whet/store.py:12", ["src", "whet", "store", "py", "12"]),
        ("snake_case --no-verify", ["snake", "case", "no", "verify"]),
        ("Ärger naïve", ["arger", "naive"]),
        ("cafe\u0301", ["cafe"]),
        ("ﬁle ＡＢＣ x²", ["file", "abc", "x2"]),
        ("見つからない", list("見つからない")),
        ("한국어", list("한국어")),
        ("🎉 … —", []),
    ],
)
def test_a_text_falls_apart_into_words(text: str, words: list[str]) -> None:
    assert terms(text) == words


@given(st.text())
def test_what_was_made_searchable_stays_as_it_is(text: str) -> None:
    assert terms(searchable(text)) == terms(text)


@given(st.text(), st.sampled_from(["user", "agent"]))
def test_no_text_can_pretend_to_be_a_mark(text: str, role: str) -> None:
    assert MARK not in indexed(message(Text(f"{text} {role_mark(role)}")))


def test_marks_name_the_role_and_each_tool_once() -> None:
    found = marks("tool", ["Bash", "Read", "Bash"]).split()
    assert found == [role_mark("tool"), *sorted({tool_mark("Bash"), tool_mark("Read")})]
    assert all(word.startswith(MARK) for word in found)


HARD_LIMIT_BYTES = 1_048_575


def entries(vector: bytes) -> dict[str, list[int]]:
    """Each word of a vector with its places, read as the server reads it."""
    found: dict[str, list[int]] = {}
    [total], at = struct.unpack_from(">i", vector), 4
    for _ in range(total):
        end = vector.index(b"\0", at)
        [count] = struct.unpack_from(">H", vector, end + 1)
        found[vector[at:end].decode()] = list(struct.unpack_from(f">{count}H", vector, end + 3))
        at = end + 3 + 2 * count
    assert at == len(vector)
    return found


def test_a_short_message_is_one_vector_with_every_place() -> None:
    made = [entries(vector) for vector in vectors("the cat and the_dog")]
    assert made == [{"the": [1, 4], "cat": [2], "and": [3], "dog": [5]}]


def test_a_word_that_occurs_often_has_as_many_places_as_a_vector_holds() -> None:
    [vector] = vectors("row " * 1_000)
    assert entries(vector) == {"row": list(range(1, OCCURRENCES + 1))}


def test_a_message_without_words_has_none() -> None:
    assert list(vectors(" … ")) == []


@given(st.text(max_size=300))
def test_every_word_is_in_its_vector(text: str) -> None:
    words = {lexeme(term) for term in terms(text)}
    assert {word for vector in vectors(searchable(text)) for word in entries(vector)} == words


def test_a_long_message_becomes_vectors_that_each_name_all_of_its_words() -> None:
    text = " ".join(f"w{number}" for number in range(2 * POSITIONS))
    made = [entries(vector) for vector in vectors(text)]
    assert len(made) == 3
    for found in made:
        assert len(found) == 2 * POSITIONS
        assert max(place for places in found.values() for place in places) <= POSITIONS < 16_383
    assert all(any(found[f"w{number}"] for found in made) for number in range(2 * POSITIONS))


@given(st.sampled_from("aé見𐐀"), st.integers(1, 60), st.integers(1, 1_500))
@settings(max_examples=15, deadline=None)
def test_a_vector_is_never_larger_than_postgres_takes(letter: str, length: int, count: int) -> None:
    text = " ".join(f"{number}x{letter * length}" for number in range(count * 6))
    for vector in vectors(text):
        size = sum(len(word.encode()) + 4 + 2 * len(places) for word, places in entries(vector).items())
        assert size < HARD_LIMIT_BYTES


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=300))
def test_a_long_word_is_cut_the_same_way_always(word: str) -> None:
    cut = lexeme(word)
    assert word.startswith(cut)
    assert len(cut.encode()) <= LEXEME_BYTES
    assert lexeme(cut) == cut
