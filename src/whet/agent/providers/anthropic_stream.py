"""A stream of Anthropic's events as one reply."""

from collections.abc import Iterator
from typing import Any

import msgspec

from whet.agent.protocols import Reply, Stop
from whet.agent.providers.events import Event, Malformed, StreamError, joined_halves, record_of
from whet.runs.models import Model, priced
from whet.runs.run import Fragment, Run
from whet.sessions.transcripts import Message, Part, Role, Text, Thought, ToolCall, Usage
from whet.sessions.trust import Trust
from whet.text import fields

STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.CALLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSED,
    "pause_turn": Stop.OTHER,  # only tools that run at the endpoint bring it about, and we show it none
}
KINDS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class _Block:
    """A block that may still grow."""

    def __init__(self, opening: dict[str, Any]) -> None:
        self.kind = fields.text(opening, "type")
        self.id = fields.text(opening, "id")
        self.name = fields.text(opening, "name")
        self.input = fields.mapping(opening, "input")
        self.signature = fields.text(opening, "signature", "data")
        self.texts = [fields.text(opening, "text", "thinking")]

    def part(self) -> Part | None:
        text = joined_halves("".join(self.texts))
        if self.kind == "tool_use":
            return ToolCall(self.id, joined_halves(self.name), text or msgspec.json.encode(self.input).decode())
        if self.kind == "thinking":
            return Thought(text, signature=self.signature)
        if self.kind == "redacted_thinking":
            return Thought("", signature=self.signature, redacted=True)
        return Text(text) if self.kind == "text" and text else None


class AnthropicReading:
    """Takes the events of one answer and puts its reply together."""

    def __init__(self, run: Run, model: Model) -> None:
        self._run = run
        self._model = model
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._served = ""
        self._stop = ""
        self.is_done = False  # nothing more is to come

    def take(self, event: Event) -> Iterator[Fragment]:
        """Take one event in; raises Malformed or StreamError. Kinds that nobody knows yet are passed over."""
        yield from self.take_record(record_of(event.data))

    def take_record(self, record: dict[str, Any]) -> Iterator[Fragment]:
        kind = fields.text(record, "type")
        if kind == "error":
            raise StreamError(record.get("error"))
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

    def rest(self) -> Iterator[Fragment]:
        """Nothing: all was shown as it came."""
        return iter(())

    def reply(self) -> Reply:
        """The whole answer; raises Malformed where it broke off."""
        if not (self.is_done and self._stop):
            raise Malformed("the answer stopped early")
        found = (block.part() for _, block in sorted(self._blocks.items()))
        message = Message(
            role=Role.AGENT,
            parts=tuple(part for part in found if part),
            trust=Trust.AGENT,
            model=self._served or self._run.model,
            usage=self._priced(),
        )
        stop = STOPS.get(self._stop, Stop.OTHER)
        return Reply(message, Stop.CALLS if message.calls and stop in (Stop.END, Stop.OTHER) else stop)

    def _open(self, record: dict[str, Any]) -> Iterator[Fragment]:
        block = _Block(fields.mapping(record, "content_block"))
        self._blocks[fields.whole(record, "index")] = block
        if block.kind == "tool_use":
            yield Fragment("call", block.name)
        elif block.texts[0]:
            yield Fragment("thought" if block.kind == "thinking" else "text", block.texts[0])

    def _grow(self, record: dict[str, Any]) -> Iterator[Fragment]:
        block = self._blocks.get(fields.whole(record, "index"))
        if block is None:
            raise Malformed("a piece belongs to no block")
        delta = fields.mapping(record, "delta")
        kind = fields.text(delta, "type")
        if kind == "signature_delta":
            block.signature += fields.text(delta, "signature")
        text = fields.text(delta, KINDS.get(kind, ""))
        if text:
            block.texts.append(text)
            if kind != "input_json_delta":
                yield Fragment("thought" if kind == "thinking_delta" else "text", text)

    def _whole(self, record: dict[str, Any]) -> Iterator[Fragment]:
        """An answer in one piece, from a server that does not stream."""
        self._served = fields.text(record, "model")
        self._stop = fields.text(record, "stop_reason")
        self._count(record)
        for index, block in enumerate(fields.objects(record, "content")):
            yield from self._open({"index": index, "content_block": block})
        self.is_done = True

    def _count(self, record: dict[str, Any]) -> None:
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
