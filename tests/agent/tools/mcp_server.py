"""A real MCP server for the tests: `python mcp_server.py stdio`, or `http PORT`."""

import os
import sys
import time
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("sample")


@server.tool()
def add(one: int, other: int) -> str:
    """Add two numbers."""
    return str(one + other)


@server.tool()
def shout(text: str) -> str:
    """Say it loud, with a colour that no one asked for."""
    return f"\x1b[31m{text.upper()}\x1b[0m"


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("this tool always fails")


@server.tool()
def sleep(seconds: float, begun: str = os.devnull) -> str:
    """Take a while, and leave a file when that has begun."""
    Path(begun).touch()
    time.sleep(seconds)
    return "woke up"


@server.tool()
def die() -> str:
    """End the server in the middle of a call."""
    os._exit(3)


@server.tool()
def variable(name: str) -> str:
    """What the server sees of its environment."""
    return os.environ.get(name, "not set")


@server.tool()
def flood() -> str:
    """Say far too much."""
    return "x" * 1_000_000


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
