"""whet page: a page on this machine to look at it all, and to decide."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path

import click

from whet.cli.acting import actor_of, has_terminal
from whet.cli.analysed import bring_up_to_date
from whet.cli.options import json_command, own_store
from whet.cli.output import give, plain
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.store.home import find_home
from whet.store.opening import opened

PORT = 8377
CAN_DECIDE = "The address works once. Press Ctrl-C to stop."
REDIRECT = (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={address}"><title>Whet</title><a href="{address}">Whet</a>\n'
)
ONLY_SHOWS = "It only shows, because there is no person at a terminal. Press Ctrl-C to stop."

HOST = "127.0.0.1"  # this machine alone


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
def command(port: int, file: Path | None, with_texts: bool, no_browser: bool) -> int:
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
    from whet.web.export import export
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
