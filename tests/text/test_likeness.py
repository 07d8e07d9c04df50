"""Short texts that say the same, or the opposite, are told by their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.text.likeness import is_opposed, is_same, sense, similarity

TEXTS = st.text(max_size=120)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Read the file before you edit it.", "Always read a file before editing it."),
        ("Run the tests before each commit", "run tests before every commit!"),
        ("Never push to main.", "Don’t push to main, please."),
        ("日本語で答えてください", "日本語で答えてください。"),
    ],
)
def test_other_small_words_and_endings_say_the_same(one: str, other: str) -> None:
    assert is_same(sense(one), sense(other))
    assert not is_opposed(sense(one), sense(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Push to the main branch.", "Never push to the main branch."),
        ("Include the stack trace in reports.", "Exclude the stack trace from reports."),
        ("Run the linter before a commit.", "Run the linter after a commit."),
    ],
)
def test_a_negation_or_a_turned_word_says_the_opposite(one: str, other: str) -> None:
    assert is_opposed(sense(one), sense(other))
    assert not is_same(sense(one), sense(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Read the file before you edit it.", "Run the tests before each commit."),
        ("Answer in German.", "Answer in English."),
        ("Do not avoid the tests.", "Run the tests."),
    ],
)
def test_what_is_about_something_else_is_neither(one: str, other: str) -> None:
    assert not is_same(sense(one), sense(other))
    assert not is_opposed(sense(one), sense(other))


@given(TEXTS, TEXTS)
def test_likeness_is_the_same_from_both_sides_and_never_both(one: str, other: str) -> None:
    first, second = sense(one), sense(other)
    assert is_same(first, second) == is_same(second, first)
    assert is_opposed(first, second) == is_opposed(second, first)
    assert not (is_same(first, second) and is_opposed(first, second))
    assert 0.0 <= similarity(first.words, second.words) <= 1.0


@given(TEXTS)
def test_a_text_is_never_opposed_to_itself(text: str) -> None:
    assert not is_opposed(sense(text), sense(text.upper()))
