"""Qwen Code: one JSON Lines file a session, whose lines hold Google's `Content`; one a sub-agent that runs beside it.

Lines form a tree and are read in the order in which they were written, which keeps what a rewind left behind.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from whet.agents import gemini
from whet.agents.formats import content
from whet.agents.formats.source import Format, Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Ending, Message, Origin, Purpose, Role, ToolResult, Transcript, Usage
from whet.text import fields

NAME = "qwen"
TYPED = frozenset({"", "mid_turn_user_message"})  # other subtypes mark what the program says in the person's place
REFUSED = "[Operation Cancelled] Reason: User did not allow tool call"
DENIED = "execution_denied"
FAILED_REQUEST = "qwen-code.api_error"


@dataclass(slots=True)
class QwenFile:
    """What has been read of a session."""

    messages: list[Message] = field(default_factory=list)
    first: dict[str, Any] = field(default_factory=dict)
    branch: str = ""
    title: str = ""
    parent: str = ""
    failure: str = ""  # of the latest request, where no answer came after it


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(_is_line(record) for record in source.sample)


def _is_line(record: dict[str, Any]) -> bool:
    if not {"uuid", "sessionId", "cwd"} <= record.keys():
        return False
    message = fields.mapping(record, "message")
    return isinstance(message.get("parts"), list) or ("subtype" in record and "systemPayload" in record)


def read(source: Source) -> Iterator[Transcript]:
    session, seen = QwenFile(), set[str]()
    for _, record in source.session_records():
        identity = fields.text(record, "uuid")
        if identity and identity in seen:
            continue
        seen.add(identity)
        session.first = session.first or record
        session.branch = session.branch or fields.text(record, "gitBranch")
        session.parent = session.parent or fields.text(fields.mapping(record, "forkedFrom"), "sessionId")
        _take(session, record, fields.seconds(record.get("timestamp")))
    yield _transcript(source, session)


def _take(session: QwenFile, record: dict[str, Any], at: float | None) -> None:
    kind, parts = fields.text(record, "type"), fields.items(fields.mapping(record, "message"), "parts")
    if kind == "user":
        session.failure = ""
        session.messages += _said(record, parts, at)
    elif kind == "assistant":
        session.failure = ""
        session.messages += _agent(record, parts, at)
    elif kind == "tool_result":
        session.messages += _answers(record, parts, at)
    elif kind == "system":
        _take_system(session, fields.text(record, "subtype"), fields.mapping(record, "systemPayload"), at)


def _take_system(session: QwenFile, subtype: str, payload: dict[str, Any], at: float | None) -> None:
    if subtype == "custom_title":
        session.title = fields.text(payload, "customTitle") or session.title
    elif subtype == "parent_session":
        session.parent = fields.text(payload, "parentSessionId") or session.parent
    elif subtype == "ui_telemetry":
        event = fields.mapping(payload, "uiEvent")
        if fields.text(event, "event.name") == FAILED_REQUEST:
            session.failure = fields.text(event, "error_message", "error_type") or FAILED_REQUEST
    elif subtype == "chat_compression":
        # The new history begins with the summary; what it kept of the old one has been read.
        summary = next(iter(fields.objects(payload, "compressedHistory")), {})
        if words := list(gemini.shown(summary.get("parts"))):
            session.messages.append(content.spoken(Role.USER, words, at=at, origin=Origin.SUMMARY))
    elif subtype == "agent_launch_prompt" and (words := list(content.shown(payload.get("displayText")))):
        session.messages.append(content.spoken(Role.USER, words, at=at))


def _said(record: dict[str, Any], parts: list[Any], at: float | None) -> Iterator[Message]:
    shown = tuple(gemini.shown(parts))
    if fields.text(record, "subtype") in TYPED and "externalInputKind" not in record:
        yield from gemini.said(shown, at)
    elif shown:
        yield content.spoken(Role.USER, shown, at=at, origin=Origin.INSERTED)


def _agent(record: dict[str, Any], blocks: list[Any], at: float | None) -> Iterator[Message]:
    parts: list[transcripts.Part] = []
    for place, block in enumerate(blocks):
        call = fields.mapping(block, "functionCall") if isinstance(block, dict) else {}
        if call:
            made = fields.text(call, "id") or f"{fields.text(record, 'uuid')}/{place}"
            parts.append(transcripts.ToolCall(made, fields.text(call, "name"), fields.json_text(call.get("args", {}))))
        elif isinstance(block, dict) and block.get("thought"):
            words = fields.text(block, "text")
            parts += [transcripts.Thought(words, signature=fields.text(block, "thoughtSignature"))] if words else []
        else:
            parts += gemini.shown(block)
    if parts:
        usage = _usage(fields.mapping(record, "usageMetadata"))
        yield content.spoken(Role.AGENT, parts, at=at, model=fields.text(record, "model"), usage=usage)


def _answers(record: dict[str, Any], blocks: list[Any], at: float | None) -> Iterator[Message]:
    """The results of a line, which says of one call how it went; pictures that a tool gave stand beside its words."""
    about = fields.mapping(record, "toolCallResult")
    given = [fields.mapping(block, "functionResponse") if isinstance(block, dict) else {} for block in blocks]
    starts = [place for place, answer in enumerate(given) if answer]
    for start, end in itertools.pairwise([*starts, len(blocks)]):
        answer = given[start]
        call_id = fields.text(answer, "id") or fields.text(about, "callId")
        status = fields.text(about, "status") if fields.text(about, "callId") in ("", call_id) else ""
        is_fault = set(fields.mapping(answer, "response")) == {"error"}
        result = ToolResult(
            call_id,
            content=tuple(gemini.results(blocks[start:end])),
            tool=fields.text(answer, "name"),
            error={"success": False, "error": True}.get(status, True if is_fault and not status else None),
        )
        disposition = _disposition(status, fields.text(about, "errorType"), result.text)
        yield content.answered(replace(result, disposition=disposition), at=at)


def _disposition(status: str, fault: str, words: str) -> Disposition | None:
    if status == "cancelled":
        return Disposition.REJECTED if words.strip() == REFUSED else Disposition.CANCELLED
    return Disposition.BLOCKED if status == "error" and fault == DENIED else None


def _usage(counted: dict[str, Any]) -> Usage | None:
    """The prompt's count holds the cached tokens; whether the answer's holds the thoughts depends on the provider."""
    prompt = fields.whole(counted, "promptTokenCount")
    used = Usage(
        input=prompt,
        output=max(fields.whole(counted, "candidatesTokenCount"), fields.whole(counted, "totalTokenCount") - prompt),
        cached=fields.whole(counted, "cachedContentTokenCount"),
    )
    return used if used != Usage() else None


def _transcript(source: Source, session: QwenFile) -> Transcript:
    messages, first = tuple(session.messages), session.first
    main, agent = fields.text(first, "sessionId") or source.path.stem, fields.text(first, "agentId")
    return content.completed(
        Transcript(
            source=NAME,
            native_id=f"{main}/{agent}" if agent else main,
            messages=messages,
            parent=main if agent else session.parent,
            title=fields.text(first, "agentName") if agent else session.title,
            folder=fields.text(first, "cwd"),
            branch=session.branch,
            version=fields.text(first, "version"),
            purpose=Purpose.SUBTASK if agent else Purpose.CHAT,
            ending=Ending.FAILED if session.failure else Ending.UNKNOWN,
            ending_detail=session.failure,
            started=fields.seconds(first.get("timestamp")),
        )
    )


FORMAT = Format(
    NAME,
    "Qwen Code",
    sniff,
    read,
    places=(".qwen/projects/*/chats/*.jsonl", ".qwen/projects/*/subagents/*/agent-*.jsonl"),
)
