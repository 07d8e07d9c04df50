"""Conversations written as a person would tell them, for the tests of what is found in them."""

import itertools
import json

from msgspec.structs import replace

from whet.sessions.transcripts import (
    Disposition,
    Ending,
    Media,
    Message,
    Origin,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from whet.sessions.trust import Trust, trust_of_tool

Turn = Message | tuple[Message, Message]
_numbers = itertools.count()


def user(text: str, *, origin: Origin = Origin.TURN, vouched: bool = True) -> Message:
    return Message(role=Role.USER, parts=(Text(text),), trust=Trust.USER, origin=origin, vouched=vouched)


def agent(text: str) -> Message:
    return Message(role=Role.AGENT, parts=(Text(text),), trust=Trust.AGENT)


def picture() -> Message:
    return Message(role=Role.USER, parts=(Media(kind="image", media_type="image/png"),), trust=Trust.USER)


def program(text: str) -> Message:
    return Message(role=Role.SYSTEM, parts=(Text(text),), trust=Trust.OPERATOR, origin=Origin.INSERTED)


def call(
    tool: str,
    arguments: object,
    answer: str,
    *,
    error: bool | None = False,
    disposition: Disposition | None = None,
    saying: str = "",
) -> tuple[Message, Message]:
    """A call and its result."""
    call_id = f"call_{next(_numbers)}"
    asked = ToolCall(call_id, tool, json.dumps(arguments))
    said = (Text(saying),) if saying else ()
    result = ToolResult(call_id, (Text(answer),) if answer else (), tool, error=error, disposition=disposition)
    return (
        Message(role=Role.AGENT, parts=(*said, asked), trust=Trust.AGENT),
        Message(role=Role.TOOL, parts=(result,), trust=trust_of_tool(tool)),
    )


def shell(command: str, answer: str, *, error: bool | None = False) -> tuple[Message, Message]:
    return call("Bash", {"command": command}, answer, error=error)


def timed(transcript: Transcript, *, gap: float = 10.0, gaps: dict[int, float] | None = None) -> Transcript:
    """The same session with times: so many seconds before each message, or as `gaps` says of single ones."""
    at, messages = 1_770_000_000.0, []
    for index, message in enumerate(transcript.messages):
        at += (gaps or {}).get(index, gap) if index else 0.0
        messages.append(replace(message, at=at))
    return replace(transcript, messages=tuple(messages), started=messages[0].at if messages else None)


def conversation(*turns: Turn, ending: Ending = Ending.UNKNOWN, native_id: str = "one", **facts: object) -> Transcript:
    messages: list[Message] = []
    for turn in turns:
        messages.extend((turn,) if isinstance(turn, Message) else turn)
    return Transcript(
        source=str(facts.get("source", "test")),
        native_id=native_id,
        messages=tuple(messages),
        model=str(facts.get("model", "")),
        ending=ending,
        started=float(str(facts["at"])) if "at" in facts else None,
        tools=tuple(str(tool) for tool in (facts.get("tools") or ())),  # type: ignore[attr-defined]
    )
