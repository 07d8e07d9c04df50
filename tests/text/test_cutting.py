"""Texts cut to a length."""

from hypothesis import given
from hypothesis import strategies as st

from whet.text.words import cut


def test_a_long_text_is_cut_after_a_word_and_says_so() -> None:
    rule = "MD025/single-title/single-h1 Multiple top-level headings"
    assert cut(rule, 40) == "MD025/single-title/single-h1 Multiple…"
    assert cut("It looks, at first, like this", 10) == "It looks…"
    assert cut(rule, 20) == "MD025/single-title/…", "within one long word, as much as has room"
    assert cut("short", 5) == "short"


@given(st.text(max_size=60), st.integers(2, 40))
def test_a_cut_text_has_room_and_is_marked_exactly_where_something_is_missing(text: str, letters: int) -> None:
    found = cut(text, letters)
    assert len(found) <= letters
    assert found == text or (found.endswith("…") and text.startswith(found[:-1]))
