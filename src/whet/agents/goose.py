"""Goose: every session in one database, an exported one in a JSON document."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import apsw
from msgspec.structs import replace

from whet.agents.formats import content, databases
from whet.agents.formats.content import AgentTurn
from whet.agents.formats.source import Format, Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Message, Origin, Purpose, Text, Thought, ToolCall, ToolResult, Transcript, Usage
from whet.text import fields

BUILT_IN = "developer__"  # before the names of Goose's own tools, in older versions
CALLS = frozenset({"toolRequest", "frontendToolRequest"})
PLACE = "goose.toolCall.providerIndex"
DECLINED = (
    "The user has declined to run this tool. DO NOT attempt to call this tool again. If there are no alternative"
    " methods to proceed, clearly explain the situation and STOP."
)

Record = dict[str, Any]

NAME = "goose"
SESSION_COLUMNS = frozenset({"id", "working_dir", "created_at", "extension_data"})
MESSAGE_COLUMNS = frozenset({"id", "session_id", "role", "content_json", "created_timestamp"})
PURPOSES = {"sub_agent": Purpose.SUBTASK, "scheduled": Purpose.JOB}


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
    return content.gathered(entries)


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


def _parts(block: dict[str, Any]) -> Iterator[transcripts.Part]:
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


def _shown(block: dict[str, Any]) -> Iterator[Text | transcripts.Media]:
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
    yield content.spoken(transcripts.Role.USER, parts, at=at, origin=Origin.SUMMARY if is_summary else Origin.INSERTED)


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
    return replace(result, disposition=transcripts.Disposition.REJECTED) if result.text == DECLINED else result


def _usage(counted: dict[str, Any]) -> Usage | None:
    """Goose's input holds the cached tokens."""
    return content.used(counted, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def sniff(source: Source) -> bool:
    if source.kind == "sqlite":
        with source.database() as connection:
            return (
                databases.columns(connection, "sessions") >= SESSION_COLUMNS
                and databases.columns(connection, "messages") >= MESSAGE_COLUMNS
            )
    return source.kind == "json" and _is_export(source.document)


def _is_export(document: object) -> bool:
    return (
        isinstance(document, dict)
        and "working_dir" in document
        and "extension_data" in document
        and isinstance(document.get("conversation"), list)
    )


def read(source: Source) -> Iterator[Transcript]:
    if source.kind == "sqlite":
        yield from _stored(source)
    elif isinstance(source.document, dict):
        yield _session(source, source.document, fields.objects(source.document, "conversation"))


def _stored(source: Source) -> Iterator[Transcript]:
    with source.database() as connection:
        yield from databases.sessions(
            connection,
            "sessions",
            "created_at",
            lambda row: _session(source, row, _messages(source, connection, row["id"])),
        )


def _messages(source: Source, connection: apsw.Connection, session_id: str) -> list[Record]:
    """A session's messages in the order in which they were written: a compaction gives all of them one time."""
    messages: list[Record] = []
    for row in databases.rows(connection, "SELECT * FROM messages WHERE session_id = ? ORDER BY id", (session_id,)):
        blocks = databases.document(row["content_json"])
        if not isinstance(blocks, list):
            source.skip(f"session {session_id}: message {row['id']} is not a JSON list")
            continue
        about = databases.document(row.get("metadata_json"))
        created = row["created_timestamp"]
        messages.append({"role": row["role"], "created": created, "content": blocks, "metadata": about})
    return messages


def _session(source: Source, about: dict[str, Any], records: list[Record]) -> Transcript:
    purpose = PURPOSES.get(fields.text(about, "session_type"), Purpose.CHAT)
    settings = about.get("model_config") or databases.document(about.get("model_config_json"))
    return content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(about, "id") or source.path.stem,
            messages=conversation(records),
            parent=fields.text(about, "parent_session_id"),
            title=fields.text(about, "name", "description"),
            model=fields.text(settings, "model_name") if isinstance(settings, dict) else "",
            folder=fields.text(about, "working_dir"),
            purpose=purpose,
            started=fields.seconds(about.get("created_at")),
        )
    )


FORMAT = Format(
    NAME,
    "Goose",
    sniff,
    read,
    places=(".local/share/goose/sessions/sessions.db",),  # into which it took its older files
)
