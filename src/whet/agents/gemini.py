"""Gemini CLI: one JSON document a session, or since 2026 one JSON Lines file whose lines replace earlier ones."""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import msgspec

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Media, Message, Origin, Purpose, Role, Text, Transcript, Usage
from whet.sessions.trust import Trust
from whet.text import fields

FILES_HEAD = "--- Content from referenced files ---"
SUMMARY_HEAD = "<state_snapshot>"

NAME = "gemini"
REFUSED = "[Operation Cancelled] Reason: User did not allow tool call"
STOPPED = "Request cancelled."
MCP_SERVER = "MCP Server)"
ANSWERED = frozenset({"success", "error", "cancelled"})
PROJECT_LIMIT_BYTES = 4096

Conversation = tuple[dict[str, Any], list[dict[str, Any]]]


def said(parts: tuple[Text | Media, ...], at: float | None) -> Iterator[Message]:
    """What the person wrote, apart from the files that the program put after it and the texts it sends itself."""
    texts = [part.text if isinstance(part, Text) else "" for part in parts]
    if texts and texts[0].lstrip().startswith(SUMMARY_HEAD):
        yield content.spoken(Role.USER, parts, at=at, origin=Origin.SUMMARY)
        return
    at_files = next((index for index, text in enumerate(texts) if FILES_HEAD in text), None)
    if at_files is None:
        yield from content.said(parts, at=at)
        return
    # The text that names the files may hold the request too; what comes after it is theirs, and may look like anything.
    request, head, rest = texts[at_files].partition(FILES_HEAD)
    yield from content.said((*parts[:at_files], *([Text(request.rstrip())] if request.strip() else [])), at=at)
    files = (Text(head + rest), *parts[at_files + 1 :])
    yield content.spoken(Role.USER, files, at=at, origin=Origin.INSERTED)


def shown(blocks: object) -> Iterator[Text | Media]:
    """Text and media; thoughts, calls and their results have fields of their own in the record."""
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if not isinstance(block, dict):
            yield from content.shown(block)
        elif inline := fields.mapping(block, "inlineData"):
            yield content.media(inline)
        elif not block.get("thought") and (words := fields.text(block, "text")):
            yield Text(words)


def results(result: object) -> Iterator[Text | Media]:
    for block in result if isinstance(result, list) else [result]:
        answer = block.get("functionResponse") if isinstance(block, dict) else None
        if isinstance(answer, dict):
            response = fields.mapping(answer, "response")
            plain = fields.text(response, "output", "error") if len(response) == 1 else ""
            yield from content.shown(plain or response or None)
        else:
            yield from shown(block)


def sniff(source: Source) -> bool:
    return source.kind in ("json", "jsonl") and any(
        ("sessionId" in record and "projectHash" in record)
        or (record.get("type") == "gemini" and "id" in record and "content" in record)
        for record in source.sample
    )


def read(source: Source) -> Iterator[Transcript]:
    about, records = _document(source) if source.kind == "json" else _lines(source)
    messages = tuple(itertools.chain.from_iterable(_messages(record) for record in records))
    is_failed = bool(messages) and fields.text(records[-1], "type") == "error"
    is_subtask = fields.text(about, "kind") == "subagent"
    yield content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(about, "sessionId") or source.path.stem,
            messages=messages,
            parent=source.path.parent.name if is_subtask else "",
            title=fields.text(about, "summary"),
            folder=_folder(source, about),
            purpose=Purpose.SUBTASK if is_subtask else Purpose.CHAT,
            ending=Ending.FAILED if is_failed else Ending.UNKNOWN,
            ending_detail=messages[-1].text if is_failed else "",
            started=fields.seconds(about.get("startTime")),
        )
    )


def _document(source: Source) -> Conversation:
    document = source.document if isinstance(source.document, dict) else {}
    return document, fields.objects(document, "messages")


