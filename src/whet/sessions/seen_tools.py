"""Tools of other agents, known by the calls that a record has of them."""

from collections.abc import Iterable
from typing import Any

import msgspec

from whet.sessions.arguments import arguments_of
from whet.sessions.definitions import Definition
from whet.sessions.transcripts import ToolCall

JSON_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"),
)  # fmt: skip


def seen(name: str, calls: Iterable[ToolCall]) -> Definition:
    """A tool by the arguments that it was called with."""
    given = [arguments_of(call) for call in calls if call.name == name]
    properties: dict[str, Any] = {}
    for arguments in given:
        for key, value in arguments.items():
            kind = next((word for known, word in JSON_TYPES if isinstance(value, known)), "")
            properties.setdefault(key, {"type": kind} if kind else {})
    always = [key for key in properties if all(key in arguments for arguments in given)]
    schema = {"type": "object", "properties": properties, "required": always}
    return Definition(name, name.replace("_", " "), msgspec.json.encode(schema).decode())
