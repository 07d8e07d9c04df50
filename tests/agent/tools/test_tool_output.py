"""Output is bounded and holds nothing that a terminal would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.tools.processes import BoundedOutput, plain


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;ZXZpbA==\x07clipboard", "clipboard"),
        ("\x1b]0;never ended", ""),
        ("\x1bPdevice\x1b\\text", "text"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("abc\b\b\bxyz", "xyz"),
        ("a\x00b\x07c\x7f", "abc"),
        ("\u202eevil\u202c", "evil"),
        ("\x9b31mred", "red"),
        ("tab\tstays\n", "tab\tstays\n"),
    ],
)
def test_text_is_left_as_a_terminal_would_show_it(printed: str, left: str) -> None:
    assert plain(printed) == left


@given(st.text(alphabet=st.sampled_from("ab\x1b[]0;m\x07\\\r\n\b\x9b\x00P")))
def test_no_control_is_left(text: str) -> None:
    assert all(character in "\n\t" or character.isprintable() for character in plain(text))


@given(st.lists(st.binary(max_size=50), max_size=40), st.integers(min_value=10, max_value=200))
def test_a_tape_keeps_head_and_tail_and_counts_the_rest(pieces: list[bytes], limit: int) -> None:
    tape = BoundedOutput(limit)
    for piece in pieces:
        tape.add(piece)
    whole = b"".join(pieces)
    taped = tape.take()
    assert len(taped.head) + taped.missing + len(taped.tail) == len(whole)
    assert len(taped.head) + len(taped.tail) <= limit
    assert whole.startswith(taped.head)
    assert whole.endswith(taped.tail)
    assert tape.take() == (b"", b"", 0)


def test_what_is_left_out_is_said() -> None:
    tape = BoundedOutput(100)
    tape.add(b"a" * 1_000)
    assert "[… 900 bytes left out …]" in tape.take().text
