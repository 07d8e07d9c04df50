"""A block comes and goes, and every byte around it stays."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from whet.ledger.marked_block import BYTE_ORDER_MARK, Block, Damage, find, place, plain, take_out

PREAMBLE = b"---\nalwaysApply: true\n---\n"
pieces = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b"\r",
        b"# Title",
        b" ",
        b"\t",
        b"\xff\xfe\x80",
        b"- rule",
        b"<!--",
        b"-->",
        b"<!-- other -->",
        b"```",
    ]
)
contents = st.one_of(
    st.binary(max_size=80),
    st.lists(pieces, max_size=12).map(b"".join),
    st.lists(pieces, max_size=8).map(lambda parts: BYTE_ORDER_MARK + b"".join(parts)),
).filter(lambda content: find(content) is None)
texts = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=80),
    st.sampled_from(["- one", "- one\n- two", "- CRLF\r\n- here", "<!-- whet:end -->", "<!-- whet:begin 0 -->\nx"]),
).filter(plain)


def block_of(content: bytes | None) -> Block:
    found = find(content or b"")
    assert isinstance(found, Block)
    return found


@given(contents, texts)
@example(b"", "x")
@example(BYTE_ORDER_MARK, "x")
@example(b"no final line break", "x")
@example(b"a\r\nb\r\n", "x\ny")
@example(b"old Mac\r", "x")
@example(b"a\r\nb\nc\r", "x")
def test_taking_the_block_out_restores_every_byte(content: bytes, text: str) -> None:
    placed = place(content, text)
    assert placed is not None
    assert placed.startswith(content)
    assert take_out(placed) == content
    assert block_of(placed).text == plain(text)
    assert not block_of(placed).edited


@given(contents, texts, texts)
def test_a_new_text_replaces_the_old_and_nothing_else(content: bytes, first: str, second: str) -> None:
    once = place(content, first)
    twice = place(once, second)
    assert twice == place(content, second)
    assert place(twice, second) == twice
    assert place(twice, "") == content


@given(contents, texts, texts, st.binary(max_size=30), st.binary(max_size=30))
def test_what_a_person_adds_around_the_block_is_never_touched(
    content: bytes, text: str, other: str, above: bytes, below: bytes
) -> None:
    placed = place(content, text) or b""
    changed = above + b"\n" + placed + below
    found = find(changed)
    if not isinstance(found, Block):  # the person wrote into the marker's own line
        return
    updated = place(changed, other) or b""
    after = block_of(updated)
    assert updated[: after.start] == changed[: found.start]
    assert updated[after.end :] == changed[found.end :]
    rest = take_out(changed) or b""
    assert rest.replace(b"\n", b"").replace(b"\r", b"") == (above + content + below).replace(b"\n", b"").replace(
        b"\r", b""
    )
    assert rest.startswith(above + b"\n" + content)
    assert rest.endswith(below)


@given(texts)
def test_a_file_made_for_the_block_goes_with_it(text: str) -> None:
    made = place(None, text, preamble=PREAMBLE)
    assert made is not None
    assert made.startswith(PREAMBLE)
    assert take_out(made, preamble=PREAMBLE) is None
    assert take_out(made + b"mine\n", preamble=PREAMBLE) == PREAMBLE + b"mine\n"
    assert place(None, "") is None


@given(contents.filter(lambda content: b"\r" not in content), texts)
def test_line_endings_changed_by_version_control_are_no_edit(content: bytes, text: str) -> None:
    placed = place(content, text) or b""
    converted = placed.replace(b"\n", b"\r\n")
    assert not block_of(converted).edited
    assert take_out(converted) == content.replace(b"\n", b"\r\n")
    updated = place(converted, "another") or b""
    assert b"\n" not in updated.replace(b"\r\n", b"")


def test_an_empty_file_that_was_there_before_stays() -> None:
    assert take_out(place(b"", "x") or b"") == b""


def test_an_edit_within_the_block_is_seen() -> None:
    placed = place(b"# Mine\n", "- one\n- two") or b""
    edited = block_of(placed.replace(b"- two", b"- 2"))
    assert edited.edited
    assert edited.text == "- one\n- 2"


def test_markers_that_make_no_block_are_reported_and_refused() -> None:
    placed = place(b"# Mine\n", "- one") or b""
    end = b"<!-- whet:end -->\n"
    broken = (
        placed + placed,
        placed.replace(end, b""),
        placed.replace(b"<!-- whet:begin", b"text <!-- whet:begin"),
        end + placed,
        re.sub(rb"begin [0-9a-f]+", b"begin 12", placed),
    )
    assert all(isinstance(find(content), Damage) for content in broken)


def test_a_marker_within_a_line_is_only_text() -> None:
    assert find(b"Whet writes `<!-- whet:begin` and `<!-- whet:end -->`.\n") is None


def test_the_markers_say_nothing_that_agents_take_for_an_attack() -> None:
    """Hermes refuses a file with such a comment."""
    suspicious = re.compile(rb"<!--[^>]*(?:ignore|override|system|secret|hidden)[^>]*-->", re.IGNORECASE)
    assert not suspicious.search(place(b"# Mine\n", "- one") or b"")
