"""Amp: one JSON document a thread, in Anthropic's blocks, with results that tell how each call ended."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source
from whet.sessions.transcripts import Disposition, Message, Role, Text, ToolResult, Transcript, Usage
from whet.text import fields

NAME = "amp"
DISPOSITIONS = {"cancelled": Disposition.CANCELLED, "rejected-by-user": Disposition.REJECTED}
FAULTS = {"done": False, "error": True}


def sniff(source: Source) -> bool:
    return source.kind == "json" and isinstance(source.document, dict) and _is_thread(source.document)


def _is_thread(document: dict[str, Any]) -> bool:
    return {"v", "id", "created", "messages"} <= document.keys() and fields.text(document, "id").startswith("T-")


def read(source: Source) -> Iterator[Transcript]:
    document = source.document if isinstance(source.document, dict) else {}
    tools: dict[str, str] = {}
    records = fields.objects(document, "messages")
    messages = tuple(message for record in records for message in _messages(record, tools))
    initial = fields.mapping(fields.mapping(document, "env"), "initial")
    tree = next(iter(fields.objects(initial, "trees")), {})
    yield content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(document, "id") or source.path.stem,
            messages=messages,
            title=fields.text(document, "title"),
            folder=_path(fields.text(tree, "uri")),
            branch=fields.text(fields.mapping(tree, "repository"), "ref").removeprefix("refs/heads/"),
            version=fields.text(fields.mapping(initial, "platform"), "clientVersion"),
            started=fields.seconds(document.get("created")),
        )
    )


def _messages(record: dict[str, Any], tools: dict[str, str]) -> Iterator[Message]:
    blocks, spent = record.get("content"), fields.mapping(record, "usage")
    parts = [part for part in content.parts(blocks) if not isinstance(part, Text) or part.text.strip()]
    if fields.text(record, "role") == "assistant":
        at = fields.seconds(spent.get("timestamp"))
        turn = content.spoken(Role.AGENT, parts, at=at, model=fields.text(spent, "model"), usage=_usage(spent))
        tools |= {call.id: call.name for call in turn.calls}
        yield from [turn] if parts else []
        return
    at = fields.seconds(fields.mapping(record, "meta").get("sentAt"))
    yield from content.said(parts, at=at)
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and fields.text(block, "type") == "tool_result":
            yield content.answered(_result(block, tools), at=at)


def _result(block: dict[str, Any], tools: dict[str, str]) -> ToolResult:
    call_id, run = fields.text(block, "toolUseID"), fields.mapping(block, "run")
    status, found = fields.text(run, "status"), run.get("result")
    fault = fields.text(fields.mapping(run, "error"), "message") or fields.text(run, "reason")
    about = found if isinstance(found, dict) else {}
    words = fields.text(about, "content", "output", "diff")
    return content.result(
        call_id,
        words or found or fault,
        tool=tools.get(call_id, ""),
        error=FAULTS.get(status),
        exit_code=fields.code(about, "exitCode"),
        disposition=DISPOSITIONS.get(status),
    )


def _usage(spent: dict[str, Any]) -> Usage | None:
    if not spent:
        return None
    cached, made = fields.whole(spent, "cacheReadInputTokens"), fields.whole(spent, "cacheCreationInputTokens")
    fresh = fields.whole(spent, "inputTokens")
    return Usage(
        input=fields.whole(spent, "totalInputTokens") or fresh + cached + made,
        output=fields.whole(spent, "outputTokens"),
        cached=cached,
        cache_written=made,
    )


def _path(uri: str) -> str:
    try:
        return unquote(urlsplit(uri).path)
    except ValueError:
        return ""


FORMAT = Format(NAME, "Amp", sniff, read, places=(".local/share/amp/threads/T-*.json",))
