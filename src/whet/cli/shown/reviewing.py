"""Texts that a person reads in order to decide on them: nothing hidden, and no line that the text could forge."""

import sys
from collections.abc import Iterator

from rich.markup import escape

from whet.cli.output import review_width
from whet.text.showing import framed, shown, warnings


def reviewed(text: str, *, style: str = "") -> Iterator[str]:
    """The lines of a text, each behind a mark in the gutter, ready for `say`."""
    for row in framed(text, review_width()):
        yield _dressed(row, style)


def copied(text: str) -> Iterator[str]:
    """The lines of a text that people also copy: behind marks on a terminal, by themselves in a pipe."""
    if sys.stdout.isatty():
        yield from reviewed(text)
    else:
        yield from map(_dressed, shown(text).split("\n"))


def labelled(label: str, text: str) -> Iterator[str]:
    """A label of ours and what somebody else wrote, as one line; where it is too long, each further row is marked."""
    yield from map(_dressed, framed(f"{label}{' '.join(shown(text).split())}", review_width(), begins=""))


def cautions(text: str) -> Iterator[str]:
    """A warning for each word of the text that is not what it seems."""
    for warning in warnings(text):
        for row in labelled("Careful: ", warning):
            yield f"[yellow]{row}[/]"


def _dressed(row: str, style: str = "") -> str:
    # What is escaped has to stand before a tag: elsewhere a backslash at its end would be shown twice.
    return f"[{style or 'none'}]{escape(row)}[/]"
