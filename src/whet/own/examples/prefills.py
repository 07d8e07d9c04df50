"""Messages in the vendors' wire forms, for other agents to begin with, and known again in their records."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, cast

from msgspec.structs import replace

from whet.own.examples.templates import KEY_BYTES, Template
from whet.own.examples.warm_start import WarmWords, examples, ids_of
from whet.sessions.arguments import arguments_of
from whet.sessions.example_marks import PREFIX, cold, is_warm, places
from whet.sessions.transcripts import Message, Origin, Part, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust

Json = dict[str, object]
ChatMessage = TypeVar("ChatMessage", bound=Mapping[str, object])
NOTHING = "(no output)"  # a result must have a text on both wires, and some agents strip it first
OPENAI_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "assistant": Role.AGENT,
    "tool": Role.TOOL,
}
ID = re.compile(rf"{PREFIX}-[0-9a-f]{{{2 * KEY_BYTES}}}[0-9]*-[0-9]+")


def as_openai(messages: Sequence[Message]) -> list[Json]:
    """Chat messages: a call in the assistant's message, each result in a message of its own."""
    return [line for message in messages for line in _openai(message)]


def warm_openai(template: Template, words: WarmWords, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Chat messages with the template's examples after the system's; those that are there already give way."""
    seen = recognised([_outline(message) for message in messages])
    aside = places(seen)
    rest = (*seen[: aside.start], *seen[aside.stop :])
    made = as_openai(examples(template, words, taken=ids_of(rest)))
    return [*messages[: aside.start], *cast(list[ChatMessage], made), *messages[aside.stop :]]


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


def recognised(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages of another agent's record, where the examples that it began with are marked as inserted.

    They are known by the ids of their calls, by no word. What stands around them are their request and the agent's
    word that ends them.
    """
    found = {index for index, message in enumerate(messages) if _is_example(message)}
    if not found:
        return tuple(messages)
    requests = {index - 1 for index in found if index and messages[index - 1].role is Role.USER}
    after = ((index + 1, messages[index + 1]) for index in found if index + 1 < len(messages))
    endings = {index for index, message in after if message.role is Role.AGENT and not message.calls}
    ours = found | requests | endings
    return tuple(_inserted(message) if index in ours else message for index, message in enumerate(messages))


def is_prefill(messages: Sequence[Message]) -> bool:
    """Whether there are examples and nothing else: no session, but what one could begin with."""
    return is_warm(messages) and all(message.role is Role.SYSTEM for message in cold(messages))


def _is_example(message: Message) -> bool:
    ids = [
        part.id if isinstance(part, ToolCall) else part.call_id
        for part in message.parts
        if isinstance(part, ToolCall | ToolResult)
    ]
    return bool(ids) and all(each.startswith(PREFIX) and ID.fullmatch(each) for each in ids)


def _outline(message: Mapping[str, object]) -> Message:
    """What examples in a chat message are known by: its role, and the ids of its calls or of its result."""
    role = OPENAI_ROLES.get(str(message.get("role")), Role.USER)
    calls = message.get("tool_calls")
    found = [call.get("id") for call in calls if isinstance(call, Mapping)] if isinstance(calls, Sequence) else []
    parts: list[Part] = [ToolCall(str(each), "") for each in found]
    if role is Role.TOOL:
        parts.append(ToolResult(str(message.get("tool_call_id"))))
    return Message(role, tuple(parts), Trust.AGENT)


def _inserted(message: Message) -> Message:
    return replace(message, origin=Origin.INSERTED, trust=min(message.trust, Trust.AGENT))


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
                yield {"role": "tool", "tool_call_id": result.call_id, "content": _shown(result)}
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
                yield {"type": "tool_result", "tool_use_id": part.call_id, "content": _shown(part)}


def _shown(result: ToolResult) -> str:
    return result.text if result.text.strip() else NOTHING
