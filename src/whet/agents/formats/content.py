"""Content blocks as the vendors write them, turned into parts; and a conversation while it is gathered."""

import base64
import binascii
import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from whet.agents.formats.inserted import TextPiece, split
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Media, Message, Origin, Part, Role, Text, ToolResult, Transcript, Usage
from whet.sessions.trust import Trust, trust_of_tool
from whet.text import fields

TEXT_BLOCKS = frozenset({"text", "input_text", "output_text", "summary_text"})
MEDIA_BLOCKS = frozenset({"image", "image_url", "input_image", "input_audio", "audio", "document", "file", "video"})
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
OTHER = TextPiece("", Origin.TURN)  # a picture or the like
SERVED = "_tool_result"  # ends the names of blocks with what a provider's own tool found, within the agent's message
MOST_TYPED = 1_500  # characters: in a longer text something was pasted
TRUST_OF_ROLE = {
    Role.SYSTEM: Trust.TOOL,  # another program's prompt: no order of whoever reads its record
    Role.USER: Trust.USER,
    Role.AGENT: Trust.AGENT,
    Role.TOOL: Trust.TOOL,
}


def spoken(
    role: Role,
    parts: Iterable[Part],
    *,
    at: float | None = None,
    model: str = "",
    usage: Usage | None = None,
    origin: Origin = Origin.TURN,
) -> Message:
    """A message by one role. What the agent program inserts in the user's place is not the user's word."""
    trust = TRUST_OF_ROLE[role]
    if role is Role.USER and origin in (Origin.INSERTED, Origin.SUMMARY):
        trust = Trust.TOOL
    return Message(role, tuple(parts), trust, at, model, usage, origin)


def said(
    given: Iterable[Part],
    *,
    at: float | None = None,
    vouched: bool = False,
    is_order: bool = False,
    also: frozenset[str] = frozenset(),
) -> Iterator[Message]:
    """What stands in the person's place: their words, and apart from them what programs put beside.

    `vouched` says that the record makes certain who typed what is not inserted; `is_order` and `also` as in `split`.
    """
    found = [
        (piece, Text(piece.text) if isinstance(part, Text) else part)
        for part in given
        for piece in (split(part.text, is_order=is_order, also=also) if isinstance(part, Text) else (OTHER,))
    ]
    for origin, same in itertools.groupby(found, key=lambda pair: pair[0].origin):
        pieces, made = zip(*same, strict=True)
        texts = [piece for piece in pieces if piece is not OTHER]  # people type one; a second is a program's
        is_typed = len(texts) == 1 and texts[0].is_whole and len(texts[0].text) <= MOST_TYPED
        sure = vouched and is_typed and origin is Origin.TURN
        message = spoken(Role.USER, made, at=at, origin=origin)
        yield replace(message, vouched=True) if sure else message


def served(content: object, *, at: float | None = None) -> Iterator[Message]:
    """The results that stand among the words of a message, as those of tools that the provider itself ran do.

    They are strangers' words, whoever's message holds them.
    """
    for block in content if isinstance(content, list) else ():
        if not is_served(block):
            continue
        found, tool = block.get("content"), fields.text(block, "type").removesuffix(SERVED)
        is_fault = isinstance(found, dict) and fields.text(found, "type").endswith("_error")
        error = True if is_fault else fields.flag(block, "is_error")
        answer = result(fields.text(block, "tool_use_id"), found, tool=tool, error=error)
        yield replace(answered(answer, at=at), trust=Trust.EXTERNAL)


def is_served(block: object) -> bool:
    kind = fields.text(block, "type") if isinstance(block, dict) else ""
    return kind.endswith(SERVED) or kind == "tool_result"


def answered(result: ToolResult, *, at: float | None = None) -> Message:
    """A message with one tool result; its trust follows from the tool that gave it."""
    return Message(role=Role.TOOL, parts=(result,), trust=trust_of_tool(result.tool), at=at)


def is_hosts_own(tool: str) -> bool:
    """Whether a tool is one of the agent program's own, so that what stands in place of its result is the program's."""
    return trust_of_tool(tool) > Trust.EXTERNAL


