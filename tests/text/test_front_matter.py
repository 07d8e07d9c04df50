"""Front matter is read strictly: what is unclear is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.text.front_matter import split, words

KEYS = st.from_regex(r"[a-z][a-z_-]{0,10}", fullmatch=True)
VALUES = st.from_regex(r"[a-z0-9][a-z0-9 :,#-]{0,20}[a-z0-9]", fullmatch=True)


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.from_regex(r"[A-Za-z][A-Za-z \n-]{0,60}[A-Za-z]", fullmatch=True))
def test_what_was_written_is_read(fields: dict[str, str], text: str) -> None:
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    assert split(f"---\n{lines}---\n{text}\n", name="x") == (fields, text)


def test_line_endings_a_byte_order_mark_blank_lines_and_comments_do_not_matter() -> None:
    found = split("\ufeff---\r\n\r\n# why\r\nkey: value\r\n---\r\nText.\r\n", name="x")
    assert found == ({"key": "value"}, "Text.")


def test_dashes_in_the_text_stay_there() -> None:
    assert split("---\na: b\n---\nOne\n---\nTwo", name="x").text == "One\n---\nTwo"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "three dashes"),
        ("Text", "three dashes"),
        ("---\na: b\n", "never ends"),
        ("---\nnonsense\n---\n", "nonsense"),
        ("---\n  a: b\n---\n", "a: b"),
        ("---\na: 1\na: 2\n---\n", "twice"),
    ],
)
def test_what_is_unclear_is_refused_with_the_name_of_the_file(source: str, reason: str) -> None:
    with pytest.raises(WhetError, match=reason) as caught:
        split(source, name="terminal")
    assert "terminal" in caught.value.message
    assert caught.value.advice


def test_a_list_has_commas_or_spaces_between_its_words() -> None:
    assert words("a, b c,d") == ("a", "b", "c", "d")
    assert words("") == ()
