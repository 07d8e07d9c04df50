"""A bar on a terminal for what takes its time."""

import contextlib
import sys
from collections.abc import Callable, Iterator


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
