"""Markdown that streams to a terminal: the same however it is cut, nothing lost, nothing obeyed."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from whet.cli.chat.markdown import Markdown

CODES = re.compile(r"\x1b\[[0-9;]*m")
PIECES = [
    "**",
    "*",
    "_",
    "`",
    "```\n",
    "~~",
    "[a](b)",
    "- ",
    "1. ",
    "# ",
    "> ",
    "| a | b |\n",
    "|--|--|\n",
    "\n",
    "\n\n",
]
texts = st.lists(st.sampled_from([*PIECES, "word", " ", "你好", "\\*", "x", "- [x] "]) | st.text(max_size=4)).map(
    "".join
)


def shown(text: str, *, step: int = 0, width: int = 40, styled: bool = True) -> str:
    markdown = Markdown(width, styled=styled)
    size = step or max(len(text), 1)
    pieces = [markdown.feed(text[start : start + size]) for start in range(0, len(text), size)]
    return "".join(pieces) + markdown.finish()


@given(texts, st.integers(1, 7))
@example("- [x] done", 1)
@example("``a` b``", 1)
@example("\xa00", 1)
def test_it_does_not_matter_how_the_stream_is_cut(text: str, step: int) -> None:
    assert shown(text, step=step) == shown(text)


@given(st.text())
def test_no_code_of_a_terminal_comes_through(text: str) -> None:
    out = CODES.sub("", shown(text + "\x1b[2J\x1b]0;evil\x07\r\x9b1A"))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out)


@given(st.lists(st.text("abc你", min_size=1, max_size=8), max_size=40).map(" ".join), st.integers(10, 60))
def test_lines_fit_the_width(text: str, width: int) -> None:
    lines = shown(text, width=width, styled=False).splitlines()
    assert all(cell_len(line) <= width or " " not in line for line in lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**bold** and *more*", "\x1b[1mbold\x1b[0m and \x1b[3mmore\x1b[0m\n"),
        ("call `f(**kwargs)`.", "call \x1b[36mf(**kwargs)\x1b[0m.\n"),
        ("2 * 3 * 4 and **kwargs", "2 * 3 * 4 and **kwargs\n"),
        ("## Title", "\x1b[1mTitle\x1b[0m\n"),
        ("a\n\n\n\nb", "a\n\nb\n"),
        ("\\*literal\\*", "*literal*\n"),
        ("a <b>tag</b> &amp; ![x](y)", "a <b>tag</b> & !\x1b[94mx\x1b[0m (\x1b[4;34my\x1b[0m)\n"),
    ],
)
def test_marks_become_styles(text: str, expected: str) -> None:
    assert shown(text, step=1) == expected


def test_a_block_is_shown_once_it_is_whole_and_what_is_being_written_is_known() -> None:
    markdown = Markdown(60)
    assert (markdown.feed("The answer is "), markdown.pending) == ("", "The answer is ")
    assert markdown.feed("forty-two.\n\n  and more") == ""  # an indented line may still belong to it
    assert markdown.feed("\n\nNext") == "The answer is forty-two.\n\nand more\n"
    assert (markdown.finish(), markdown.pending) == ("\nNext\n", "")


def test_code_is_shown_without_its_fence_and_as_it_stands() -> None:
    text = "```python\nx = [1]\n\ny = **2**\n```\n\nDone"
    assert shown(text, styled=False) == "  x = [1]\n\n  y = **2**\n\nDone\n"


def test_a_table_stands_in_columns() -> None:
    text = "| name | size |\n|---|--:|\n| a | 1 |\n| `b` | 22 |\n\nafter"
    assert shown(text, styled=False).split() == ["name", "size", "──────────", "a", "1", "b", "22", "after"]


@pytest.mark.parametrize("mark", ["*", "`", "_", "[", "~~", "**a", "[a](", "|", "#"])
def test_a_hostile_line_takes_time_by_its_length_only(mark: str) -> None:
    assert "the end" in shown(f"{mark * 20_000}\nthe end", step=500)
