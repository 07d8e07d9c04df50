"""Messages in the vendors' wire forms, for other agents to begin with."""

from collections.abc import Iterator, Sequence

from whet.tools import arguments_of
from whet.transcripts import Message, Role, Text, ToolCall, ToolResult

Json = dict[str, object]
NOTHING = "(no output)"  # a result must have a text on both wires


def as_openai(messages: Sequence[Message]) -> list[Json]:
    """Chat messages: a call in the assistant's message, each result in a message of its own."""
    return [line for message in messages for line in _openai(message)]


def as_anthropic(messages: Sequence[Message]) -> list[Json]:
    """Messages in turn: results are the user's blocks, and what follows them on the same side stands beside them."""
    turns: list[tuple[str, list[Json]]] = []
    for message in messages:
        role = "assistant" if message.role is Role.AGENT else "user"
        blocks = list(_blocks(message))
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))
    return [{"role": role, "content": blocks} for role, blocks in turns]


def _openai(message: Message) -> Iterator[Json]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.calls
    ]
    match message.role:
        case Role.AGENT:
            spoken: Json = {"role": "assistant", "content": message.text or None}
            yield {**spoken, "tool_calls": calls} if calls else spoken
        case Role.TOOL:
            for result in message.results:
                yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text or NOTHING}
        case _:
            yield {"role": message.role.value, "content": message.text}


def _blocks(message: Message) -> Iterator[Json]:
    for part in message.parts:
        match part:
            case Text() if part.text:
                yield {"type": "text", "text": part.text}
            case ToolCall():
                yield {"type": "tool_use", "id": part.id, "name": part.name, "input": arguments_of(part)}
            case ToolResult():
                yield {"type": "tool_result", "tool_use_id": part.call_id, "content": part.text or NOTHING}
