"""pi: one JSON Lines file a session; its entries form a tree and are read in the order in which they were written.

File order keeps every branch the person tried and counts each model call once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Message, Origin, Part, Role, Text, Thought, ToolCall, Transcript, Usage
from whet.text import fields

NAME = "pi"
SUMMARIES = frozenset({"compaction", "branch_summary", "compactionSummary", "branchSummary"})
INSERTED = frozenset({"custom_message", "custom", "hookMessage"})
BESIDE = frozenset({"file", "skill"})  # tags around files that the program read for the person
ABORTED_COMMAND = "Command aborted"

COUNTS = ("input", "output", "cacheRead", "cacheWrite")


@dataclass(slots=True)
class PiFile:
    """What has been read of a session."""

    messages: list[Message] = field(default_factory=list)
    header: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    ending: Ending = Ending.UNKNOWN
    detail: str = ""


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(
        record.get("type") == "session" and "id" in record and "cwd" in record for record in source.sample
    )


def read(source: Source) -> Iterator[Transcript]:
    session = PiFile()
    for _, record in source.session_records():
        kind = fields.text(record, "type")
        at = fields.seconds(record.get("timestamp"))
        if kind == "session":
            session.header = session.header or record
        elif kind == "session_info":
            session.title = fields.text(record, "name") or session.title
        elif kind == "message":
            message = fields.mapping(record, "message")
            _take(session, fields.text(message, "role"), message, at or fields.seconds(message.get("timestamp")))
        elif kind != "custom":  # extension state that the model never saw
            _take(session, kind, record, at)
    yield _transcript(source, session)


def _take(session: PiFile, role: str, message: dict[str, Any], at: float | None) -> None:
    if role == "assistant":
        _take_agent(session, message, at)
    elif role == "toolResult":
        _take_result(session, message, at)
    elif role == "user":
        session.ending, session.detail = Ending.UNKNOWN, ""
        session.messages += content.said(content.shown(message.get("content")), at=at, also=BESIDE)
    elif role in SUMMARIES:
        words = list(content.shown(message.get("summary")))
        _add(session, Role.USER, words, at, origin=Origin.SUMMARY)
    elif role in INSERTED:
        _add(session, Role.USER, list(content.shown(message.get("content"))), at, origin=Origin.INSERTED)
    elif role == "bashExecution":
        # A command that the person ran beside the conversation: no call of the agent's.
        words = [Text(f"$ {fields.text(message, 'command')}\n{fields.text(message, 'output')}")]
        _add(session, Role.USER, words, at, origin=Origin.INSERTED)


def _add(
    session: PiFile, role: Role, parts: list[Part] | list[Any], at: float | None, *, origin: Origin = Origin.TURN
) -> None:
    if parts:
        session.messages.append(content.spoken(role, parts, at=at, origin=origin))


def _take_agent(session: PiFile, message: dict[str, Any], at: float | None) -> None:
    parts = list(_parts(message.get("content")))
    if parts:
        session.messages.append(
            content.spoken(
                Role.AGENT,
                parts,
                at=at,
                model=fields.text(message, "model"),
                usage=usage(fields.mapping(message, "usage")),
            )
        )
    reason, detail = fields.text(message, "stopReason"), fields.text(message, "errorMessage")
    endings = {"stop": Ending.FINISHED, "length": Ending.BUDGET, "error": Ending.FAILED}
    session.ending, session.detail = endings.get(reason, Ending.UNKNOWN), detail
    if reason == "aborted":
        session.ending = Ending.INTERRUPTED
        _add(session, Role.USER, [Text(detail or reason)], at, origin=Origin.INTERRUPT)


def _parts(blocks: object) -> Iterator[Part]:
    if not isinstance(blocks, list):
        yield from content.shown(blocks)
        return
    for block in blocks:
        kind = fields.text(block, "type") if isinstance(block, dict) else ""
        if kind == "toolCall":
            arguments = fields.json_text(block.get("arguments", {}))
            yield ToolCall(fields.text(block, "id"), fields.text(block, "name"), arguments)
        elif kind == "thinking":
            if words := fields.text(block, "thinking"):
                yield Thought(words)
        else:
            yield from content.shown(block)


def _take_result(session: PiFile, message: dict[str, Any], at: float | None) -> None:
    answer = content.result(
        fields.text(message, "toolCallId"),
        message.get("content"),
        tool=fields.text(message, "toolName"),
        error=fields.flag(message, "isError"),
    )
    if answer.error and answer.text.endswith(ABORTED_COMMAND):
        answer = content.result(
            answer.call_id,
            message.get("content"),
            tool=answer.tool,
            error=True,
            disposition=transcripts.Disposition.INTERRUPTED,
        )
    session.messages.append(content.answered(answer, at=at))


def usage(record: dict[str, Any]) -> Usage | None:
    """Usage in pi's terms, where cached tokens are counted apart from the rest of the prompt."""
    cost = fields.mapping(record, "cost").get("total") if any(map(record.get, COUNTS)) else None
    return content.used(record, *COUNTS, is_apart=True, cost=cost)


def _transcript(source: Source, session: PiFile) -> Transcript:
    header, messages = session.header, tuple(session.messages)
    models = (message.model for message in messages if message.model)
    return content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(header, "id") or source.path.stem,
            messages=messages,
            parent=_parent(fields.text(header, "parentSession", "branchedFrom")),
            title=session.title,
            model=next(models, fields.text(header, "modelId")),
            folder=fields.text(header, "cwd"),
            ending=session.ending,
            ending_detail=session.detail,
            started=fields.seconds(header.get("timestamp")),
        )
    )


def _parent(path: str) -> str:
    """The id of the session that this one was branched from: the last part of its file's name."""
    return PurePosixPath(path.replace("\\", "/")).stem.rpartition("_")[2] if path else ""


FORMAT = Format(NAME, "pi", sniff, read, places=(".pi/agent/sessions/*/*.jsonl",))