def result(
    call_id: str,
    content: object,
    *,
    tool: str = "",
    error: bool | None = None,
    exit_code: int | None = None,
    disposition: transcripts.Disposition | None = None,
) -> ToolResult:
    """A tool result whose content may be text, blocks or any JSON value."""
    return ToolResult(
        call_id=call_id,
        content=tuple(shown(content)),
        tool=tool,
        error=error,
        exit_code=exit_code,
        disposition=disposition,
    )


def shown(content: object) -> Iterator[Text | Media]:
    """The text and media of a content field; a value of no known block form is kept as its JSON text."""
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield Text(content)
    elif isinstance(content, list):
        for block in content:
            yield from shown(block)
    elif isinstance(content, dict):
        kind = fields.text(content, "type")
        if kind in TEXT_BLOCKS or (not kind and set(content) == {"text"}):
            if words := fields.text(content, "text"):
                yield Text(words)
        elif kind in MEDIA_BLOCKS:
            yield media(content)
        else:
            yield Text(fields.json_text(content))
    else:
        yield Text(fields.json_text(content))


def parts(content: object) -> Iterator[Part]:
    """The parts of a message's content in Anthropic's or OpenAI's blocks, results excepted: see `served`."""
    if not isinstance(content, list):
        yield from shown(content)
        return
    for block in content:
        kind = fields.text(block, "type") if isinstance(block, dict) else ""
        if kind in ("thinking", "reasoning"):
            words = fields.text(block, "thinking", "text", "reasoning")
            if words:
                yield transcripts.Thought(words, signature=fields.text(block, "signature"))
        elif kind == "redacted_thinking":
            yield transcripts.Thought("", signature=fields.text(block, "data"))
        elif kind in CALLS:
            server = fields.text(block, "server_name") if kind == "mcp_tool_use" else ""
            name = f"mcp__{server}__{fields.text(block, 'name')}" if server else fields.text(block, "name")
            yield transcripts.ToolCall(fields.text(block, "id"), name, fields.json_text(block.get("input", {})))
        elif not is_served(block):
            yield from shown(block)


def media(block: dict[str, Any]) -> Media:
    """What a media block holds: its type, size and digest, not its bytes."""
    source = fields.mapping(block, "source")
    address = fields.mapping(block, "image_url") or block
    encoded = (
        fields.text(source, "data")
        or fields.text(fields.mapping(block, "input_audio"), "data")
        or fields.text(address, "url", "image_url", "image", "data")
    )
    media_type = fields.text(source, "media_type") or fields.text(block, "mimeType", "mime_type", "media_type", "mime")
    if encoded.startswith("data:"):
        head, _, encoded = encoded.partition(",")
        media_type = media_type or head.removeprefix("data:").partition(";")[0]
    name = fields.text(block, "name", "filename", "file_name") or fields.text(source, "url")
    if encoded.startswith(("http://", "https://", "file:", "attachment:")):
        return Media(kind=_media_kind(block, media_type), media_type=media_type, name=encoded)
    body = _decoded(encoded)
    return Media(
        kind=_media_kind(block, media_type),
        media_type=media_type,
        digest=hashlib.blake2b(body, digest_size=16).hexdigest() if body else "",
        size_bytes=len(body),
        name=name,
    )


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=False)
    except (binascii.Error, ValueError):
        return encoded.encode()


def _media_kind(block: dict[str, Any], media_type: str) -> Literal["image", "audio", "video", "document", "other"]:
    kind = f"{fields.text(block, 'type')} {media_type}"
    if "image" in kind:
        return "image"
    if "audio" in kind:
        return "audio"
    if "video" in kind:
        return "video"
    if "document" in kind or "pdf" in kind:
        return "document"
    return "other"


def used(record: Mapping[str, Any], *names: str, is_apart: bool = False, cost: object = None) -> Usage | None:
    """Tokens of a model call, or None where its record counts nothing.

    `names` are those of its counts: of the prompt, the answer, what of the prompt was read from a cache, and what was
    written to one. `a|b` is the first of two fields, `a+b` their sum, `a.b` a field of a field. With `is_apart` the
    record counts what has to do with a cache beside the rest of the prompt.
    """
    counts = [sum(_count(record, each) for each in name.split("+")) for name in names]
    prompt, output, cached, written = (*counts, 0, 0)[:4]
    spent = Usage(prompt + cached + written if is_apart else prompt, output, cached, written, fields.amount(cost))
    return spent if spent != Usage() else None


