"""What a person approves is shown whole: every odd character by its code point, every wrapped line by a mark."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from many_texts import DECEPTIVE, HIDDEN, REAL_TEXTS
from whet.text.characters import first_hidden
from whet.text.showing import BEGINS, GOES_ON, cells, framed, shown

CODE_POINT = re.compile(r"<U\+[0-9A-F]{4,6}>")


@pytest.mark.parametrize("text", REAL_TEXTS.values(), ids=REAL_TEXTS)
def test_real_texts_are_shown_as_they_are(text: str) -> None:
    """All but spaces that are no plain ones: what looks like a blank may part words, or keep a command from working."""
    expected = text.replace("\r\n", "\n").replace("\t", "    ")
    for space in "\u00a0\u202f\u3000":
        expected = expected.replace(space, f"<U+{ord(space):04X}>")
    assert shown(text) == expected


@pytest.mark.parametrize("text", [*HIDDEN.values(), *DECEPTIVE])
def test_what_is_hidden_or_passes_for_another_is_shown_by_its_code_point(text: str) -> None:
    assert CODE_POINT.search(shown(text))


def test_odd_spaces_strikes_and_heaps_of_marks_are_shown() -> None:
    assert shown("a\u2003b\U000e1000") == "a<U+2003>b<U+E1000>"
    assert shown("d\u0336e\u0336l") == "d<U+0336>e<U+0336>l"
    assert shown("Z\u0301\u0302\u0303\u0304\u0305") == "Z\u0301\u0302\u0303<U+0304><U+0305>"
    assert shown("e\u0323\u0302") == "e\u0323\u0302"


@given(st.text(st.characters()))
def test_nothing_that_is_shown_is_hidden(text: str) -> None:
    assert first_hidden(shown(text)) == ""
    shown(text).encode()


@given(st.text(st.characters()))
def test_texts_that_differ_are_shown_differently(text: str) -> None:
    """What a person sees decides what they approve: an invisible change cannot hide behind the same words."""
    for extra in ("\u200b", "\U000e0041", "\ufe0f\ufe0f", "\u202e"):
        assert shown(text + extra) != shown(text)


@given(st.text(st.characters(), max_size=300), st.integers(20, 90))
def test_every_row_fits_and_bears_a_mark(text: str, width: int) -> None:
    rows = list(framed(text, width))
    assert all(row.startswith((BEGINS, GOES_ON)) for row in rows)
    assert all(sum(map(cells, row[2:])) + 2 < width for row in rows)
    assert sum(row.startswith(BEGINS) for row in rows) == shown(text).count("\n") + 1
    assert "".join(f"{chr(10) * row.startswith(BEGINS)}{row[2:]}" for row in rows)[1:] == shown(text)


def test_padding_to_the_width_of_the_screen_makes_no_line_of_its_own() -> None:
    forged = "Water the plants.".ljust(80) + "12  approved by person"
    rows = list(framed(forged, 80))
    assert len(rows) == 2
    assert rows[1].startswith(GOES_ON)
    assert not any(row.startswith("12") for row in rows)
