"""whet signals: what went wrong in which session, and where."""

import os
from collections.abc import Iterator
from heapq import nlargest
from pathlib import Path

import click

from whet.cli.analysed import bring_up_to_date
from whet.cli.options import filter_options, filters_of, json_option, temporary_option
from whet.cli.output import many, plain, print_json_line, say
from whet.cli.shown.findings import SIGNALS_HEADING, analysis_lines, check_kinds
from whet.cli.shown.left_out import left_out, none_found
from whet.cli.shown.records import project_of_session
from whet.errors import WhetError
from whet.failures.analysis import analyse, record
from whet.failures.signals import SHOWN
from whet.failures.summaries import JudgedSession, has_failed
from whet.shipped.data import failure_weights
from whet.shipped.kinds import known_kinds
from whet.store.analyses import analysis_of, judged
from whet.store.home import find_home
from whet.store.kin import copied_in
from whet.store.listing import Filters, count_sessions, count_temporary, find, list_sessions
from whet.store.opening import opened
from whet.store.sessions import load

WORST = 10


@click.command(
    "signals",
    epilog="Example: whet signals ~/.codex/sessions --kind retry_loop",
    help="Show what went wrong in the ten worst sessions: retry loops, tool failures, timeouts, hallucinations, lost "
    "context, user corrections, giving up and spent budgets. Give session IDs, or PATHs to read files without storing "
    "them; without either, the stored sessions are analysed, but those in temporary folders. The "
    "score is the failure score from 0 to 1, or "
    '"cannot tell" if the session shows no sign of failure or success. With --json, all sessions are printed, one line '
    "of JSON each, in the order in which they were stored, unless --limit is given.",
)
@click.argument("names", nargs=-1, metavar="[ID | PATH]...")
@filter_options
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind, such as retry_loop.")
@temporary_option
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All sessions, those in temporary folders too, and signals with a confidence below 0.5.",
)
@click.option("--ignore-flags", is_flag=True, help="Judge by the text alone and ignore the agents' own error flags.")
@click.option("--limit", type=click.IntRange(min=1), help="How many sessions to show, worst first.  [default: 10]")
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
    temporary: bool,
    everything: bool,
    ignore_flags: bool,
    limit: int | None,
    as_json: bool,
) -> int:
    asked = filters_of(source, model, folder, tool, since, until)
    filters = asked if names else asked._replace(without_own_work=True, without_temporary=not (temporary or everything))
    check_kinds(kinds)
    wanted, least = frozenset(kinds), 0.0 if everything else SHOWN
    seen = found = 0

    def fitting() -> Iterator[JudgedSession]:
        nonlocal seen, found
        for one in _sessions(names, filters, ignore_flags):
            seen += 1
            signals = [signal.kind for signal in one.analysis.signals if signal.confidence >= least]
            if wanted.intersection(signals) if wanted else signals or has_failed(one.analysis) or names or as_json:
                found += 1
                yield one

    if as_json:
        for one in nlargest(limit, fitting(), key=_badness) if limit else fitting():
            print_json_line(record(one.analysis, project=project_of_session(one.analysis.circle.folder), least=least))
        if not seen and (hidden := _hidden(filters)):
            click.echo(hidden, err=True)
        return 0
    if everything and not limit:
        shown = sorted(fitting(), key=_badness, reverse=True)
    else:
        shown = nlargest(limit or max(WORST, len(names)), fitting(), key=_badness)
    if not seen:
        say(none_found(_hidden(filters), is_narrowed=any(asked)))
        return 0
    _tell(shown, wanted, least, found=found, seen=seen, hidden=_hidden(filters))
    return 0


def _hidden(filters: Filters) -> str:
    """What the filters leave out; nothing where sessions were named, which are always shown."""
    if not filters.without_own_work:
        return ""
    with opened(find_home(os.environ)) as database:
        return left_out(count_temporary(database, filters))


def _badness(one: JudgedSession) -> float:
    """By which the worst sessions come first; those whose record cannot tell come last."""
    return -1.0 if one.analysis.cannot_tell else one.analysis.failure_score


def _tell(
    shown: list[JudgedSession], kinds: frozenset[str], least: float, *, found: int, seen: int, hidden: str
) -> None:
    if shown:
        say(f"[bold]{SIGNALS_HEADING}[/]")
    for one in shown:
        for line in analysis_lines(one.analysis, one.title, kinds, least):
            say(line)
    more = f" {found - len(shown):,} more have signals or may have failed (--all)." if found > len(shown) else ""
    next_step = "Next: `whet show ID`, or `whet lessons` for what recurs."
    said = f"Showing {len(shown):,} of {many(seen, 'session')}, worst first.{more}{f' {hidden}' if hidden else ''}"
    say(f"[dim]{said} {next_step}[/]")


def _sessions(names: tuple[str, ...], filters: Filters, ignore_flags: bool) -> Iterator[JudgedSession]:
    paths = [name for name in names if Path(os.path.expanduser(name)).exists() or any(sign in name for sign in "/*?")]
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
    from whet.formats.source import Skipped
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
        every = list_sessions(database, filters, limit=count_sessions(database, filters)) if not ids else ()
        for session in [find(database, each) for each in ids] or every:
            found = None if ignore_flags else analysis_of(database, session)
            if found is None:
                transcript = load(database, session)
                copied = copied_in(database, session, transcript.messages)
                found = analyse(transcript, failure_weights(), known_kinds(), ignore_flags=ignore_flags, copied=copied)
            if ids or not found.copied.whole:
                tokens = session.input_tokens + session.output_tokens - found.copied.tokens
                yield JudgedSession(found, session.title, tokens, session.dated)
