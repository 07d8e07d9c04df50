"""whet signals: what went wrong in which session, and where."""

import os
from collections.abc import Iterator
from heapq import nlargest
from pathlib import Path

import click

from whet.cli.analysed import bring_up_to_date
from whet.cli.options import filter_options, filters_of, json_option
from whet.cli.output import many, plain, print_json_line, say
from whet.cli.shown.findings import analysis_lines
from whet.errors import WhetError
from whet.failures.analysis import analyse, record
from whet.failures.signals import SHOWN, Kind
from whet.failures.summaries import JudgedSession
from whet.shipped.data import failure_weights
from whet.store.analyses import analysis_of, judged
from whet.store.home import find_home
from whet.store.listing import Filters, find
from whet.store.opening import opened
from whet.store.sessions import load


@click.command(
    "signals",
    epilog="Example: whet signals ~/.codex/sessions --kind retry_loop",
    help="Show what went wrong in sessions: retry loops, tool failures, timeouts, hallucinations, lost context, "
    "user corrections, giving up and spent budgets. Give session IDs, or PATHs to read files without storing "
    "them; without either, all stored sessions are analysed. The number is the failure score from 0 to 1, or "
    '"cannot tell" if the session shows no sign of failure or success.',
)
@click.argument("names", nargs=-1, metavar="[ID | PATH]...")
@filter_options
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice([kind.value for kind in Kind]), help="Only this kind."
)
@click.option("--all", "everything", is_flag=True, help="Include signals with a confidence below 0.5.")
@click.option("--ignore-flags", is_flag=True, help="Judge by the text alone and ignore the agents' own error flags.")
@click.option("--limit", type=click.IntRange(min=1), help="Maximum number of sessions to list, worst first.")
@json_option
def command(
    names: tuple[str, ...],
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
    kinds: tuple[str, ...],
    everything: bool,
    ignore_flags: bool,
    limit: int | None,
    as_json: bool,
) -> int:
    filters = filters_of(source, model, folder, tool, since, until)
    wanted, least = frozenset(kinds), 0.0 if everything else SHOWN
    sessions = _sessions(names, filters, ignore_flags)
    if limit:
        sessions = iter(nlargest(limit, sessions, key=lambda one: one.analysis.failure_score))
    seen, shown = 0, 0
    for one in sessions:
        seen += 1
        signals = [signal for signal in one.analysis.signals if signal.confidence >= least]
        if wanted and not any(signal.kind.value in wanted for signal in signals):
            continue
        if as_json:
            print_json_line(record(one.analysis, project=_project(one.analysis.circle.folder), least=least))
        elif signals or names:
            for line in analysis_lines(one.analysis, one.title, wanted, least):
                say(line)
        else:
            continue
        shown += 1
    if not as_json:
        say(
            f"[dim]Showing {shown:,} of {many(seen, 'session')}. Next: `whet lessons` lists what recurs.[/]"
            if seen
            else "No sessions yet. To import them, run `whet import`."
        )
    return 0 if seen else 1


def _project(folder: str) -> str:
    """The repository that a session worked in, by the name of its root; where there is none here, the folder."""
    from whet.context.finding import repository_root

    root = repository_root(Path(folder)) if folder else None
    return root.name if root is not None else folder


def _sessions(names: tuple[str, ...], filters: Filters, ignore_flags: bool) -> Iterator[JudgedSession]:
    paths = [name for name in names if Path(name).expanduser().exists() or any(sign in name for sign in "/*?")]
    ids = [name for name in names if name not in paths]
    if paths:
        yield from _read(paths, ignore_flags)
    if paths and not ids:
        return
    if ids and any(filters):
        raise WhetError("Give session ids or filters, not both.", advice="whet signals ID, or whet signals --source pi")
    yield from _stored(ids, filters, ignore_flags)


def _read(paths: list[str], ignore_flags: bool) -> Iterator[JudgedSession]:
    """The analyses of the sessions in files; nothing of them is stored."""
    from whet.importers.source import Skipped
    from whet.intake.analysing import analyse_files
    from whet.intake.finding import named_files

    for item in analyse_files(named_files(paths), ignore_flags=ignore_flags):
        if isinstance(item, Skipped):
            place = f"{item.path}, line {item.line}" if item.line else item.path
            click.echo(f"Left out: {plain(place)}: {plain(item.reason)}", err=True)
        else:
            yield item


def _stored(ids: list[str], filters: Filters, ignore_flags: bool) -> Iterator[JudgedSession]:
    with opened(find_home(os.environ)) as database:
        if not ignore_flags:
            bring_up_to_date(database)
        if not ids and not ignore_flags:
            yield from judged(database, filters)
            return
        for session in [find(database, each) for each in ids]:
            found = None if ignore_flags else analysis_of(database, session)
            if found is None:
                found = analyse(load(database, session), failure_weights(), ignore_flags=ignore_flags)
            yield JudgedSession(found, session.title, session.input_tokens + session.output_tokens, session.dated)
