"""GitHub Copilot CLI: one JSON Lines file of events a session, sub-agents among them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from whet.agents.formats import content
from whet.agents.formats.content import AgentTurn
from whet.agents.formats.source import Format, Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Ending, Origin, Purpose, Role, Text, ToolCall, Transcript, Usage
from whet.sessions.trust import Trust
from whet.text import fields

NAME = "copilot"
MESSAGES = frozenset({"user.message", "assistant.message", "tool.execution_start", "tool.execution_complete"})
INSERTED = {"system.message": Role.SYSTEM, "system.notification": Role.USER, "skill.invoked": Role.USER}
DISPOSITIONS = {
    "rejected": Disposition.REJECTED,
    "denied": Disposition.BLOCKED,
    "denied-interactively-by-user": Disposition.REJECTED,
    "cancelled": Disposition.CANCELLED,
}


@dataclass(slots=True)
class CopilotThread:
    """One conversation of the file: the main one, or a sub-agent's."""

    entries: list[AgentTurn | transcripts.Message] = field(default_factory=list)
    latest: AgentTurn | None = None
    thought: str = ""
    title: str = ""
    ending: Ending = Ending.UNKNOWN
    detail: str = ""


@dataclass(slots=True)
class CopilotFile:
    """What has been read of the file."""

    threads: dict[str, CopilotThread] = field(default_factory=lambda: {"": CopilotThread()})
    tools: dict[str, str] = field(default_factory=dict)
    servers: set[str] = field(default_factory=set)  # calls that went to an MCP server
    refusals: dict[str, Disposition] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)  # permission request → call
    agents: dict[str, str] = field(default_factory=dict)  # call that started a sub-agent → its thread
    start: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    model: str = ""


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(
        isinstance(record.get("data"), dict)
        and (fields.text(record, "type") in MESSAGES or (record.get("type") == "session.start" and "id" in record))
        for record in source.sample
    )


def read(source: Source) -> Iterator[Transcript]:
    session, seen = CopilotFile(), set[str]()
    for _, record in source.session_records():
        identity = fields.text(record, "id")
        if identity and identity in seen:
            continue
        seen.add(identity)
        kind, data = fields.text(record, "type"), fields.mapping(record, "data")
        at = fields.seconds(record.get("timestamp"))
        if kind.startswith("session."):
            _take_about(session, kind, data, at)
        elif kind.startswith("permission."):
            _take_permission(session, kind, data)
        elif kind.startswith("subagent."):
            _take_subagent(session, kind, data, fields.text(record, "agentId"))
        else:
            key = fields.text(record, "agentId")
            key = key or session.agents.get(fields.text(data, "parentToolCallId"), "")
            _take(session, session.threads.setdefault(key, CopilotThread()), kind, data, at)
    said = {key: thread for key, thread in session.threads.items() if thread.entries}
    main = fields.text(session.start, "sessionId") or _named(source)
    for key, thread in said.items():
        yield _transcript(session, thread, main, key)


def _named(source: Source) -> str:
    return source.path.parent.name if source.path.stem == "events" else source.path.stem


def _take_about(session: CopilotFile, kind: str, data: dict[str, Any], at: float | None) -> None:
    if kind in ("session.start", "session.resume"):
        session.start = session.start or data
        session.context = session.context or fields.mapping(data, "context")
    session.model = fields.text(data, "selectedModel", "newModel") or session.model
    main = session.threads[""]
    main.title = fields.text(data, "title") or main.title
    if kind == "session.task_complete":
        main.ending = Ending.FINISHED
    elif kind == "session.error":
        main.ending, main.detail = Ending.FAILED, fields.text(data, "message")
    elif kind == "session.shutdown" and fields.text(data, "shutdownType") == "error":
        main.ending, main.detail = Ending.FAILED, fields.text(data, "errorReason")
    elif kind == "session.compaction_complete":
        _take_compaction(main, data, at)


def _take_permission(session: CopilotFile, kind: str, data: dict[str, Any]) -> None:
    request, answer = fields.text(data, "requestId"), fields.text(fields.mapping(data, "result"), "kind")
    if kind == "permission.requested":
        session.asked[request] = fields.text(fields.mapping(data, "permissionRequest"), "toolCallId")
    elif request in session.asked:
        refusal = DISPOSITIONS.get(answer) or (Disposition.BLOCKED if answer.startswith("denied") else None)
        if refusal:
            session.refusals[session.asked[request]] = refusal


def _take_compaction(thread: CopilotThread, data: dict[str, Any], at: float | None) -> None:
    if words := fields.text(data, "summaryContent"):
        used = _usage(fields.mapping(data, "compactionTokensUsed"))
        thread.entries.append(content.spoken(Role.USER, [Text(words)], at=at, usage=used, origin=Origin.SUMMARY))


def _take_subagent(session: CopilotFile, kind: str, data: dict[str, Any], agent: str) -> None:
    call = fields.text(data, "toolCallId")
    if kind == "subagent.started" and (agent or call):
        session.agents[call] = agent or call
        thread = session.threads.setdefault(agent or call, CopilotThread())
        thread.title = fields.text(data, "agentDisplayName", "agentName")
    elif call in session.agents:
        thread = session.threads[session.agents[call]]
        if kind == "subagent.completed":
            thread.ending = Ending.FINISHED
        elif kind == "subagent.failed":
            thread.ending, thread.detail = Ending.FAILED, fields.text(data, "error")


