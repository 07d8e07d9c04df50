"""Anthropic's messages: a run as the bytes of a request.

Two cache breakpoints serve a whole session: one behind the system prompt, which also covers the tools, and the one
that the endpoint itself moves to the end of the conversation when a request asks for it at its top level. So the bytes
of earlier messages never change; a breakpoint that we moved from message to message would change them each time.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from whet.agent.providers.anthropic_stream import AnthropicReading
from whet.agent.providers.shaping import as_object, named_media, shaped_id
from whet.runs.models import Model
from whet.runs.run import Run
from whet.sessions.definitions import Definition
from whet.sessions.transcripts import Media, Message, Origin, Role, Text, Thought, ToolCall, ToolResult

Json = dict[str, Any]
VERSION = "2026-10-21"
CACHED: Json = {"cache_control": {"type": "ephemeral"}}
OUTPUT_TOKENS = 8_192  # must be given; what every model of theirs takes
MOST_OUTPUT_TOKENS = 32_000  # enough for a long file, and short of what would crowd the window
ID_FORM = "[a-zA-Z0-9_-]+"


class AnthropicCodec:
    """Requests for one model, and the readings of their answers."""

    path = "/messages"

    def __init__(self, model: Model) -> None:
        self._model = model

    def headers(self, key: str) -> dict[str, str]:
        return {"x-api-key": key, "anthropic-version": VERSION}

    def request(self, run: Run) -> bytes:
        """The body: the settings first, then tools and system, and the messages last. It takes no temperature."""
        known = min(self._model.output_tokens or OUTPUT_TOKENS, MOST_OUTPUT_TOKENS)
        body: Json = {"model": run.model, "max_tokens": run.sampling.output_tokens or known, "stream": True, **CACHED}
        if run.shown:
            body["tools"] = [_tool(one) for one in run.shown]
        if run.spoken.strip():
            body["system"] = [{"type": "text", "text": run.spoken, **CACHED}]
        return msgspec.json.encode({**body, "messages": list(_messages(run))})

    def reading(self, run: Run) -> AnthropicReading:
        return AnthropicReading(run, self._model)


def _tool(definition: Definition) -> Json:
    return {
        "name": definition.name,
        "description": definition.description,
        "input_schema": msgspec.Raw(definition.parameters.encode()),
    }


def _messages(run: Run) -> Iterator[Json]:
    """The turns. Results that follow each other are one turn, as the endpoint demands of parallel calls.

    Nothing else is joined: the endpoint does that itself, and here it would change the bytes of earlier turns.
    """
    for is_tool, group in groupby(run.messages, key=lambda message: message.role is Role.TOOL):
        if is_tool:
            content = [block for message in group for block in _blocks(message, run)]
            if content:
                yield {"role": "user", "content": content}
            continue
        for message in group:
            content = list(_blocks(message, run))
            if content:
                yield {"role": "assistant" if message.role is Role.AGENT else "user", "content": content}


def _blocks(message: Message, run: Run) -> Iterator[Json]:
    # A signature is worth nothing to another vendor's model, and holds for the conversation that it was given in: what
    # a compaction carried over would be refused.
    is_of_vendor = ("claude" in message.model.lower()) == ("claude" in run.model.lower())
    keeps_thoughts = is_of_vendor and message.origin is not Origin.SUMMARY
    for part in message.parts:
        if isinstance(part, Thought):
            if keeps_thoughts and part.signature:
                yield _thought(part)
        elif isinstance(part, ToolCall):
            arguments = msgspec.Raw(as_object(part.arguments).encode())
            yield {"type": "tool_use", "id": shaped_id(part.id, ID_FORM), "name": part.name, "input": arguments}
        elif isinstance(part, ToolResult):
            yield _result(part)
        else:
            yield from _texts([part])


def _thought(thought: Thought) -> Json:
    if thought.redacted:
        return {"type": "redacted_thinking", "data": thought.signature}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _result(result: ToolResult) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": shaped_id(result.call_id, ID_FORM)}
    content = list(_texts(result.content))
    if content:
        block["content"] = content
    if result.error or result.disposition:
        block["is_error"] = True
    return block


def _texts(parts: Iterable[Text | Media]) -> Iterator[Json]:
    """Words as blocks; a block without a word in it would be refused."""
    for part in parts:
        text = part.text if isinstance(part, Text) else named_media(part)
        if text.strip():
            yield {"type": "text", "text": text}
