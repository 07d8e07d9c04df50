"""How results reach a person or a program."""

import functools
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

PLAIN_WIDTH = 160
NARROWEST = 8
GAP = 2


@functools.cache
def console() -> Console:
    """Standard output: coloured and as wide as the terminal on a terminal, plain and wide elsewhere."""
    terminal = sys.stdout.isatty()
    return Console(width=None if terminal else PLAIN_WIDTH, highlight=False, soft_wrap=not terminal)


def print_json(value: object) -> None:
    """One JSON document for programs."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def print_json_line(value: object) -> None:
    """One line of JSON Lines."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")


def say(text: str = "") -> None:
    """A line for people, with markup."""
    console().print(text)


def plain(text: object) -> str:
    """Text of a session on a terminal: no control characters, no markup."""
    return escape("".join(c if c >= " " or c in "\n\t" else "�" for c in str(text) if c != "\x7f"))


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: Sequence[str] = ()) -> Table:
    """A table without lines; the columns named in `numbers` stand on the right, and wide ones give way."""
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    columns = [[heading, *(str(row[index]) for row in rows)] for index, heading in enumerate(headings)]
    for heading, width in zip(headings, _widths(columns), strict=True):
        justify: Literal["left", "right"] = "right" if heading in numbers else "left"
        made.add_column(heading, justify=justify, no_wrap=True, overflow="ellipsis", width=width)
    for row in rows:
        made.add_row(*(plain(cell) for cell in row))
    return made


def _widths(columns: list[list[str]]) -> list[int]:
    """What each column needs, the widest cut until all fit beside each other."""
    widths = [max(map(cell_len, cells)) for cells in columns]
    room = console().width - GAP * len(widths)
    while sum(widths) > room and max(widths) > NARROWEST:
        # Of two that are equally wide the last gives way: it is the free text.
        widest = max(range(len(widths)), key=lambda index: (widths[index], index))
        widths[widest] -= 1
    return widths


def moment(seconds: float | None) -> str:
    """A time for people, in the machine's own zone."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def count(number: int) -> str:
    return f"{number:,}"


def short(number: float) -> str:
    """A large number in a few characters: 950, 12.3k, 4.5M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.1f}{unit}"
    return f"{number:.0f}"


def share(part: int, whole: int) -> str:
    """A percentage, or a dash of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def many(number: int, noun: str) -> str:
    """A number with its noun: 1 session, 2 sessions."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
