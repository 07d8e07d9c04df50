"""Warm starts: a session that begins with the examples of a template, marked as examples and not as its history.

The ids of the examples' calls come from the template's key and their number alone. So all sessions with one template
begin with the same bytes, which a cache can share, and within a session no two calls have the same id: providers give
ids of other forms, and should the session hold such an id already, the examples take others.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple, TypeVar, cast

from msgspec.structs import replace

from whet.own.examples.templates import KEY_BYTES, Example, Template
from whet.sessions.copies import PREFIX, cold, is_warm, places
from whet.sessions.tool_families import arguments_of
from whet.sessions.transcripts import Message, Origin, Part, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.text.words import filled

Json = dict[str, object]
ChatMessage = TypeVar("ChatMessage", bound=Mapping[str, object])
NOTHING = "(no output)"  # a result must have a text on both wires, and some agents strip it first
OPENAI_ROLES = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "assistant": Role.AGENT, "tool": Role.TOOL}
ID = re.compile(rf"{PREFIX}-[0-9a-f]{{{2 * KEY_BYTES}}}[0-9]*-[0-9]+")


class WarmWords(NamedTuple):
    """What is said around the examples: `{body}` and `{tool}` are filled in. It lives in guidance/warm."""

    opening: str
    step: str
    hint: str
    ending: str
    closing: str


def warm_start(template: Template, messages: Sequence[Message], words: WarmWords) -> tuple[Message, ...]:
    """The messages with the template's examples after the system's and before the first other; once, however often.

    The examples of another template that are there already give way.
    """
    rest = cold(messages)
    first = next((index for index, message in enumerate(rest) if message.role is not Role.SYSTEM), len(rest))
    return (*rest[:first], *examples(template, words, taken=ids_of(rest)), *rest[first:])


def examples(template: Template, words: WarmWords, *, taken: frozenset[str] = frozenset()) -> tuple[Message, ...]:
    """The examples as messages: a request, its calls with their results, and the agent's word that it ends.

    So the sides take turns, also where results are a user's turn: some endpoints refuse anything else.
    """
    marks = (f"{PREFIX}-{template.key}{number}" for number in ("", *range(2, len(taken) + 3)))
    mark = next(mark for mark in marks if not any(each.startswith(f"{mark}-") for each in taken))
    made: list[Message] = []
    numbers = count(1)
    for group in template.requests:
        request = _request(group[0], words)
        if made:
            made += (_said(Role.AGENT, words.ending), _said(Role.USER, request))
        else:
            body = f"{template.addendum}\n\n{request}" if template.addendum else request
            made.append(_said(Role.USER, filled(words.opening, {"body": body})))
        for example in group:
            made += _exchange(example, f"{mark}-{next(numbers)}")
    return (*made, _said(Role.AGENT, words.closing))


def _request(example: Example, words: WarmWords) -> str:
    """What was asked for. Of a longer piece of work one step alone is asked for: it would teach to stop too early."""
    if not example.intent:
        return filled(words.hint, {"tool": example.tool})
    return example.intent if example.is_whole else filled(words.step, {"tool": example.tool, "body": example.intent})


def _exchange(example: Example, call_id: str) -> tuple[Message, Message]:
    call = ToolCall(call_id, example.tool, example.arguments)
    content = (Text(example.result),) if example.result else ()
    return (
        Message(Role.AGENT, (call,), Trust.AGENT, origin=Origin.INSERTED),
        # Its words are the call's own and counts: no tool wrote them.
        Message(Role.TOOL, (ToolResult(call_id, content, example.tool),), Trust.AGENT, origin=Origin.INSERTED),
    )


def _said(role: Role, text: str) -> Message:
    parts: tuple[Part, ...] = (Text(text),)
    return Message(role, parts, Trust.AGENT, origin=Origin.INSERTED)


def ids_of(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of all calls in the messages, also of those that only a result names."""
    return frozenset(id for message in messages for id in _ids(message))


def _ids(message: Message) -> list[str]:
    return [*(call.id for call in message.calls), *(result.call_id for result in message.results)]


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
    return tuple(
        replace(message, origin=Origin.INSERTED, trust=min(message.trust, Trust.AGENT)) if index in ours else message
        for index, message in enumerate(messages)
    )


def is_prefill(messages: Sequence[Message]) -> bool:
    """Whether there are examples and nothing else: no session, but what one could begin with."""
    return is_warm(messages) and all(message.role is Role.SYSTEM for message in cold(messages))


def _is_example(message: Message) -> bool:
    ids = _ids(message)
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
