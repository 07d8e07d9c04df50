"""whet mcp: an MCP server for the agents of this machine."""

import importlib.metadata
import os

import click

from whet.errors import WhetError
from whet.store.home import find_home

TOKEN_VARIABLE = "WHET_MCP_TOKEN"
LEAST_TOKEN = 24


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
def command(port: int | None) -> int:
    token = os.environ.get(TOKEN_VARIABLE, "")
    if port is not None and len(token) < LEAST_TOKEN:
        raise WhetError(
            f"--http needs a token of at least {LEAST_TOKEN} characters in {TOKEN_VARIABLE}.",
            advice=f"Set one: export {TOKEN_VARIABLE}=$(openssl rand -hex 24), and give it to the client as a bearer"
            " token.",
        )
    from whet.mcp.server import server_of

    server = server_of(find_home(os.environ), version=importlib.metadata.version("whet"), folder=os.getcwd())
    if port is None:
        server.run("stdio")
    else:
        from whet.mcp.http import serve

        serve(server, port=port, token=token)
    return 0
