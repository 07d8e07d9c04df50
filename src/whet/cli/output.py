"""How results reach a person or a program, and what a person sees while something takes its time."""

import contextlib
import functools
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
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


def give(record: object, shown: Iterable[str | Table], *, as_json: bool) -> int:
    """Print what came of a command: one document for programs, or lines and tables for people. Gives exit code 0."""
    if as_json:
        print_json(record)
        return 0
    for each in shown:
        if isinstance(each, str):
            say(each)
        else:
            console().print(each)
    return 0


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
    for line in next_lines(words):
        say(line)


def next_lines(words: str) -> Iterator[str]:
    """The same as a line to be given."""
    if sys.stdout.isatty():
        yield f"[dim]Next: {words}[/]"


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


@contextlib.contextmanager
def step_line(title: str) -> Iterator[Callable[[str], None]]:
    """A line on a terminal that names the step under way and for how long it all has gone on; silence elsewhere.

    An empty step hides the line, so that something else can be printed before the next.
    """
    if not sys.stderr.isatty():
        yield lambda _step: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as line:
        task = line.add_task(title, total=None)

        def show(step: str) -> None:
            line.update(task, description=f"{title}: {step}")
            if step:
                line.start()
            else:
                line.stop()

        yield show


@contextlib.contextmanager
def counted_bar(title: str, total: int | None = None) -> Iterator[Callable[[int, int | None], None]]:
    """A bar on a terminal that is told how many are done, and of how many; silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def bytes_bar(title: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A progress bar that counts bytes, on a terminal; silence elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda size: bar.advance(task, size)


@contextlib.contextmanager
def spinner(title: str) -> Iterator[None]:
    """A word on a terminal while something takes its time that cannot be counted; silence elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(title):
        yield