def _count(record: Mapping[str, Any], names: str) -> int:
    for name in names.split("|"):
        folder, _, last = name.rpartition(".")
        if count := fields.whole(fields.mapping(record, folder) if folder else record, last):
            return count
    return 0


@dataclass(slots=True)
class OpenCalls:
    """The calls of the newest step that no result has answered yet, oldest first, and the name of every call."""

    waiting: dict[str, int] = field(default_factory=dict)  # by id, in the order in which they were asked
    names: dict[str, str] = field(default_factory=dict)
    _by_name: dict[str, dict[str, None]] = field(default_factory=dict)
    _asked: int = 0

    def begin(self) -> None:
        """A new step: results without an id answer its calls and no older ones."""
        self.waiting, self._by_name, self._asked = {}, {}, 0

    def ask(self, call_id: str, name: str, *, message: int) -> str:
        """The id of a call: its own, else one made of its message's index and its place in it."""
        made = call_id or f"call-{message}-{self._asked}"
        self._asked += 1
        self.waiting[made] = self.waiting.get(made, 0) + 1
        self._by_name.setdefault(name, {})[made] = None
        self.names[made] = name
        return made

    def answer(self, call_id: str, name: str = "") -> str:
        """The id of the call that a result answers: the one it names, else the oldest waiting call of its tool.

        Empty where no call waits.
        """
        answered = call_id or next(iter(self._by_name.get(name, ())), "") or next(iter(self.waiting), "")
        if answered in self.waiting:
            self.waiting[answered] -= 1
            if not self.waiting[answered]:
                del self.waiting[answered]
                self._by_name[self.names[answered]].pop(answered, None)
        return answered


@dataclass(slots=True)
class AgentTurn:
    """What the agent said in one model call, where its record spreads it over several lines."""

    parts: list[Part]
    at: float | None = None
    model: str = ""
    usage: Usage | None = None
    origin: Origin = Origin.TURN


def gathered(entries: Iterable[AgentTurn | Message]) -> tuple[Message, ...]:
    """The messages in the order in which they began."""
    return tuple(entry if isinstance(entry, Message) else _message(entry) for entry in entries)


def settled(messages: Sequence[Message]) -> Ending:
    """How a record without a closing word ended: finished if the agent spoke last and asked for nothing more."""
    said = (m for m in reversed(messages) if m.origin is not Origin.INSERTED)
    last = next(said, None)
    if last is None:
        return Ending.UNKNOWN
    if last.origin is Origin.INTERRUPT:
        return Ending.INTERRUPTED
    return Ending.FINISHED if last.role is Role.AGENT and last.text and not last.calls else Ending.UNKNOWN


def delegated(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages of a sub-agent or a scheduled job: whoever speaks in the user's place there is what started it."""
    return tuple(
        msgspec.structs.replace(message, trust=min(message.trust, Trust.AGENT), vouched=False)
        if message.role is Role.USER
        else message
        for message in messages
    )


def completed(record: Transcript) -> Transcript:
    """A record with what its messages tell: when it began and ended, its model and how it ended, where it does not say.

    Whoever speaks in the user's place of a sub-agent or a job is what started it.
    """
    messages = record.messages
    times = [at for at in (*(message.at for message in messages), record.started) if at is not None]
    return replace(
        record,
        messages=messages if record.purpose is transcripts.Purpose.CHAT else delegated(messages),
        model=record.model or next((message.model for message in messages if message.model), ""),
        ending=settled(messages) if record.ending is Ending.UNKNOWN else record.ending,
        started=min(times, default=None),
        ended=record.ended or max(times, default=None),
    )


def _message(turn: AgentTurn) -> Message:
    return spoken(Role.AGENT, turn.parts, at=turn.at, model=turn.model, usage=turn.usage, origin=turn.origin)
