"""Hidden characters are found wherever they are; what an emoji or a script needs is not one of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from many_texts import HIDDEN, REAL_TEXTS
from whet.text.characters import first_hidden, safe


@pytest.mark.parametrize("text", REAL_TEXTS.values(), ids=REAL_TEXTS)
def test_real_texts_hide_nothing(text: str) -> None:
    assert first_hidden(text) == ""


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_hidden_characters_are_found_and_named_by_their_code_point(text: str) -> None:
    assert first_hidden(text).startswith("U+")


def test_the_first_one_is_named() -> None:
    assert first_hidden("Ans\u200bwer\u2060") == "U+200B ZERO WIDTH SPACE"


@given(st.text(alphabet=st.characters(categories=["Ll", "Lu", "N", "P", "Sm", "Sc"])))
def test_letters_and_signs_of_every_script_are_seen(text: str) -> None:
    assert first_hidden(text) == ""


@given(st.text(st.characters()))
def test_a_terminal_obeys_nothing_in_what_is_left(text: str) -> None:
    shown = safe(text)
    assert not any(ord(each) < 32 and each not in "\n\t" for each in shown)
    assert not any(0x7F <= ord(each) < 0xA0 for each in shown)
    assert not set(shown) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    shown.encode()
