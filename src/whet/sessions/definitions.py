"""A tool as its model knows it."""

from collections.abc import Iterable

from whet.sessions.trust import Trust
from whet.values import Value

PREFIX = "mcp__"  # of the names of tools that MCP servers offer


class Definition(Value, frozen=True):
    """A tool as its model knows it. `parameters` is the JSON text of its schema."""

    name: str
    description: str = ""
    parameters: str = "{}"


def trust_of_shown(definitions: Iterable[Definition]) -> Trust:
    """How far the descriptions and schemas that a model reads may be believed: a server's are a stranger's words."""
    foreign = any(definition.name.startswith(PREFIX) for definition in definitions)
    return Trust.EXTERNAL if foreign else Trust.OPERATOR
