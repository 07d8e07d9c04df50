"""Goose's messages, which are the same in its database, in its export and in the files of versions before these."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from whet.importers import content, turns
from whet.importers.turns import AgentTurn
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
from whet.text import fields

BUILT_IN = "developer__"  # before the names of Goose's own tools, in older versions
CALLS = frozenset({"toolRequest", "frontendToolRequest"})
PLACE = "goose.toolCall.providerIndex"
DECLINED = (
    "The user has declined to run this tool. DO NOT attempt to call this tool again. If there are no alternative"
    " methods to proceed, clearly explain the situation and STOP."
)

Record = dict[str, Any]


def conversation(records: Sequence[Record]) -> tuple[Message, ...]:
    """The messages of a session from `{role, created, content, metadata}`, those summed up later among them."""
    entries: list[AgentTurn | Message] = []
    latest: AgentTurn | None = None
    tools: dict[str, str] = {}
    for record, follower in itertools.pairwise([*records, {}]):
        if fields.text(record, "role") == "assistant":
            turn = _turn(record)
            tools |= {part.id: part.name for part in turn.parts if isinstance(part, ToolCall)}
            if latest is not None and _continues(record):
                latest.parts += [part for part in turn.parts if part not in latest.parts]
            elif turn.parts:
                latest = turn
                entries.append(turn)
        else:
            entries += _said(record, follower)
            entries += _answers(record, tools)
    return turns.gathered(entries)


def _is_hidden(record: Record) -> bool:
    """Whether the person never saw it: the program spoke in their place, or in the agent's."""
    return fields.flag(fields.mapping(record, "metadata"), "userVisible") is False


def _continues(record: Record) -> bool:
    """Calls that a model asks for at once stand in one message each, which tells the place of its call."""
    calls = (block for block in fields.objects(record, "content") if fields.text(block, "type") in CALLS)
    return any(fields.whole(fields.mapping(call, "_meta"), PLACE) > 0 for call in calls)


def _turn(record: Record) -> AgentTurn:
    about = fields.mapping(record, "metadata")
    return AgentTurn(
        [part for block in fields.objects(record, "content") for part in _parts(block)],
        fields.seconds(record.get("created")),
        fields.text(fields.mapping(about, "inference"), "requestedModel"),
        _usage(fields.mapping(about, "usage")),
        Origin.INSERTED if _is_hidden(record) else Origin.TURN,
    )


def _parts(block: dict[str, Any]) -> Iterator[Part]:
    kind = fields.text(block, "type")
    if kind in CALLS:
        asked = fields.mapping(block, "toolCall")
        call = fields.mapping(asked, "value")
        arguments = fields.json_text(call.get("arguments") or {}) if call else fields.text(asked, "error")
        yield ToolCall(fields.text(block, "id"), fields.text(call, "name").removeprefix(BUILT_IN), arguments)
    elif kind in ("thinking", "reasoning"):
        if words := fields.text(block, "thinking", "text"):
            yield Thought(words, signature=fields.text(block, "signature"))
    elif kind == "redactedThinking":
        yield Thought("", signature=fields.text(block, "data"))
    else:
        yield from _shown(block)


def _shown(block: dict[str, Any]) -> Iterator[Text | Media]:
    """Words and pictures; questions to the person and notices on the screen never reached the model."""
    if fields.text(block, "type") in ("text", "image"):
        yield from content.shown(block)


def _said(record: Record, follower: Record) -> Iterator[Message]:
    parts = [part for block in fields.objects(record, "content") for part in _shown(block)]
    at = fields.seconds(record.get("created"))
    if not parts:
        return
    if not _is_hidden(record):
        yield from content.said(parts, at=at)
        return
    # After a compaction comes its summary, and an answer that the program wrote.
    is_summary = fields.text(follower, "role") == "assistant" and _is_hidden(follower) and not _is_context(record)
    yield content.spoken(Role.USER, parts, at=at, origin=Origin.SUMMARY if is_summary else Origin.INSERTED)


def _is_context(record: Record) -> bool:
    return fields.flag(fields.mapping(record, "metadata"), "turnContext") is True


def _answers(record: Record, tools: dict[str, str]) -> Iterator[Message]:
    at = fields.seconds(record.get("created"))
    for block in fields.objects(record, "content"):
        if fields.text(block, "type") == "toolResponse":
            call_id = fields.text(block, "id")
            result = _result(call_id, fields.mapping(block, "toolResult"), tools.get(call_id, ""))
            yield content.answered(result, at=at)


def _result(call_id: str, outcome: dict[str, Any], tool: str) -> ToolResult:
    """What a tool answered; older versions leave out the envelope with its flag around the content."""
    value, status = outcome.get("value"), fields.text(outcome, "status")
    if status == "error":
        return content.result(call_id, outcome.get("error", value), tool=tool, error=True)
    envelope = value if isinstance(value, dict) else {"content": value}
    result = content.result(
        call_id,
        envelope.get("content"),
        tool=tool,
        error=fields.flag(envelope, "isError"),
        exit_code=fields.code(fields.mapping(envelope, "structuredContent"), "exit_code"),
    )
    return replace(result, disposition=Disposition.REJECTED) if result.text == DECLINED else result


def _usage(counted: dict[str, Any]) -> Usage | None:
    """Goose's input holds the cached tokens."""
    used = Usage(
        input=fields.whole(counted, "inputTokens"),
        output=fields.whole(counted, "outputTokens"),
        cached=fields.whole(counted, "cacheReadTokens"),
        cache_written=fields.whole(counted, "cacheWriteTokens"),
    )
    return used if used != Usage() else None
