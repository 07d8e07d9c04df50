"""A message's words as Postgres text vectors stay within its limits and lose nothing."""

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from whet.store.words import LEXEME_BYTES, OCCURRENCES, POSITIONS, lexeme, searchable, terms, vectors

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
    text = " ".join(f"w{number}" for number in range(3 * POSITIONS))
    made = [entries(vector) for vector in vectors(text)]
    assert len(made) == 4
    for found in made:
        assert len(found) == 3 * POSITIONS
        assert max(place for places in found.values() for place in places) <= POSITIONS < 16_383
    assert all(any(found[f"w{number}"] for found in made) for number in range(3 * POSITIONS))


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