def _take(session: CopilotFile, thread: CopilotThread, kind: str, data: dict[str, Any], at: float | None) -> None:
    if kind == "user.message":
        _take_user(thread, data, at)
    elif kind == "assistant.message":
        _take_agent(session, thread, data, at)
    elif kind == "assistant.reasoning":
        thread.thought = fields.text(data, "content")
    elif kind == "assistant.usage" and thread.latest is not None:
        thread.latest.usage = _usage(data) or thread.latest.usage
    elif kind == "tool.execution_start":
        _take_start(session, thread, data, at)
    elif kind == "tool.execution_complete":
        thread.entries.append(_answer(session, data, at))
    elif kind == "abort":
        thread.ending, thread.detail = Ending.INTERRUPTED, fields.text(data, "reason")
        words = [Text(thread.detail or "aborted")]
        thread.entries.append(content.spoken(Role.USER, words, at=at, origin=Origin.INTERRUPT))
    elif kind in INSERTED and (parts := list(content.shown(data.get("content")))):
        thread.entries.append(content.spoken(INSERTED[kind], parts, at=at, origin=Origin.INSERTED))


def _take_user(thread: CopilotThread, data: dict[str, Any], at: float | None) -> None:
    parts: list[transcripts.Part] = list(content.shown(data.get("content")))
    for attached in fields.objects(data, "attachments"):
        name = fields.text(attached, "path", "displayName")
        parts.append(content.media(attached) if attached.get("data") else transcripts.Media("other", name=name))
    if not parts:
        return
    # Skills, schedules, commands and autopilot speak in the person's place and say so, by a name or by a flag.
    is_own = fields.text(data, "source") in ("", "user") and not any(value is True for value in data.values())
    if is_own:
        thread.ending, thread.detail = Ending.UNKNOWN, ""
        thread.entries += content.said(parts, at=at, vouched=True)
    else:
        thread.entries.append(content.spoken(Role.USER, parts, at=at, origin=Origin.INSERTED))


def _take_agent(session: CopilotFile, thread: CopilotThread, data: dict[str, Any], at: float | None) -> None:
    parts: list[transcripts.Part] = []
    if words := fields.text(data, "reasoningText") or thread.thought:
        parts.append(transcripts.Thought(words))
    thread.thought = ""
    parts += content.shown(data.get("content"))
    for request in fields.objects(data, "toolRequests"):
        call = ToolCall(
            fields.text(request, "toolCallId"),
            fields.text(request, "name"),
            fields.json_text(request.get("arguments", {})),
        )
        if call.id not in session.tools:
            session.tools[call.id] = call.name
            parts.append(call)
    if parts:
        model = fields.text(data, "model") or session.model
        thread.latest = AgentTurn(parts, at, model, _usage(data))
        thread.entries.append(thread.latest)


def _take_start(session: CopilotFile, thread: CopilotThread, data: dict[str, Any], at: float | None) -> None:
    call_id, name = fields.text(data, "toolCallId"), fields.text(data, "toolName")
    if fields.text(data, "mcpServerName"):
        session.servers.add(call_id)
    if call_id in session.tools:
        return
    # Some records leave out the message that asked for the call.
    session.tools[call_id] = name
    call = ToolCall(call_id, name, fields.json_text(data.get("arguments", {})))
    thread.latest = AgentTurn([call], at, session.model)
    thread.entries.append(thread.latest)


def _answer(session: CopilotFile, data: dict[str, Any], at: float | None) -> transcripts.Message:
    call_id, outcome = fields.text(data, "toolCallId"), fields.mapping(data, "result")
    failure = fields.mapping(data, "error")
    success = fields.flag(data, "success")
    kind = fields.text(outcome, "result_type", "resultType") or fields.text(failure, "code")
    if success is None and kind:
        success = kind == "success"
    shown = next((outcome[key] for key in ("content", "text_result_for_llm", "contents") if outcome.get(key)), None)
    answer = content.result(
        call_id,
        shown or fields.text(failure, "message") or fields.text(data, "error"),
        tool=session.tools.get(call_id, ""),
        error=None if success is None else not success,
        # What a server answers has a kind of the server's own.
        disposition=session.refusals.get(call_id) or (None if call_id in session.servers else DISPOSITIONS.get(kind)),
    )
    message = content.answered(answer, at=at)
    return msgspec.structs.replace(message, trust=Trust.EXTERNAL) if call_id in session.servers else message


def _usage(record: dict[str, Any]) -> Usage | None:
    """Copilot's input holds the cached tokens. A message alone tells only its output."""
    cached = "cacheReadTokens|cachedInput"
    return content.used(record, "inputTokens|input", "outputTokens|output", cached, "cacheWriteTokens")


def _transcript(session: CopilotFile, thread: CopilotThread, main: str, key: str) -> Transcript:
    messages = content.gathered(thread.entries)
    return content.completed(
        Transcript(
            source=NAME,
            native_id=f"{main}/{key}" if key else main,
            messages=messages,
            parent=main if key else "",
            title=thread.title,
            model=next((message.model for message in messages if message.model), session.model),
            folder=fields.text(session.context, "cwd"),
            branch=fields.text(session.context, "branch"),
            version=fields.text(session.start, "copilotVersion"),
            purpose=Purpose.SUBTASK if key else Purpose.CHAT,
            ending=thread.ending,
            ending_detail=thread.detail,
            started=None if key else fields.seconds(session.start.get("startTime")),
        )
    )


FORMAT = Format(
    NAME,
    "Copilot CLI",
    sniff,
    read,
    places=(".copilot/session-state/*/events.jsonl", ".copilot/session-state/*.jsonl"),
)
