"""Pages of notes: what people write is read, and a change leaves the rest as they wrote it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.own.told.memory import normalised
from whet.own.told.note_pages import PageForm, added, is_mistakable, placed, removed, replaced, shown, size
from whet.text.quoting import visible

BY_HAND = """\
# What I know

- Uses metric units.
* Deploys from `main` only;
  never from a laptop.

  Ask before a Friday.
1. Likes tables.
A line of its own
goes on here.

<!-- to do: tidy up
- not a note -->

## Never do

- Push without asking.
"""

NOTES = ["Uses metric units.", "Deploys from `main` only;\nnever from a laptop.\n\nAsk before a Friday."]
NOTES += ["Likes tables.\nA line of its own\ngoes on here.", "Push without asking."]

# Pieces that could be mistaken for the form of the page.
PIECES = ["- ", "* ", "1. ", "# ", "## x", "<!--", "-->", "---", "  ", "\t", "\n", "\n\n", "§", "word", "é", "…", "```"]


def is_note(text: str) -> bool:
    """Whether a text could be a note at all; `memory` refuses the others."""
    return bool(text) and visible(text) == text and not any(map(is_mistakable, text.split("\n")))


texts = (
    st.lists(st.sampled_from(PIECES) | st.text(max_size=6), min_size=1, max_size=8)
    .map(lambda pieces: normalised("".join(pieces)))
    .filter(is_note)
)
pages = st.lists(st.sampled_from([*PIECES, "\r\n", "- a\n", "b\n", "\n\n\n", "\ufeff"]), max_size=14).map("".join)
forms = st.sampled_from(PageForm)


def found(page: str, form: PageForm = PageForm.LIST) -> list[str]:
    return [note.text for note in placed(page, form)]


def test_what_a_person_writes_by_hand_is_read() -> None:
    assert found(BY_HAND) == NOTES


@given(st.lists(texts, max_size=6), forms)
def test_notes_that_are_written_are_read_again(notes: list[str], form: PageForm) -> None:
    page = ""
    for text in notes:
        page = added(page, text, form)
    assert found(page, form) == notes


@given(pages, texts)
def test_adding_a_note_leaves_every_other_note_and_byte(page: str, text: str) -> None:
    after = added(page, text)
    same = [index for index, note in enumerate(placed(after)) if note.text == text]
    assert any(_without(after, index) == found(page) and _cut(after, index) == _bare(page) for index in same)


def _cut(page: str, index: int) -> str:
    note = placed(page)[index]
    return _bare(page[: note.start] + page[note.end :])


def _bare(page: str) -> str:
    return page.replace("\r", "").replace("\n", "")


def _without(page: str, index: int) -> list[str]:
    notes = found(page)
    return notes[:index] + notes[index + 1 :]


@given(pages, st.data())
def test_replacing_a_note_leaves_every_other_byte(page: str, data: st.DataObject) -> None:
    notes = placed(page)
    if not notes:
        return
    index = data.draw(st.integers(0, len(notes) - 1))
    text = data.draw(texts)
    after = replaced(page, notes[index], text)
    assert after.startswith(page[: notes[index].start])
    assert after.endswith(page[notes[index].end :])
    expected = found(page)
    expected[index] = text
    assert found(after) == expected


@given(pages, st.data())
def test_removing_a_note_leaves_every_other_byte(page: str, data: st.DataObject) -> None:
    notes = placed(page)
    if not notes:
        return
    index = data.draw(st.integers(0, len(notes) - 1))
    after = removed(page, notes[index])
    assert after == page[: notes[index].start] + page[notes[index].end :]
    assert found(after) == _without(page, index)


def test_a_new_note_never_stands_under_a_heading_that_would_change_its_sense() -> None:
    page = added(BY_HAND, "Lives in Lisbon.")
    assert found(page) == [*NOTES[:3], "Lives in Lisbon.", NOTES[3]]
    assert added("## Never do\n- Shout.\n", "Sings.") == "- Sings.\n\n## Never do\n- Shout.\n"
    assert added("# Me\n", "Sings.") == "# Me\n- Sings.\n"


def test_line_endings_and_a_missing_last_newline_are_kept() -> None:
    assert added("- a\r\n- b", "c\nd") == "- a\r\n- b\r\n- c\r\n  d\r\n"
    assert replaced("- a\r\n- b", placed("- a\r\n- b")[1], "x") == "- a\r\n- x"


def test_the_form_of_hermes_is_written_exactly() -> None:
    page = added(added("", "one", PageForm.HERMES), "two\nlines", PageForm.HERMES)
    assert page == "one\n§\ntwo\nlines"
    assert removed(page, placed(page, PageForm.HERMES)[0], PageForm.HERMES) == "two\nlines"
    assert replaced(page, placed(page, PageForm.HERMES)[1], "2", PageForm.HERMES) == "one\n§\n2"
    assert found("price § 5 is part of a note\n§\n\n  two  \n", PageForm.HERMES) == [
        "price § 5 is part of a note",
        "two",
    ]


def test_an_agent_is_told_the_headings_but_no_comments() -> None:
    told = shown(BY_HAND, 10_000)
    assert "## Never do\n\n- Push without asking." in told
    assert "tidy up" not in told
    assert "not a note" not in told


@given(pages, st.integers(0, 60), forms)
def test_what_an_agent_is_told_never_exceeds_the_limit(page: str, limit: int, form: PageForm) -> None:
    assert len(shown(page, limit, form)) <= limit


def test_notes_beyond_the_limit_are_left_out_whole() -> None:
    assert shown("- one\n- two\n- three\n", 12) == "- one\n- two"


@pytest.mark.parametrize("page", ["<!-- never closed\n- a\n", "- a\n<!-- never closed\n"])
def test_a_comment_without_an_end_hides_no_note(page: str) -> None:
    assert "b" in found(added(page, "b"))


def test_the_size_counts_what_an_agent_is_told() -> None:
    assert size("<!-- long comment -->\n- a\n") == len("- a")
    assert size("a\n§\nb", PageForm.HERMES) == 5
