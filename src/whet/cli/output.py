"""How results reach a person or a program."""

import functools
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

PLAIN_WIDTH = 160
COLUMN_CHARACTERS = 44


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
    """A table without lines; the columns named in `numbers` stand on the right."""
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for index, heading in enumerate(headings):
        widest = max((len(str(row[index])) for row in rows), default=0)
        last = index == len(headings) - 1 and heading not in numbers
        made.add_column(
            heading,
            justify="right" if heading in numbers else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=None if last else min(max(widest, len(heading)), COLUMN_CHARACTERS),
            max_width=None if last else COLUMN_CHARACTERS,
        )
    for row in rows:
        made.add_row(*(plain(cell) for cell in row))
    return made


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
