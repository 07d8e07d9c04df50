"""Content blocks as the vendors write them, turned into parts."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from whet.sessions.transcripts import (
    Disposition,
    Media,
    Message,
    Origin,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
)
from whet.sessions.trust import Trust, trust_of_tool
from whet.text import fields

TEXT_BLOCKS = frozenset({"text", "input_text", "output_text", "summary_text"})
MEDIA_BLOCKS = frozenset({"image", "image_url", "input_image", "input_audio", "audio", "document", "file", "video"})
TRUST_OF_ROLE = {
    Role.SYSTEM: Trust.OPERATOR,
    Role.USER: Trust.USER,
    Role.AGENT: Trust.AGENT,
    Role.TOOL: Trust.TOOL,
}
# The tags in which agent programs hand in what nobody typed: <task-notification>, <ci-monitor-event> …
_EVENT = re.compile(
    r"\s*<((?:[a-z]+[-_ ])+(?:notifications?|reminder|events?|context|caveat|stdout|stderr|activity|hook|instructions|"
    r"aborted))\b[^>]*>"
)
EVENT_HEAD = 200


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
    parts = tuple(parts)
    if role is Role.USER and origin is Origin.TURN and _is_event(parts):
        origin = Origin.INSERTED
    trust = TRUST_OF_ROLE[role]
    if role is Role.USER and origin in (Origin.INSERTED, Origin.SUMMARY):
        trust = Trust.TOOL
    return Message(role=role, parts=parts, trust=trust, at=at, model=model, usage=usage, origin=origin)


def _is_event(parts: tuple[Part, ...]) -> bool:
    """Whether all that is said are blocks of a program: notifications, CI events, output of its own commands."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    return bool(texts) and all(map(_is_block, texts))


def _is_block(text: str) -> bool:
    """Whether a text is one block of a program with nothing of a person's behind it."""
    found = _EVENT.match(text[:EVENT_HEAD])
    if found is None:
        return False
    closing = f"</{found[1]}>"
    return closing not in text or text.rstrip().endswith(closing)


def answered(result: ToolResult, *, at: float | None = None) -> Message:
    """A message with one tool result; its trust follows from the tool that gave it."""
    return Message(role=Role.TOOL, parts=(result,), trust=trust_of_tool(result.tool), at=at)


def result(
    call_id: str,
    content: object,
    *,
    tool: str = "",
    error: bool | None = None,
    exit_code: int | None = None,
    disposition: Disposition | None = None,
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
    """The parts of a message's content in Anthropic's or OpenAI's blocks, results excepted."""
    if not isinstance(content, list):
        yield from shown(content)
        return
    for block in content:
        kind = fields.text(block, "type") if isinstance(block, dict) else ""
        if kind in ("thinking", "reasoning"):
            words = fields.text(block, "thinking", "text", "reasoning")
            if words:
                yield Thought(words, signature=fields.text(block, "signature"))
        elif kind == "redacted_thinking":
            yield Thought("", signature=fields.text(block, "data"))
        elif kind in ("tool_use", "server_tool_use"):
            yield ToolCall(
                fields.text(block, "id"), fields.text(block, "name"), fields.json_text(block.get("input", {}))
            )
        else:
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
