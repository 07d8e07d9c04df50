"""What agents are told that ask Whet over MCP."""

from functools import cache
from importlib.resources import files

from whet.text.words import filled


def instructions() -> str:
    """What every agent with the server gets to know of it; hosts show it before any tool."""
    return _text("instructions")


def learn() -> str:
    """The task of an agent that reads sessions itself."""
    return _text("learn")


def review(session: str) -> str:
    """The task of an agent that looks back on a session."""
    return filled(_text("review"), {"session": session})


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
