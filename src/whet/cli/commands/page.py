"""whet page: a page on this machine to look at it all, and to decide."""

import importlib.util
import os

import click

from whet.errors import WhetError
from whet.store.home import find_home

PORT = 8377


@click.command(
    "page",
    epilog="Example: whet page",
    help="Open a page on this machine: whether your agents get better, what fails, what was learned, whether to believe"
    " it, and what waits for you. You can approve, edit, refuse and undo there if you start it in your own terminal;"
    " elsewhere it only shows. The address works once and on this machine only. It runs until you press Ctrl-C.",
)
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, help="Where it answers.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Only this machine's own names are accepted.")
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
def command(port: int, host: str, no_browser: bool) -> int:
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise WhetError("The page needs the extra `web`.", advice="Install it: pip install 'whet[web]'.")
    from whet.cli.acting import actor_of, has_terminal
    from whet.cli.analysed import bring_up_to_date
    from whet.ledger.entries import Actor
    from whet.store.opening import opened
    from whet.web.server import PageServer, expect_free, expect_loopback, serve
    from whet.web.site import PageFilter

    expect_loopback(host)
    expect_free(port)
    home = find_home(os.environ)
    may_change = actor_of(os.environ) is Actor.PERSON and has_terminal()
    server = PageServer(home, port=port, may_change=may_change)
    with opened(home) as database:
        bring_up_to_date(database)
        server.cache.look(database, PageFilter())
    click.echo(f"The page is at {server.address}")
    click.echo(
        "The address works once. Press Ctrl-C to stop." if may_change else "It only shows. Press Ctrl-C to stop."
    )
    if not no_browser:
        import webbrowser

        webbrowser.open(server.address)
    serve(server, host=host, port=port)
    return 0
