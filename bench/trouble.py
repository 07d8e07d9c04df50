"""Trouble as readers marked it, beside what Whet finds.

    .venv/bin/python bench/trouble.py dump FILE     one file's sessions, for a reader to mark

Messages are numbered as in the Transcript that Whet reads; marks name them by these numbers. The dump says what the
record says and nothing that Whet makes of it.
"""

import argparse
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from whet.importers.registry import recognise
from whet.importers.source import Source
from whet.sessions.transcripts import (
    Media,
    Message,
    Origin,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Transcript,
)

# How much of a text the dump shows: of its beginning and of its end.
SHOWN: dict[str, tuple[int, int]] = {
    "user": (3_000, 1_000),
    "agent": (1_500, 500),
    "thought": (400, 100),
    "call": (700, 300),
    "result": (500, 600),
    "inserted": (500, 200),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    dumping = commands.add_parser("dump", help="print a file's sessions for a reader to mark")
    dumping.add_argument("file", type=Path)
    options = parser.parse_args()
    for transcript in read(options.file):
        sys.stdout.write("\n".join(dump(transcript)) + "\n\n")


def read(path: Path) -> Iterator[Transcript]:
    known = recognise(Source(path))
    return known.read(Source(path)) if known else iter(())


def dump(transcript: Transcript) -> Iterator[str]:
    """A session as lines: number, time, pause before it, who, and what was said, called and answered."""
    yield f"==== session {transcript.native_id} ({transcript.source}, {transcript.purpose.value}) ===="
    yield f"folder {transcript.folder or '?'}   model {transcript.model or '?'}   {len(transcript.messages)} messages"
    before: float | None = None
    for number, message in enumerate(transcript.messages):
        yield ""
        yield f"#{number}  {_when(message, before)}  {_who(message)}"
        for part in message.parts:
            yield from _lines(part, _speaker(message))
        before = message.at if message.at is not None else before


def _when(message: Message, before: float | None) -> str:
    if message.at is None:
        return "(no time)"
    clock = datetime.fromtimestamp(message.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return clock if before is None else f"{clock} (+{_pause(message.at - before)})"


def _pause(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _who(message: Message) -> str:
    origin = "" if message.origin is Origin.TURN else f" [{message.origin.value}]"
    tokens = f"  {message.usage.output} tokens out" if message.usage else ""
    return f"{message.role.value.upper()}{origin}{tokens}"


def _speaker(message: Message) -> str:
    if message.origin in (Origin.INSERTED, Origin.SUMMARY) or message.role is Role.SYSTEM:
        return "inserted"
    return "user" if message.role is Role.USER else "agent"


def _lines(part: Part, speaker: str) -> Iterator[str]:
    if isinstance(part, ToolCall):
        yield f"  CALL {part.name} {part.id[-6:]}"
        yield from _shown(part.arguments, "call")
    elif isinstance(part, ToolResult):
        yield f"  RESULT of {part.tool or '?'} {part.call_id[-6:]}{_flags(part)}"
        yield from _shown(part.text, "result")
    elif isinstance(part, Text):
        yield from _shown(part.text, speaker)
    elif isinstance(part, Thought):
        yield "  (thinks)"
        yield from _shown(part.text, "thought")
    elif isinstance(part, Media):
        yield f"  ({part.kind})"


def _flags(result: ToolResult) -> str:
    said = ("error", result.error), ("exit code", result.exit_code), ("disposition", result.disposition)
    flags = [f"{name}={value}" for name, value in said if value is not None]
    return f"  [recorded: {', '.join(flags)}]" if flags else ""


def _shown(text: str, what: str) -> Iterator[str]:
    first, last = SHOWN[what]
    if len(text) > first + last + 40:
        left_out = len(text) - first - last
        text = f"{text[:first]}\n      … {left_out:,} characters left out …\n{text[-last:]}"
    yield from (f"    {line}" for line in text.splitlines() if line.strip())


if __name__ == "__main__":
    main()
