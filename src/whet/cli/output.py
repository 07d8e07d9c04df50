"""How results reach a person or a program."""

import functools
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from whet.text.characters import safe
from whet.text.showing import cells

PLAIN_WIDTH = 160
REVIEW_WIDTH = 80  # where there is no terminal: a pager on one is seldom narrower
NARROWEST = 8
READABLE = 12  # a text that is cut to less says little: a column less says more
WHOLE = frozenset({"id", "ended", "since", "next", "last", "when"})  # ids and times: a part of one says nothing
GAP = 2


class PipedConsole(Console):
    """A console whose reader may leave early, as `head` does: that is no failure, and whoever runs it decides."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@functools.cache
def console() -> Console:
    """Standard output: coloured and as wide as the terminal on a terminal, plain and wide elsewhere."""
    terminal = sys.stdout.isatty()
    size = shutil.get_terminal_size()  # asked here, for rich takes a dumb terminal to be 80 columns wide
    width = size.columns if terminal else PLAIN_WIDTH
    return PipedConsole(width=width, height=size.lines, highlight=False, emoji=False, soft_wrap=not terminal)


def review_width() -> int:
    """Within how many columns a text is shown that a person decides on."""
    return console().width if sys.stdout.isatty() else REVIEW_WIDTH


def print_json(value: object) -> None:
    """One JSON document for programs."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def print_json_line(value: object) -> None:
    """One line of JSON Lines."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")


def say(text: str = "") -> None:
    """A line for people, with markup. On a terminal what wraps stays below the beginning of an indented line."""
    indent = len(text) - len(text.lstrip(" "))
    if not indent or not sys.stdout.isatty() or "\n" in text:
        console().print(text)
        return
    for line in Text.from_markup(text[indent:], emoji=False).wrap(console(), console().width - indent):
        line.rstrip()
        console().print(Text(" " * indent) + line)


def next_step(words: str) -> None:
    """What to do next, in a line, on a terminal only: a program that reads on has its own plan."""
    if sys.stdout.isatty():
        say(f"[dim]Next: {words}[/]")


def plain(text: object) -> str:
    """Text of a session on a terminal: no control characters, no markup."""
    return escape(safe(str(text)))


def table(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: Sequence[str] = (), spare: Sequence[str] = ()
) -> Table:
    """A table without lines; the columns named in `numbers` stand on the right.

    Where it is too wide, texts are cut, but no number, id or time: columns are left out instead, the `spare` ones
    first, in their order, then those in the middle.
    """
    flat = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    columns = {heading: [heading, *(row[index] for row in flat)] for index, heading in enumerate(headings)}
    middle = [heading for heading in headings[-2:0:-1] if heading not in spare]
    for heading in (*spare, *middle):
        if _least(columns, numbers) > _room(columns):
            del columns[heading]
    widths = _widths(columns, numbers)
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for heading, width in widths.items():
        justify: Literal["left", "right"] = "right" if heading in numbers else "left"
        made.add_column(heading, justify=justify, no_wrap=True, overflow="ellipsis", width=width)
    for row in zip(*(column[1:] for column in columns.values()), strict=True):
        made.add_row(*(plain(_cut(cell, width)) for cell, width in zip(row, widths.values(), strict=True)))
    return made


def _cut(cell: str, width: int) -> str:
    """As much of a cell as no terminal shows wider than its column."""
    if _extent(cell) <= width:
        return cell
    kept, used = [], cells("…")
    for character in cell:
        used += cells(character)
        if used > width:
            break
        kept.append(character)
    return f"{''.join(kept)}…"


def _extent(text: str) -> int:
    return len(text) if text.isascii() else sum(map(cells, text))


def _room(columns: dict[str, list[str]]) -> int:
    return console().width - GAP * len(columns)


def _least(columns: dict[str, list[str]], numbers: Sequence[str]) -> int:
    """How narrow the columns can be beside each other and still be read."""
    widths = ((heading, max(map(_extent, column))) for heading, column in columns.items())
    return sum(width if _is_whole(heading, numbers) else min(width, READABLE) for heading, width in widths)


def _is_whole(heading: str, numbers: Sequence[str]) -> bool:
    return heading in numbers or heading in WHOLE


def _widths(columns: dict[str, list[str]], numbers: Sequence[str]) -> dict[str, int]:
    """What each column needs, the widest text cut until all fit beside each other."""
    widths = {heading: max(map(_extent, column)) for heading, column in columns.items()}
    texts = [heading for heading in widths if not _is_whole(heading, numbers)]
    while texts and sum(widths.values()) > _room(columns) and max(widths[each] for each in texts) > NARROWEST:
        # Of two that are equally wide the last gives way: it is the free text.
        widest = max(texts, key=lambda heading: (widths[heading], texts.index(heading)))
        widths[widest] -= 1
    return widths


def moment(seconds: float | None) -> str:
    """A time for people, in the machine's own zone."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def count(number: int) -> str:
    return f"{number:,}"


def share(part: int, whole: int) -> str:
    """A percentage, or a dash of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def many(number: int, noun: str) -> str:
    """A number with its noun: 1 session, 2 sessions."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
