"""whet sessions: list sessions."""

import os

import click

from whet.cli.options import filter_options, filters_of, json_option
from whet.cli.output import console, many, moment, print_json, say, short, table
from whet.cli.shown.records import session_record
from whet.store.home import find_home
from whet.store.listing import count_sessions, list_sessions
from whet.store.opening import opened


@click.command(
    "sessions",
    epilog="Example: whet sessions --source codex --since 7d",
    help="List sessions, newest first.",
)
@filter_options
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Maximum number to list.")
@click.option("--page", default=1, show_default=True, type=click.IntRange(min=1), help="Page to show.")
@json_option
def command(
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    page: int,
    as_json: bool,
) -> int:
    filters = filters_of(source, model, folder, tool, since, until)
    with opened(find_home(os.environ)) as database:
        found = list_sessions(database, filters, limit=limit, offset=(page - 1) * limit)
        total = count_sessions(database, filters)
    if as_json:
        print_json({"total": total, "sessions": [session_record(session) for session in found]})
        return 0
    if not found:
        say("No sessions match." if total or any(filters) else "No sessions yet. To import them, run `whet import`.")
        return 0
    headings = ("id", "agent", "ended", "messages", "tokens", "model", "title")
    rows = [
        (
            session.id[:8],
            session.source,
            moment(session.dated),
            session.message_count,
            short(session.input_tokens + session.output_tokens),
            session.model or "–",
            ("↳ " if session.parent_id else "") + (session.title or "–"),
        )
        for session in found
    ]
    console().print(table(headings, rows, numbers=("messages", "tokens")))
    more = " To list more, use --limit or --page." if total > len(found) else ""
    say(f"[dim]{many(total, 'session')}.{more} Next: `whet show ID`, or `whet signals ID` for what went wrong.[/]")
    return 0