def _lines(source: Source) -> Conversation:
    """A message that is written again replaces itself; a rewind takes back all from the message it names."""
    about: dict[str, Any] = {}
    messages: dict[str, dict[str, Any]] = {}
    for line, record in source.session_records():
        change = fields.mapping(record, "$set")
        if back := fields.text(record, "$rewindTo"):
            keys = list(messages)
            for key in keys[keys.index(back) if back in messages else 0 :]:
                del messages[key]
        elif change:
            about |= change
            for message in fields.objects(change, "messages"):
                # A history that was compressed or masked: what we have read is the original.
                messages.setdefault(fields.text(message, "id"), message)
        elif "sessionId" in record:
            about |= record
        elif fields.text(record, "type"):
            messages[fields.text(record, "id") or f"line {line}"] = record
    return about, list(messages.values())


def _messages(record: dict[str, Any]) -> Iterator[Message]:
    kind, at = fields.text(record, "type"), fields.seconds(record.get("timestamp"))
    if kind == "gemini":
        yield from _agent(record, at)
    elif kind == "user":
        yield from said(tuple(shown(record.get("content"))), at)
    elif parts := list(shown(record.get("content"))):
        stopped = isinstance(parts[0], Text) and parts[0].text.startswith(STOPPED)
        yield content.spoken(Role.USER, parts, at=at, origin=Origin.INTERRUPT if stopped else Origin.INSERTED)


def _agent(record: dict[str, Any], at: float | None) -> Iterator[Message]:
    parts: list[transcripts.Part] = []
    for thought in fields.objects(record, "thoughts"):
        words = "\n".join(filter(None, (fields.text(thought, "subject"), fields.text(thought, "description"))))
        parts += [transcripts.Thought(words)] if words else []
    parts += shown(record.get("content"))
    calls = fields.objects(record, "toolCalls")
    for place, call in enumerate(calls):
        arguments = fields.json_text(call.get("args", {}))
        parts.append(transcripts.ToolCall(_call_id(record, call, place), fields.text(call, "name"), arguments))
    if parts:
        usage = _usage(fields.mapping(record, "tokens"))
        yield content.spoken(Role.AGENT, parts, at=at, model=fields.text(record, "model"), usage=usage)
    for place, call in enumerate(calls):
        if call.get("result") is not None or fields.text(call, "status") in ANSWERED:
            yield _answer(call, _call_id(record, call, place), at)


def _call_id(record: dict[str, Any], call: dict[str, Any], place: int) -> str:
    """Its own id, or its position within the message: a call and its result stand in one record."""
    return fields.text(call, "id") or f"{fields.text(record, 'id')}/{place}"


def _answer(call: dict[str, Any], call_id: str, at: float | None) -> Message:
    status = fields.text(call, "status")
    answer = transcripts.ToolResult(
        call_id,
        content=tuple(results(call.get("result"))),
        tool=fields.text(call, "name"),
        error={"success": False, "error": True}.get(status),
    )
    if status == "cancelled":
        refused = answer.text.strip() == REFUSED  # what was stopped may have answered already
        disposition = transcripts.Disposition.REJECTED if refused else transcripts.Disposition.CANCELLED
        answer = msgspec.structs.replace(answer, disposition=disposition)
    message = content.answered(answer, at=fields.seconds(call.get("timestamp")) or at)
    if fields.text(call, "displayName").endswith(MCP_SERVER):
        return msgspec.structs.replace(message, trust=Trust.EXTERNAL)
    return message


def _usage(tokens: dict[str, Any]) -> Usage | None:
    """Gemini's prompt count holds the cached tokens, but neither thoughts nor what tools put into the prompt."""
    return content.used(tokens, "input+tool", "output+thoughts", "cached")


def _folder(source: Source, about: dict[str, Any]) -> str:
    """The working folder, which the session names only by a hash: newer versions keep its path beside it."""
    named = [name for name in fields.items(about, "directories") if isinstance(name, str)]
    chats = next((folder for folder in source.path.absolute().parents if folder.name == "chats"), None)
    if chats and not named:
        with contextlib.suppress(OSError), open(chats.parent / ".project_root", "rb") as file:
            return file.read(PROJECT_LIMIT_BYTES).decode(errors="replace").strip()
    return named[0] if named else ""


FORMAT = Format(
    NAME,
    "Gemini CLI",
    sniff,
    read,
    places=(
        ".gemini/tmp/*/chats/session-*.json",
        ".gemini/tmp/*/chats/session-*.jsonl",
        ".gemini/tmp/*/chats/*/*.jsonl",
    ),
)
