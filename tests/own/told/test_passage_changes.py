"""A passage is changed where it is the only one, and everything else stays to the byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.ledger.marked_block import find_passage, lines_of, passage, passage_place, replace_passage
from whet.ledger.patches import digest

LINES = st.lists(st.sampled_from(["a\n", "b\r\n", "\n", "c\n", "- d\n", "last"]), min_size=1, max_size=20)


@given(LINES, st.data(), st.booleans())
def test_there_and_back_is_the_same_file(drawn: list[str], data: st.DataObject, is_marked: bool) -> None:
    text = ("\ufeff" if is_marked else "") + "".join(drawn)
    number = len(lines_of(text.removeprefix("\ufeff")))
    first = data.draw(st.integers(1, number))
    last = data.draw(st.integers(first, number))
    new = data.draw(st.sampled_from([[], ["new\n"], ["a\n", "a\n"]]))
    change = passage(text, first, last, new)
    if change is None:
        return
    after = replace_passage(text, change.before, change.after)
    assert after is not None
    assert replace_passage(after, change.after, change.before) == text
    place = passage_place(change.name("/a/CLAUDE.md"))
    assert find_passage(after, place, digest(change.after)) in (change.after, None)
    assert place.path == "/a/CLAUDE.md"


def test_a_passage_that_is_gone_or_there_twice_is_not_changed() -> None:
    change = passage("a\nb\nc\n", 2, 2, ["x\n"])
    assert change is not None
    assert replace_passage("a\nB\nc\n", change.before, change.after) is None
    assert replace_passage("a\nb\nc\na\nb\nc\n", change.before, change.after) is None
    assert replace_passage("0\na\nb\nc\n9\n", change.before, change.after) == "0\na\nx\nc\n9\n"


@pytest.mark.parametrize("text", ["only\n", ""])
def test_nothing_is_proposed_that_leaves_nothing(text: str) -> None:
    assert passage(text, 1, 1, []) is None
