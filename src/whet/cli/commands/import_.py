"""whet import: bring in the sessions that agents left on this machine."""

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from whet.agents.recognising import formats
from whet.cli.options import json_command, point_in_time
from whet.cli.output import bytes_bar, give, plain, say
from whet.intake.arrivals import SpoolReport, take_spool
from whet.intake.reading import AgentPlace, ReadOrder, named_files, places_beside, usual_places
from whet.intake.taking import ImportInterrupted, ImportReport, Progress, kept_so_far, take
from whet.secrets.redactor import secret_values
from whet.store.home import Home, find_home
from whet.store.listing import seen_folders
from whet.store.opening import opened
from whet.text.words import cut, many

EXAMPLES_SHOWN = 3
PATH_LETTERS = 300
RISK = (
    "Secrets in these sessions will be stored unredacted: keys and passwords can appear in searches, exports and "
    "whatever is learned."
)


@json_command("import", epilog="Example: whet import ~/.claude/projects --since 30d")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice([known.name for known in formats()]),
    help="Format of the files. Default: detected.",
)
@click.option("--since", help="Only sessions since this date or age: 2026-10-01, 12h, 7d, 2w.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, without importing it.")
@click.option("--no-redact", is_flag=True, help="Do not redact secrets: store their values in the database.")
def command(paths: tuple[str, ...], format_name: str | None, since: str | None, dry_run: bool, no_redact: bool) -> int:
    """Import sessions from files, folders, globs or standard input (-). Without PATH, search the usual places of all
    known agents. Importing again adds only what is new.
    """
    home = find_home(os.environ)
    secrets = None if no_redact else secret_values(os.environ)
    moment = point_in_time(since)
    if no_redact:
        click.echo(f"Warning: {RISK}", err=True)
    with contextlib.ExitStack() as stack:
        if dry_run and not home.database_url and not home.database_path.exists():
            home = Home(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        named = stack.enter_context(_named(paths)) if paths else []
        database = stack.enter_context(opened(home))
        before = () if paths else tuple(seen_folders(database))
        files = named if paths else _discovered(before)
        piped = files[-1] if "-" in paths else None
        order = ReadOrder(format_name or "", moment, secrets, piped)
        progress = stack.enter_context(progress_over(files))
        try:
            report = take(database, home, files, order, dry_run=dry_run, progress=progress)
            if more := () if paths else _beside(report.folders.difference(before), files):
                report.add(take(database, home, more, order, dry_run=dry_run, progress=progress))
        except ImportInterrupted as stop:
            click.echo(f"Interrupted. {kept_so_far(stop.report)} Run it again for the rest.", err=True)
            return 130
        is_lost = bool(report.skipped) and not report.sessions
        if not dry_run:
            _add(report, take_spool(home, database, secrets=secrets, now=time.time()))
    # What hooks left and nobody can read is told of, and fails no import of other things.
    return give(report.as_json(), _lines(report, dry_run=dry_run), code=int(is_lost))


def _add(report: ImportReport, taken: SpoolReport) -> None:
    """Count what hooks had left for an import too."""
    report.imported += taken.report.imported
    report.updated += taken.report.updated
    report.messages += taken.report.messages
    report.redacted += taken.report.redacted
    report.skipped += [each for each in taken.kept if each not in report.skipped]


@contextlib.contextmanager
def _named(paths: tuple[str, ...]) -> Iterator[list[Path]]:
    """The files to import; standard input is spooled to a file that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(named_files(path for path in paths if path != "-"))
        if "-" in paths:
            spool = Path(folder) / "standard-input"
            with spool.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            found.append(spool)
        yield found


def _discovered(folders: Iterable[str]) -> list[Path]:
    places = [place for place in usual_places(Path.home(), os.environ, folders) if place.files]
    _name(places)
    if not places:
        say("No agent's sessions were found in their usual places on this machine.")
        say("Name files or folders to import: whet import PATH")
    return list(dict.fromkeys(path for place in places for path in place.files))


def _beside(folders: set[str], known: list[Path]) -> list[Path]:
    """What lies in folders that only this import made known, and was not read with the rest."""
    places = [place for place in places_beside(folders) if set(place.files).difference(known)]
    _name(places)
    return [path for place in places for path in place.files if path not in known]


def _name(places: Iterable[AgentPlace]) -> None:
    for place in places:
        say(f"Found [bold]{place.title}[/]: {many(len(place.files), 'file')} in {plain(place.shown)}")


@contextlib.contextmanager
def progress_over(files: list[Path]) -> Iterator[Progress]:
    """A progress bar on a terminal, counted in bytes; silence elsewhere."""
    with bytes_bar("Importing", sum(path.stat().st_size for path in files)) as advance:
        yield lambda _name, size: advance(size)


def _lines(report: ImportReport, *, dry_run: bool) -> Iterator[str]:
    would = "would be " if dry_run else ""
    yield (
        f"[bold]{many(report.imported, 'session')}[/] {would}imported, {report.updated:,} updated, "
        f"{report.unchanged:,} unchanged; {many(report.messages, 'new message')} from {many(report.files, 'file')}."
    )
    if report.redacted:
        yield f"{many(report.redacted, 'secret')} replaced by placeholders."
    if report.never:
        yield f"{many(report.never, 'session')} left out that you never want back (`forgotten.json`)."
    if report.skipped:
        yield f"\n[yellow]Left out[/] ({len(report.skipped):,}):"
    for reason, number in Counter(skipped.reason for skipped in report.skipped).most_common():
        yield f"  {number:>5} × {plain(reason)}"
        for place in [each for each in report.skipped if each.reason == reason][:EXAMPLES_SHOWN]:
            line = f", line {place.line}" if place.line else ""
            yield f"          {plain(cut(place.path, PATH_LETTERS))}{line}"
        if number > EXAMPLES_SHOWN:
            yield f"          and {number - EXAMPLES_SHOWN:,} more (--json lists all)"
    if report.sessions:
        yield "Next: run it without --dry-run." if dry_run else "Next: `whet report` shows where the time went."
