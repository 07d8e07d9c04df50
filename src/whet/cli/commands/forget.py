"""whet forget: remove a session, or all of a source, for now or for good."""

import os
import time

import click

from whet.cli.options import CommandList, json_command, one_name, own_store
from whet.cli.output import give, moment, plain
from whet.errors import WhetError
from whet.store import sessions
from whet.store.database import Database
from whet.store.forgotten import ForgottenSession, allow_again, forgotten, never_again
from whet.store.home import find_home
from whet.store.listing import Filters, find, list_sessions
from whet.store.rows import Session
from whet.text.words import many

EVERYTHING = 1 << 31
FORGOTTEN: CommandList[ForgottenSession] = CommandList(
    {
        "id": lambda each: each.id[:8],
        "agent": lambda each: each.source,
        "since": lambda each: moment(each.at),
        "file": lambda each: each.path,
    },
    {},
)
GONE = "No import brings them back. To list them: `whet forget --list`; to allow one: `whet forget --allow ID`."


@json_command("forget", epilog="Example: whet forget 3fa9c1 --never --yes")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--source", callback=one_name, help="All sessions of this agent.")
@click.option("--never", "is_never", is_flag=True, help="Never import these sessions again on this machine.")
@click.option("--list", "as_list", is_flag=True, help="List the sessions that are never imported.")
@click.option("--allow", "is_allowed", is_flag=True, help="Let imports bring back sessions forgotten with --never.")
@click.option("--everyone", is_flag=True, help="In a team: delete what other members imported too.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def command(
    ids: tuple[str, ...],
    source: str | None,
    is_never: bool,
    as_list: bool,
    is_allowed: bool,
    everyone: bool,
    yes: bool,
) -> int:
    """Delete sessions, and everything that only they contain, from the database. The agents' own files are not touched;
    importing them again restores the sessions, unless --never is given.
    """
    if as_list:
        return _list()
    if is_allowed:
        return _allow(ids)
    if bool(ids) == bool(source):
        raise WhetError("Name either sessions or a source.", advice="whet forget ID, or whet forget --source codex")
    with own_store() as (home, database):
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
    lines = [f"Deleted {many(len(chosen), 'session')} and {many(removed, 'message')} that no other session contains."]
    if others and not everyone:
        lines.append(f"{_whose(others)} and stayed; --everyone deletes what others imported too.")
    lines.append(GONE if is_never else "[dim]Importing their files again brings them back; --never keeps them out.[/]")
    record = {"forgotten": [session.id for session in chosen], "messages": removed, "never": is_never}
    return give(record, lines)


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


def _list() -> int:
    found = forgotten(find_home(os.environ))
    none = "Every session may be imported. `whet forget ID --never` deletes one for good."
    lines = FORGOTTEN.lines(found, "[dim]To let an import bring one back: `whet forget --allow ID`.[/]", none=none)
    return give({"never": [_record(each) for each in found]}, lines)


def _allow(ids: tuple[str, ...]) -> int:
    if not ids:
        raise WhetError("Name the sessions to allow.", advice="To list them: whet forget --list")
    with own_store() as (home, database):
        allowed = [each for id_ in ids for each in allow_again(home, database, id_)]
    told = f"{many(len(allowed), 'session')} may be imported again. Next: `whet import`."
    return give({"allowed": [_record(each) for each in allowed]}, (told,))


def _record(each: ForgottenSession) -> dict[str, object]:
    return {"id": each.id, "source": each.source, "path": each.path}
