"""Transcripts as Hermes' trajectories: ShareGPT turns with calls and results written into their text.

The form has no ids of calls: a result answers the oldest open call of its tool in the step before it, so results are
written in the order of their calls.
"""

from collections.abc import Iterator
from itertools import groupby

import msgspec

from whet.sessions.exports import Json, iso, without_nothing, words_of
from whet.sessions.transcripts import (
    Ending,
    Media,
    Message,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Transcript,
    joined,
)

SPEAKERS = {Role.SYSTEM: "system", Role.USER: "human", Role.AGENT: "gpt", Role.TOOL: "tool"}


def as_trajectory(transcript: Transcript) -> Json:
    """One session as one line of Hermes' trajectory files, and what else is known of it beside."""
    known = transcript.ending is not Ending.UNKNOWN
    return without_nothing(
        {
            "id": transcript.native_id,
            "conversations": list(_turns(transcript.messages)),
            "timestamp": iso(transcript.ended or transcript.started),
            "model": transcript.model,
            "completed": transcript.ending is Ending.FINISHED if known else None,
            "title": transcript.title,
            "metadata": without_nothing(
                {
                    "source": transcript.source,
                    "folder": transcript.folder,
                    "parent": transcript.parent,
                    "ending": transcript.ending.value,
                    "tools": list(transcript.tools),
                }
            ),
        }
    )


def _turns(messages: tuple[Message, ...]) -> Iterator[Json]:
    order: dict[str, int] = {}
    for is_tool, group in groupby(messages, key=lambda message: message.role is Role.TOOL):
        if is_tool:
            results = [result for message in group for result in message.results]
            results.sort(key=lambda result: order.get(result.call_id, len(order)))
            yield {"from": "tool", "value": "\n".join(_marked("tool_response", _response(each)) for each in results)}
            continue
        for message in group:
            order = {call.id: place for place, call in enumerate(message.calls)}
            words = _agent_words(message) if message.role is Role.AGENT else words_of(message.parts)
            yield {"from": SPEAKERS[message.role], "value": words}


def _agent_words(message: Message) -> str:
    """Its thoughts, words and calls in their order; Hermes begins every turn with a thought, if an empty one."""
    pieces = [_piece(part) for part in message.parts if isinstance(part, Thought | Text | Media | ToolCall)]
    if not message.parts or not isinstance(message.parts[0], Thought):
        pieces.insert(0, "<think>\n</think>")
    return joined(pieces)


def _piece(part: Thought | Text | Media | ToolCall) -> str:
    if isinstance(part, Thought):
        return f"<think>\n{part.text}\n</think>"
    if isinstance(part, ToolCall):
        return _marked("tool_call", {"name": part.name, "arguments": _object(part.arguments)})
    return words_of((part,))


def _response(result: ToolResult) -> Json:
    """A result as an object; text that is JSON already stands there as what it means, as Hermes writes it."""
    text = words_of(result.content)
    value = _value(text)
    return {
        "tool_call_id": result.call_id,
        "name": result.tool,
        "content": value if isinstance(value, dict) and "type" not in value and set(value) != {"text"} else text,
        **without_nothing(
            {"is_error": result.error, "exit_code": result.exit_code, "disposition": result.disposition or None}
        ),
    }


def _object(arguments: str) -> object:
    """Arguments as what they mean, valid or not."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments


def _value(text: str) -> object:
    """What JSON text means, where writing that again gives the same text."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return value if msgspec.json.encode(value).decode() == text else text


def _marked(tag: str, record: Json) -> str:
    # An end of a tag in a file or an argument must not end this one.
    body = msgspec.json.encode(record).decode().replace("</", "<\\/")
    return f"<{tag}>\n{body}\n</{tag}>"
