"""Analyses for the commands: of the whole store, brought up to date first, or of files as they are."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from whet.failures.analysis import analyse
from whet.failures.summaries import JudgedSession
from whet.importers.source import Skipped
from whet.intake.reading import read_transcripts
from whet.shipped.data import failure_weights
from whet.store.analyses import AnalysisProgress, refresh
from whet.store.database import Database
from whet.store.preparing import opening


def bring_up_to_date(database: Database) -> None:
    """Analyse what is new in the store, with a progress bar on a terminal."""
    with _progress() as progress:
        refresh(database, failure_weights(), progress=progress)


def of_file(path: Path, *, ignore_flags: bool) -> Iterator[JudgedSession | Skipped]:
    """The analyses of a file's sessions under the ids that they have there; nothing of it is stored."""
    weights = failure_weights()
    for item in read_transcripts(path):
        if isinstance(item, Skipped):
            yield item
            continue
        analysis = replace(analyse(item, weights, ignore_flags=ignore_flags), session=item.native_id)
        yield JudgedSession(analysis, item.title or opening(item.messages), 0, item.ended or 0.0)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[AnalysisProgress], None]]:
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("Analysing"), BarColumn(), MofNCompleteColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("analyse", total=None)
        yield lambda progress: bar.update(task, completed=progress.done, total=progress.total)
