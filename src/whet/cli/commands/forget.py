"""whet forget: remove a session, or all of a source, for now or for good."""

import os
import time

import click

from whet.cli.options import json_option, one_name
from whet.cli.output import console, many, moment, plain, print_json, say, table
from whet.errors import WhetError
from whet.store import sessions
from whet.store.database import Database
from whet.store.forgotten import ForgottenSession, allow_again, forgotten, never_again
from whet.store.home import find_home
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import opened
from whet.store.rows import Session

EVERYTHING = 1 << 31


@click.command(
    "forget",
    epilog="Example: whet forget 3fa9c1 --never --yes",
    help="Delete sessions, and everything that only they contain, from the database. The agents' own files are "
    "not touched; importing them again restores the sessions, unless --never is given.",
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", callback=one_name, help="All sessions of this agent.")
@click.option("--never", "is_never", is_flag=True, help="Never import these sessions again on this machine.")
@click.option("--list", "as_list", is_flag=True, help="List the sessions that are never imported.")
@click.option("--allow", "is_allowed", is_flag=True, help="Let imports bring back sessions forgotten with --never.")
@click.option("--everyone", is_flag=True, help="In a team: delete what other members imported too.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def command(
    ids: tuple[str, ...],
    source: str | None,
    is_never: bool,
    as_list: bool,
    is_allowed: bool,
    everyone: bool,
    yes: bool,
    as_json: bool,
) -> int:
    if as_list:
        return _list(as_json)
    if is_allowed:
        return _allow(ids, as_json)
    if bool(ids) == bool(source):
        raise WhetError("Name either sessions or a source.", advice="whet forget ID, or whet forget --source codex")
    home = find_home(os.environ)
    with opened(home) as database:
        named = _named(database, ids, source or "")
        others = [each for each in named if not sessions.is_own(database, each)]
        if others and not everyone and (ids or others == named):
            raise WhetError(
                f"{_whose(others)}, so nothing was deleted.", advice="To delete what others imported, add --everyone."
            )
        chosen = named if everyone else [each for each in named if each not in others]
        if not yes:
            click.confirm(_question(chosen, others if everyone else [], is_never=is_never), abort=True, err=True)
        if is_never:
            never_again(home, chosen, now=time.time())
        with database.writing():
            removed = sum(sessions.forget(database, session.id) for session in chosen)
    if as_json:
        print_json({"forgotten": [session.id for session in chosen], "messages": removed, "never": is_never})
        return 0
    say(f"Deleted {many(len(chosen), 'session')} and {many(removed, 'message')} that no other session contains.")
    if others and not everyone:
        say(f"{_whose(others)} and stayed; --everyone deletes what others imported too.")
    if is_never:
        say("No import brings them back. To list them: `whet forget --list`; to allow one: `whet forget --allow ID`.")
    else:
        say("[dim]Importing their files again brings them back; --never keeps them out.[/]")
    return 0


def _named(database: Database, ids: tuple[str, ...], source: str) -> list[Session]:
    if ids:
        return [find(database, each) for each in ids]
    found = list_sessions(database, Filters(source=source), limit=EVERYTHING)
    if not found:
        raise WhetError(
            f"No session has the source {source}.", advice="To list the agents, run `whet report --counts`."
        )
    return found


def _whose(others: list[Session]) -> str:
    """Whose sessions they are: 3 sessions are of alice and bob."""
    makers = " and ".join(sorted({each.maker for each in others}))
    return f"{many(len(others), 'session')} {'is' if len(others) == 1 else 'are'} of {plain(makers)}"


def _question(chosen: list[Session], others: list[Session], *, is_never: bool) -> str:
    counted = f"{many(len(chosen), 'session')} with {many(sum(each.message_count for each in chosen), 'message')}"
    whose = f" ({_whose(others)})" if others else ""
    return f"Delete {counted}{whose}{', and never import it again' if is_never else ''}?"


def _list(as_json: bool) -> int:
    found = forgotten(find_home(os.environ))
    if as_json:
        print_json({"never": [_record(each) for each in found]})
    elif not found:
        say("Every session may be imported. `whet forget ID --never` deletes one for good.")
    else:
        rows = [(each.id[:8], each.source, moment(each.at), each.path) for each in found]
        console().print(table(("id", "agent", "since", "file"), rows))
        say("[dim]To let an import bring one back: `whet forget --allow ID`.[/]")
    return 0


def _allow(ids: tuple[str, ...], as_json: bool) -> int:
    if not ids:
        raise WhetError("Name the sessions to allow.", advice="To list them: whet forget --list")
    home = find_home(os.environ)
    with opened(home) as database:
        allowed = [each for id_ in ids for each in allow_again(home, database, id_)]
    if as_json:
        print_json({"allowed": [_record(each) for each in allowed]})
    else:
        say(f"{many(len(allowed), 'session')} may be imported again. Next: `whet import`.")
    return 0


def _record(each: ForgottenSession) -> dict[str, object]:
    return {"id": each.id, "source": each.source, "path": each.path}
