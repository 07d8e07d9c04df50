"""Droid: one JSON Lines file a session, in Anthropic's blocks; its settings lie in a file beside it.

A session that was forked begins with a copy of its parent's messages.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source, Unreadable
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Message, Origin, Part, Purpose, Role, Text, Thought, Transcript
from whet.text import fields

NAME = "droid"
FILE_HEAD = "Contents of "  # begins a text with a file that the program read for the person
NOT_ALLOWED = "Error: Exec ended early: insufficient permission to proceed."
HIDDEN = frozenset({"user_only", "llm_only"})  # for the screen, or for the model: in either case nobody's words
ENDINGS = {
    "completed": Ending.FINISHED,
    "cancelled": Ending.INTERRUPTED,
    "permission_rejected": Ending.INTERRUPTED,
    "model_usage_exhausted": Ending.BUDGET,
    "process_exit": Ending.UNKNOWN,
    "spec_handoff": Ending.UNKNOWN,
}


@dataclass(slots=True)
class DroidFile:
    """What has been read of a session."""

    messages: list[Message] = field(default_factory=list)
    start: dict[str, Any] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    outcome: str = ""  # of the latest turn


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(
        record.get("type") == "session_start" and "id" in record and "title" in record for record in source.sample
    )


def read(source: Source) -> Iterator[Transcript]:
    session, seen = DroidFile(), set[str]()
    for _, record in source.session_records():
        kind, at = fields.text(record, "type"), fields.seconds(record.get("timestamp"))
        if kind == "session_start":
            session.start = session.start or record
        elif kind == "agent_turn_outcome":
            session.outcome = fields.text(record, "reason")
        elif kind == "compaction_state":
            words = [Text(summary)] if (summary := fields.text(record, "summaryText")) else []
            session.messages += [content.spoken(Role.USER, words, at=at, origin=Origin.SUMMARY)] if words else []
        elif kind == "message" and (identity := fields.text(record, "id")) not in seen:
            seen |= {identity} if identity else set()
            session.outcome = ""
            _take(session, fields.mapping(record, "message"), at)
    yield _transcript(source, session)


def _take(session: DroidFile, message: dict[str, Any], at: float | None) -> None:
    blocks, is_hidden = message.get("content"), fields.text(message, "visibility") in HIDDEN
    parts = [replace(part, signature="") if isinstance(part, Thought) else part for part in content.parts(blocks)]
    if fields.text(message, "role") == "assistant":
        _take_agent(session, message, parts, at, is_hidden=is_hidden)
    elif is_hidden and parts:
        session.messages.append(content.spoken(Role.USER, parts, at=at, origin=Origin.INSERTED))
    else:
        session.messages += _said(parts, at)
    session.messages += _answers(session, blocks, at)


def _take_agent(
    session: DroidFile, message: dict[str, Any], parts: list[Part], at: float | None, *, is_hidden: bool
) -> None:
    if not parts:
        return
    origin, model = Origin.INSERTED if is_hidden else Origin.TURN, fields.text(message, "modelId")
    turn = content.spoken(Role.AGENT, parts, at=at, model=model, origin=origin)
    session.tools |= {call.id: call.name for call in turn.calls}
    session.messages.append(turn)


def _said(parts: list[Part], at: float | None) -> Iterator[Message]:
    """What the person wrote, apart from the files that the program put after it."""
    files = [part for part in parts[1:] if isinstance(part, Text) and part.text.startswith(FILE_HEAD)]
    yield from content.said([part for part in parts if part not in files], at=at)
    if files:
        yield content.spoken(Role.USER, files, at=at, origin=Origin.INSERTED)


def _answers(session: DroidFile, blocks: object, at: float | None) -> Iterator[Message]:
    for block in blocks if isinstance(blocks, list) else ():
        if not isinstance(block, dict) or fields.text(block, "type") != "tool_result":
            continue
        call_id = fields.text(block, "tool_use_id")
        error, tool = fields.flag(block, "is_error"), session.tools.get(call_id, "")
        result = content.result(call_id, block.get("content"), tool=tool, error=error)
        if error and result.text.startswith(NOT_ALLOWED):
            result = replace(result, disposition=transcripts.Disposition.BLOCKED)
        yield content.answered(result, at=at)


def _transcript(source: Source, session: DroidFile) -> Transcript:
    start, messages = session.start, tuple(session.messages)
    caller = fields.text(start, "callingSessionId")
    ending = ENDINGS.get(session.outcome, Ending.FAILED) if session.outcome else Ending.UNKNOWN
    models = (message.model for message in messages if message.model)
    return content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(start, "id") or source.path.stem,
            messages=messages,
            parent=caller or fields.text(start, "parent"),
            title=fields.text(start, "title"),
            model=next(models, "") or _chosen_model(source),
            folder=fields.text(start, "cwd"),
            purpose=Purpose.SUBTASK if caller else Purpose.CHAT,
            ending=ending,
            ending_detail="" if ending is Ending.FINISHED else session.outcome,
        )
    )


def _chosen_model(source: Source) -> str:
    """The model in the settings beside the session, for versions that do not name it with each message."""
    beside = source.path.with_suffix(".settings.json")
    try:
        return fields.text(next(iter(Source(beside).sample), {}), "model")
    except Unreadable:
        return ""


FORMAT = Format(NAME, "Droid", sniff, read, places=(".factory/sessions/*/*.jsonl",))
