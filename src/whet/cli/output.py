"""How results reach a person or a program, texts to decide on too, and what a person sees while they wait."""

import contextlib
import functools
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from whet.text.characters import safe
from whet.text.showing import cells, framed, shown, warnings

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


PLAIN_WIDTH = 160
REVIEW_WIDTH = 80  # where there is no terminal: a pager on one is seldom narrower
NARROWEST = 8
READABLE = 12  # a text that is cut to less says little: a column less says more
WHOLE = frozenset({"id", "ended", "since", "next", "last", "when"})  # ids and times: a part of one says nothing
GAP = 2
JSON = "whet.json"  # where the context of a command keeps that --json was given


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
    from rich.markup import escape

    # What is escaped has to stand before a tag: elsewhere a backslash at its end would be shown twice.
    return f"[{style or 'none'}]{escape(row)}[/]"


@functools.cache
def console() -> "Console":
    """Standard output: coloured and as wide as the terminal on a terminal, plain and wide elsewhere."""
    from rich.console import Console

    class PipedConsole(Console):
        """A console whose reader may leave early, as `head` does: that is no failure, and whoever runs it decides."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

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
    sys.stdout.buffer.flush()


def fields(value: object, *names: str) -> dict[str, Any]:
    """These fields of a value for programs, as they are."""
    return {name: getattr(value, name) for name in names}


def is_json() -> bool:
    """Whether the command at hand was asked for JSON: then it prints one document, and nothing for people."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(JSON))


def give(record: object, shown: "Iterable[str | Table]", *, code: int = 0) -> int:
    """Print what came of a command: one document for programs, or lines and tables for people. Gives the exit code."""
    if is_json():
        print_json(record)
    else:
        say(*shown)
    return code


def say(*shown: "str | Table", aloud: bool = False) -> None:
    """Lines with markup and tables for people; what comes before a question is said `aloud`, with --json too."""
    for each in shown if aloud or not is_json() else ():
        if isinstance(each, str):
            _say_line(each)
        else:
            console().print(each)


def _say_line(text: str) -> None:
    """On a terminal what wraps stays below the beginning of an indented line."""
    indent = len(text) - len(text.lstrip(" "))
    if not indent or not sys.stdout.isatty() or "\n" in text:
        console().print(text)
        return
    from rich.text import Text

    for line in Text.from_markup(text[indent:], emoji=False).wrap(console(), console().width - indent):
        line.rstrip()
        console().print(Text(" " * indent) + line)


def next_lines(words: str) -> Iterator[str]:
    """What to do next, in a line, on a terminal only: a program that reads on has its own plan."""
    if sys.stdout.isatty():
        yield f"[dim]Next: {words}[/]"


def plain(text: object) -> str:
    """Text of a session on a terminal: no control characters, no markup."""
    from rich.markup import escape

    return escape(safe(str(text)))


def table(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: Sequence[str] = (), spare: Sequence[str] = ()
) -> "Table":
    """A table without lines; the columns named in `numbers` stand on the right.

    Where it is too wide, texts are cut, but no number, id or time: columns are left out instead, the `spare` ones
    first, in their order, then those in the middle.
    """
    flat = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    columns = {heading: [heading, *(row[index] for row in flat)] for index, heading in enumerate(headings)}
    middle = [heading for heading in headings[-2:0:-1] if heading not in spare]
    whole = WHOLE.union(numbers)
    for heading in (*spare, *middle):
        if _least(columns, whole) > console().width - GAP * len(columns):
            del columns[heading]
    widths = _widths(columns, whole)
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for heading, width in widths.items():
        justify: Literal["left", "right"] = "right" if heading in numbers else "left"
        made.add_column(heading, justify=justify, no_wrap=True, overflow="ellipsis", width=width)
    for row in zip(*(column[1:] for column in columns.values()), strict=True):
        made.add_row(*(plain(fitted(cell, width)) for cell, width in zip(row, widths.values(), strict=True)))
    return made


def fitted(cell: str, width: int) -> str:
    """As much of a line as no terminal shows wider than this."""
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


def _least(columns: dict[str, list[str]], whole: frozenset[str]) -> int:
    """How narrow the columns can be beside each other and still be read."""
    widths = ((heading, max(map(_extent, column))) for heading, column in columns.items())
    return sum(width if heading in whole else min(width, READABLE) for heading, width in widths)


def _widths(columns: dict[str, list[str]], whole: frozenset[str]) -> dict[str, int]:
    """What each column needs, the widest text cut until all fit beside each other."""
    widths = {heading: max(map(_extent, column)) for heading, column in columns.items()}
    texts = [heading for heading in widths if heading not in whole]
    room = console().width - GAP * len(columns)
    while texts and sum(widths.values()) > room and max(widths[each] for each in texts) > NARROWEST:
        # Of two that are equally wide the last gives way: it is the free text.
        widest = max(texts, key=lambda heading: (widths[heading], texts.index(heading)))
        widths[widest] -= 1
    return widths


def moment(seconds: float | None) -> str:
    """A time for people, in the machine's own zone."""
    if seconds is None:
        return "–"
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


@contextlib.contextmanager
def _moving(title: str, *columns: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """A line on a terminal that moves while something takes its time, and how to bring it up to date."""
    if not sys.stderr.isatty():
        yield lambda **_: None
        return
    from rich import console, progress

    made = [progress.TextColumn("{task.description}"), *(getattr(progress, name)() for name in columns)]
    with progress.Progress(*made, console=console.Console(stderr=True), transient=True) as line:
        task = line.add_task(title, total=total)

        def update(**changed: Any) -> None:
            line.update(task, **changed)
            if not changed.get("description", title):
                line.stop()
            else:
                line.start()

        yield update


@contextlib.contextmanager
def step_line(title: str) -> Iterator[Callable[[str], None]]:
    """Names the step under way and for how long it all has gone on; an empty step hides the line until the next."""
    with _moving(title, "SpinnerColumn", "TimeElapsedColumn") as update:
        yield lambda step: update(description=step and f"{title}: {step}")


@contextlib.contextmanager
def counted_bar(
    title: str, total: int | None = None, column: str = "MofNCompleteColumn"
) -> Iterator[Callable[[int, int | None], None]]:
    """Is told how many are done, and of how many; `column` of rich says so."""
    with _moving(title, "BarColumn", column, total=total) as update:
        yield lambda done, total: update(completed=done, total=total or None)


@contextlib.contextmanager
def bytes_bar(title: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Counts bytes as they come."""
    with _moving(title, "BarColumn", "DownloadColumn", "TimeRemainingColumn", total=total) as update:
        yield lambda size: update(advance=size)
