"""whet page, mcp and export: what people and programs get of Whet beside the terminal."""

import contextlib
import importlib.metadata
import os
import tempfile
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path

import click

from whet.cli.acting import actor_of, has_terminal
from whet.cli.analysed import bring_up_to_date
from whet.cli.options import filter_options, json_command, own_store
from whet.cli.output import give, plain, print_json_line
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.sessions.exports import as_atif, as_openai, as_trajectory
from whet.store import sessions
from whet.store.home import find_home
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import opened

PORT = 8377
CAN_DECIDE = "The address works once. Press Ctrl-C to stop."
REDIRECT = (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={address}"><title>Whet</title><a href="{address}">Whet</a>\n'
)
ONLY_SHOWS = "It only shows, because there is no person at a terminal. Press Ctrl-C to stop."
HOST = "127.0.0.1"  # this machine alone
TOKEN_VARIABLE = "WHET_MCP_TOKEN"
LEAST_TOKEN = 24
EVERYTHING = 1 << 31
WRITERS = {"openai": as_openai, "atif": as_atif, "trajectories": as_trajectory}


@json_command("page", epilog="Example: whet page")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, help="Where it answers.")
@click.option(
    "--export",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.html",
    help="Write the views to one file for a colleague or an issue, without secrets and home folders, and end.",
)
@click.option("--texts", "with_texts", is_flag=True, help="With --export: titles, quotes and causes, too.")
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
def page_command(port: int, file: Path | None, with_texts: bool, no_browser: bool) -> int:
    """Open a page on this machine: whether your agents get better, what fails, what was learned, whether to believe it,
    and what needs your approval. If you start it in your own terminal, you can approve, edit, refuse and undo there;
    otherwise it only shows. The address works once and on this machine only. It runs until you press Ctrl-C.
    """
    if file is not None:
        return _export(file, with_texts=with_texts)
    from whet.web.server import PageServer, listen, serve
    from whet.web.site import PageFilter

    home = find_home(os.environ)
    may_change = actor_of(os.environ) is Actor.PERSON and has_terminal()
    with listen(HOST, port) as listening:
        server = PageServer(home, port=port, may_change=may_change)
        with opened(home) as database:
            bring_up_to_date(database)
            server.cache.look(database, PageFilter())
        lines = (f"The page is at {server.address}", CAN_DECIDE if may_change else ONLY_SHOWS)
        give({"address": server.address, "can_decide": may_change}, lines)
        with _opened(server.address) if not no_browser else contextlib.nullcontext():
            serve(server, listening)
    return 0


@contextlib.contextmanager
def _opened(address: str) -> Iterator[None]:
    """Open the address in the browser by a file that nobody else can read: all can read a browser's command line."""
    import webbrowser

    with tempfile.TemporaryDirectory(prefix="whet-page-") as folder:
        path = Path(folder) / "page.html"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as file:
            file.write(REDIRECT.format(address=escape(address)))
        webbrowser.open(path.as_uri())
        yield


def _export(file: Path, *, with_texts: bool) -> int:
    from whet.web.cache import PageCache
    from whet.web.pages import export
    from whet.web.site import static_text

    with own_store() as (home, database):
        bring_up_to_date(database)
        css = static_text("page.css")
        text = export(PageCache(home), database, css=css, now=time.time(), with_texts=with_texts)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WhetError(f"{file} cannot be written: {error.strerror}.", advice="Choose another place.") from error
    told = f"Wrote {plain(file)} ({len(text) // 1000:,} kB). Look through it before you send it."
    return give({"file": str(file), "characters": len(text)}, (told,))


@click.command(
    "mcp",
    epilog="Example: whet mcp --http 8765; or in Claude Code: claude mcp add whet -- whet mcp",
    help="Serve rules, lessons and sessions to other agents over MCP. Agents can ask and propose; only you approve. It"
    " speaks on standard input and output, which is how agents start it; --http serves this machine only and needs a"
    f" token in {TOKEN_VARIABLE}.",
)
@click.option(
    "--http", "port", type=click.IntRange(1, 65535), metavar="PORT", help="Serve at http://127.0.0.1:PORT/mcp."
)
def mcp_command(port: int | None) -> int:
    token = os.environ.get(TOKEN_VARIABLE, "")
    if port is not None and len(token) < LEAST_TOKEN:
        raise WhetError(
            f"--http needs a token of at least {LEAST_TOKEN} characters in {TOKEN_VARIABLE}.",
            advice=f"Set one: export {TOKEN_VARIABLE}=$(openssl rand -hex 24), and give it to the client as a bearer"
            " token.",
        )
    from whet.mcp.server import serve, server_of

    server = server_of(find_home(os.environ), version=importlib.metadata.version("whet"), folder=os.getcwd())
    if port is None:
        server.run("stdio")
    else:
        serve(server, port=port, token=token)
    return 0


@click.command("export", epilog="Example: whet export --source codex --format openai > codex.jsonl")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@filter_options
@click.option(
    "--format",
    "form",
    type=click.Choice(list(WRITERS)),
    default="openai",
    show_default=True,
    help="Format of the export.",
)
def export_command(ids: tuple[str, ...], filters: Filters, form: str) -> int:
    """Export sessions as one JSON document per line: those named, or all that match the filters."""
    if ids and any(filters):
        raise WhetError("Give session ids or filters, not both.", advice="whet export ID, or whet export --source pi")
    with own_store() as (_, database):
        chosen = [find(database, each) for each in ids] or list_sessions(database, filters, limit=EVERYTHING)
        if not chosen:
            raise WhetError("No sessions match.", advice="To list sessions, run `whet sessions`.")
        for session in chosen:
            print_json_line(WRITERS[form](sessions.load(database, session)))
    return 0
