"""Cursor: the JSON Lines that its agent leaves of a session beside its own database, which is not read.

A line is a message in Anthropic's blocks. The file holds neither ids nor results: calls stay without an answer, and
what became of them is not known. Nor does it name the model or the folder. Thoughts are blacked out by Cursor itself.
"""

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from msgspec.structs import replace

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source, identity
from whet.sessions.transcripts import Ending, Message, Origin, Part, Purpose, Role, Text, Thought, ToolCall, Transcript
from whet.text import fields

NAME = "cursor"
ROLES = ("user", "assistant")
OPEN, CLOSE = "<user_query>", "</user_query>"
BLACKED_OUT = "[REDACTED]"  # stands in the place of a thought
SUBAGENTS = "subagents"
TIME = re.compile(r"<timestamp>\w+, (\w+ \d+, \d{4}, \d+:\d\d [AP]M) \(UTC(?:([+-]\d+)(?::(\d\d))?)?\)</timestamp>")
ENDINGS = {"success": Ending.FINISHED, "aborted": Ending.INTERRUPTED, "error": Ending.FAILED}


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(_is_message(record) for record in source.sample)


def _is_message(record: dict[str, Any]) -> bool:
    """Whether a line holds nothing but who spoke and Anthropic's blocks: any other format tells more of a message."""
    blocks = fields.objects(fields.mapping(record, "message"), "content")
    return record.keys() == {"role", "message"} and fields.text(record, "role") in ROLES and bool(blocks)


def read(source: Source) -> Iterator[Transcript]:
    messages: list[Message] = []
    ended: dict[str, Any] = {}
    numbers = itertools.count(1)
    for _, record in source.session_records():
        role, blocks = fields.text(record, "role"), fields.mapping(record, "message").get("content")
        if fields.text(record, "type") == "turn_ended":
            ended = record
            continue
        if role == "user":
            messages += _said(list(content.parts(blocks)))
        elif role == "assistant" and (
            parts := [part for each in content.parts(blocks) for part in _told(each, numbers)]
        ):
            messages.append(content.spoken(Role.AGENT, parts))
        ended = {}
    yield _transcript(source, tuple(messages), ended)


def _told(part: Part, numbers: Iterator[int]) -> Iterator[Part]:
    """A part of an answer: its call with an id, its words without the mark of a thought."""
    if isinstance(part, ToolCall):
        yield ToolCall(part.id or f"call-{next(numbers)}", part.name, part.arguments)
    elif isinstance(part, Text) and part.text.rstrip().endswith(BLACKED_OUT):
        words = part.text.rstrip().removesuffix(BLACKED_OUT).rstrip()
        yield from [Text(words)] if words else []
        yield Thought("", redacted=True)
    else:
        yield part


def _said(parts: list[Part]) -> Iterator[Message]:
    """What the person typed, apart from what Cursor put before it: the last query is Cursor's own mark."""
    for part in parts:
        text = part.text if isinstance(part, Text) else ""
        start, end = text.rfind(OPEN), text.rfind(CLOSE)
        if not 0 <= start < end:
            yield from content.said([part])
            continue
        at = _time(text[:start])
        around = "\n".join(piece for each in (text[:start], text[end + len(CLOSE) :]) if (piece := each.strip()))
        if around:
            yield content.spoken(Role.USER, [Text(around)], at=at, origin=Origin.INSERTED)
        yield from content.said([Text(text[start + len(OPEN) : end].strip())], at=at)


def _time(text: str) -> float | None:
    """When a query was sent, to the minute, as Cursor writes it for the model."""
    found = TIME.search(text)
    if not found:
        return None
    hours, minutes = int(found[2] or 0), int(found[3] or 0)
    try:
        zone = (
            timezone(timedelta(hours=hours, minutes=minutes if hours >= 0 else -minutes)) if hours or minutes else UTC
        )
        return datetime.strptime(found[1], "%b %d, %Y, %I:%M %p").replace(tzinfo=zone).timestamp()
    except (ValueError, OverflowError):
        return None


def _transcript(source: Source, messages: tuple[Message, ...], ended: dict[str, Any]) -> Transcript:
    folder = source.path.absolute().parent
    parent = folder.parent.name if folder.name == SUBAGENTS else ""
    status = fields.text(ended, "status")
    told = content.completed(
        Transcript(
            source=NAME,
            native_id=identity(source, 1) if source.name == "-" else source.path.stem,
            messages=messages,
            parent=parent,
            purpose=Purpose.SUBTASK if parent else Purpose.CHAT,
            ending_detail=fields.text(ended, "error"),
        )
    )
    return replace(told, ending=ENDINGS.get(status, Ending.UNKNOWN)) if status else told


FORMAT = Format(
    NAME,
    "Cursor",
    sniff,
    read,
    places=(".cursor/projects/*/agent-transcripts/**/*.jsonl",),
)
