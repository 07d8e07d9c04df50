"""What a call was given: its arguments by name, and the command it runs."""

from functools import lru_cache
from typing import Any

import msgspec

from whet.sessions.transcripts import ToolCall


def object_of(call: ToolCall) -> dict[str, Any] | None:
    """The call's arguments by name, or None where they are not one JSON object."""
    found = _decoded(call.arguments)
    return None if found is None else dict(found)


# Outcome, effect, activity and the files written each ask for the same arguments.
@lru_cache(maxsize=1024)
def _decoded(text: str) -> dict[str, Any] | None:
    try:
        arguments = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The call's arguments by name, or nothing where they are not one JSON object."""
    return object_of(call) or {}


def command_of(call: ToolCall) -> str:
    """The command line or code that a call runs, or nothing."""
    return _command(call.arguments)


@lru_cache(maxsize=1024)
def _command(text: str) -> str:
    arguments = _decoded(text) or {}
    for key in ("command", "cmd", "script", "code", "commands", "keystrokes", "chars", "input"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return _argv(value)
    return "" if arguments else text


def _argv(words: list[object]) -> str:
    """A command given as a list: the script of `bash -lc SCRIPT`, else its words."""
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) == 3 and texts[1].startswith("-") and texts[1].endswith("c"):
        return texts[2]
    return " ".join(texts)
