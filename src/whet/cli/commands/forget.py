"""whet forget: remove a session, or all of a source."""

import os

import click

from whet.cli.options import json_option
from whet.cli.output import many, print_json, say
from whet.errors import WhetError
from whet.store import sessions
from whet.store.home import find_home
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import opened

EVERYTHING = 1 << 31


@click.command(
    "forget",
    epilog="Example: whet forget 3fa9c1 --yes",
    help="Delete sessions, and everything that only they contain, from the database. The agents' own files are "
    "not touched; importing them again restores the sessions.",
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", help="All sessions of this agent.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def command(ids: tuple[str, ...], source: str | None, yes: bool, as_json: bool) -> int:
    if bool(ids) == bool(source):
        raise WhetError("Name either sessions or a source.", advice="whet forget ID, or whet forget --source codex")
    with opened(find_home(os.environ)) as database:
        if source:
            chosen = list_sessions(database, Filters(source=source), limit=EVERYTHING)
        else:
            chosen = [find(database, each) for each in ids]
        if not chosen:
            raise WhetError(f"No session has the source {source}.", advice="To list the agents, run `whet stats`.")
        question = (
            f"Delete {many(len(chosen), 'session')} with {many(sum(s.message_count for s in chosen), 'message')}?"
        )
        if not yes:
            click.confirm(question, abort=True, err=True)
        with database.writing():
            removed = sum(sessions.forget(database, session.id) for session in chosen)
    if as_json:
        print_json({"forgotten": [session.id for session in chosen], "messages": removed})
    else:
        say(f"Deleted {many(len(chosen), 'session')} and {many(removed, 'message')} that no other session contains.")
    return 0
