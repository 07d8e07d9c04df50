"""A tool call in one line: what was asked, how it ended, how long it took."""

import msgspec

from whet.cli.shown.endings import succeeded
from whet.sessions.transcripts import Disposition, ToolCall, ToolResult
from whet.text.characters import safe

# The argument that tells most about a call, the first that is there.
TELLING = ("command", "path", "pattern", "query", "name", "action", "url", "status", "text")
LONGEST = 300
WORDS = {
    Disposition.REJECTED: "refused by you",
    Disposition.CANCELLED: "not begun",
    Disposition.BLOCKED: "not allowed",
    Disposition.INTERRUPTED: "stopped",
}


def summary(call: ToolCall) -> str:
    """The name of the tool and the argument that tells most."""
    try:
        arguments = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        arguments = call.arguments
    if isinstance(arguments, dict):
        found = [arguments[name] for name in TELLING if isinstance(arguments.get(name), str)]
        arguments = found[0] if found else (msgspec.json.encode(arguments).decode() if arguments else "")
    return _flat(f"{call.name} {arguments}"[:LONGEST])


def fault(result: ToolResult) -> str:
    """Why a call did not work, in a few words; empty where it did."""
    if succeeded(result):
        return ""
    if result.disposition is not None:
        return WORDS[result.disposition]
    lines = [line for line in result.text.splitlines() if line.strip()] or [""]
    if result.exit_code:  # a program says last why it failed, a tool first
        said = [line for line in lines if not line.startswith("[")]  # what the tool added stands in brackets
        return _flat(": ".join((f"exit {result.exit_code}", *said[-1:]))[:LONGEST])
    return _flat(lines[0][:LONGEST]) or "failed"


def _flat(text: str) -> str:
    return " ".join(safe(text).split())


def duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60} s"
