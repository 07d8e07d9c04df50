"""Anthropic's messages: a run as the bytes of a request, and the stream that answers it as one reply.

Two cache breakpoints serve a whole session: one behind the system prompt, which also covers the tools, and the one
that the endpoint itself moves to the end of the conversation when a request asks for it at its top level. So the bytes
of earlier messages never change; a breakpoint that we moved from message to message would change them each time.
"""

from collections.abc import Generator, Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from whet.agent.protocols import Reply, StopReason
from whet.agent.providers import vendors
from whet.own.runs.models import Model, priced
from whet.own.runs.run import Fragment, Run
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Media, Message, Origin, Part, Role, Text, Thought, ToolCall, ToolResult, Usage
from whet.sessions.trust import Trust
from whet.text import fields

STOPS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.CALLS,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSED,
    "pause_turn": StopReason.OTHER,  # only tools that run at the endpoint bring it about, and we show it none
}
KINDS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
Json = dict[str, Any]
VERSION = "2026-10-21"
CACHED: Json = {"cache_control": {"type": "ephemeral"}}
OUTPUT_TOKENS = 8_192  # must be given; what every model of theirs takes
MOST_OUTPUT_TOKENS = 32_000  # enough for a long file, and short of what would crowd the window
ID_FORM = "[a-zA-Z0-9_-]+"


class _Block:
    """A block that may still grow."""

    def __init__(self, opening: Json) -> None:
        self.kind = fields.text(opening, "type")
        self.id = fields.text(opening, "id")
        self.name = fields.text(opening, "name")
        self.input = fields.mapping(opening, "input")
        self.signature = fields.text(opening, "signature", "data")
        self.texts = [fields.text(opening, "text", "thinking")]

    def part(self) -> Part | None:
        text = vendors.joined_halves("".join(self.texts))
        if self.kind == "tool_use":
            return ToolCall(self.id, vendors.joined_halves(self.name), text or msgspec.json.encode(self.input).decode())
        if self.kind == "thinking":
            return Thought(text, signature=self.signature)
        if self.kind == "redacted_thinking":
            return Thought("", signature=self.signature, redacted=True)
        return Text(text) if self.kind == "text" and text else None


class _Reading:
    """Takes the records of one answer and puts its reply together."""

    def __init__(self, run: Run, model: Model) -> None:
        self._run = run
        self._model = model
        self._blocks: dict[int, _Block] = {}
        self._usage: Json = {}
        self._served = ""
        self._stop = ""
        self.is_done = False  # nothing more is to come

    def take(self, record: Json) -> Iterator[Fragment]:
        """Take one record in. Kinds that nobody knows yet are passed over."""
        kind = fields.text(record, "type")
        if kind == "error":
            raise vendors.StreamError(record.get("error"))
        if kind == "message_start":
            message = fields.mapping(record, "message")
            self._served = fields.text(message, "model")
            self._count(message)
        elif kind == "content_block_start":
            yield from self._open(record)
        elif kind == "content_block_delta":
            yield from self._grow(record)
        elif kind == "message_delta":
            self._stop = fields.text(fields.mapping(record, "delta"), "stop_reason") or self._stop
            self._count(record)
        elif kind == "message_stop":
            self.is_done = True
        elif kind == "message":
            yield from self._whole(record)

    def reply(self) -> Reply:
        """The whole answer; raises Malformed where it broke off."""
        if not (self.is_done and self._stop):
            raise vendors.Malformed("the answer stopped early")
        found = (block.part() for _, block in sorted(self._blocks.items()))
        message = Message(
            role=Role.AGENT,
            parts=tuple(part for part in found if part),
            trust=Trust.AGENT,
            model=self._served or self._run.model,
            usage=self._priced(),
        )
        stop = STOPS.get(self._stop, StopReason.OTHER)
        return Reply(
            message, StopReason.CALLS if message.calls and stop in (StopReason.END, StopReason.OTHER) else stop
        )

    def _open(self, record: Json) -> Iterator[Fragment]:
        block = _Block(fields.mapping(record, "content_block"))
        self._blocks[fields.whole(record, "index")] = block
        if block.kind == "tool_use":
            yield Fragment("call", block.name)
        elif block.texts[0]:
            yield Fragment("thought" if block.kind == "thinking" else "text", block.texts[0])

    def _grow(self, record: Json) -> Iterator[Fragment]:
        block = self._blocks.get(fields.whole(record, "index"))
        if block is None:
            raise vendors.Malformed("a piece belongs to no block")
        delta = fields.mapping(record, "delta")
        kind = fields.text(delta, "type")
        if kind == "signature_delta":
            block.signature += fields.text(delta, "signature")
        text = fields.text(delta, KINDS.get(kind, ""))
        if text:
            block.texts.append(text)
            if kind != "input_json_delta":
                yield Fragment("thought" if kind == "thinking_delta" else "text", text)

    def _whole(self, record: Json) -> Iterator[Fragment]:
        """An answer in one piece, from a server that does not stream."""
        self._served = fields.text(record, "model")
        self._stop = fields.text(record, "stop_reason")
        self._count(record)
        for index, block in enumerate(fields.objects(record, "content")):
            yield from self._open({"index": index, "content_block": block})
        self.is_done = True

    def _count(self, record: Json) -> None:
        """Counts are of the whole answer so far: the last one counts."""
        given = fields.mapping(record, "usage")
        self._usage |= {key: value for key, value in given.items() if value is not None}

    def _priced(self) -> Usage | None:
        if not self._usage:
            return None
        cached = fields.whole(self._usage, "cache_read_input_tokens")
        written = fields.whole(self._usage, "cache_creation_input_tokens")
        usage = Usage(
            input=fields.whole(self._usage, "input_tokens") + cached + written,
            output=fields.whole(self._usage, "output_tokens"),
            cached=cached,
            cache_written=written,
            cache_written_hour=fields.whole(fields.mapping(self._usage, "cache_creation"), "ephemeral_1h_input_tokens"),
        )
        return priced(usage, self._model.prices)


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
        if run.system.strip():
            body["system"] = [{"type": "text", "text": run.system, **CACHED}]
        return msgspec.json.encode({**body, "messages": list(_messages(run))})

    def read(self, run: Run, events: Iterable[bytes]) -> Generator[Fragment, None, Reply]:
        reading = _Reading(run, self._model)
        for data in events:
            yield from reading.take(vendors.record_of(data))
            if reading.is_done:
                break
        return reading.reply()


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
            if keeps_thoughts and part.signature and part.redacted:
                yield {"type": "redacted_thinking", "data": part.signature}
            elif keeps_thoughts and part.signature:
                yield {"type": "thinking", "thinking": part.text, "signature": part.signature}
        elif isinstance(part, ToolCall):
            arguments = msgspec.Raw(vendors.as_object(part.arguments).encode())
            yield {"type": "tool_use", "id": vendors.shaped_id(part.id, ID_FORM), "name": part.name, "input": arguments}
        elif isinstance(part, ToolResult):
            yield _result(part)
        else:
            yield from _texts([part])


def _result(result: ToolResult) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": vendors.shaped_id(result.call_id, ID_FORM)}
    content = list(_texts(result.content))
    if content:
        block["content"] = content
    if result.error or result.disposition:
        block["is_error"] = True
    return block


def _texts(parts: Iterable[Text | Media]) -> Iterator[Json]:
    """Words as blocks; a block without a word in it would be refused."""
    for part in parts:
        text = part.text if isinstance(part, Text) else vendors.named_media(part)
        if text.strip():
            yield {"type": "text", "text": text}
