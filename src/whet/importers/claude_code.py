"""Claude Code: one JSON Lines file a session, one line a content block, sub-agents as side chains."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from whet.importers import content, fields
from whet.importers.formats import Format
from whet.importers.source import Source
from whet.transcripts import (
    Disposition,
    Ending,
    Message,
    Origin,
    Part,
    Purpose,
    Role,
    ToolCall,
    Transcript,
    Usage,
)

NAME = "claude-code"
INTERRUPT = "[Request interrupted by user"
REJECTIONS = ("The user doesn't want to", "User rejected tool use", "Error: The user doesn't want to")
CANCELLATIONS = ("<tool_use_error>Sibling tool call errored", "<tool_use_error>Cancelled: parallel tool call")
INSERTED_HEADS = (
    "<system-reminder>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "Caveat: The messages below",
)
SYNTHETIC = "<synthetic>"


@dataclass(slots=True)
class Turn:
    """An assistant message being gathered from its lines."""

    parts: list[Part]
    at: float | None
    model: str
    usage: Usage | None
    origin: Origin


@dataclass(slots=True)
class Thread:
    """One conversation of the file: the main one, or a sub-agent's."""

    turns: list[Turn | Message] = field(default_factory=list)
    open: dict[str, Turn] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)
    ending: Ending = Ending.UNKNOWN


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(
        (record.get("type") in ("user", "assistant") and "sessionId" in record and "message" in record)
        or (record.get("type") == "summary" and "leafUuid" in record)
        or (record.get("type") == "file-history-snapshot" and "messageId" in record)
        for record in source.sample
    )


def read(source: Source) -> Iterator[Transcript]:
    threads: dict[str, Thread] = {}
    side_of: dict[str, str] = {}  # uuid of a side chain's line → the chain it belongs to
    seen: set[str] = set()
    title = ""
    for line, record in source.records():
        kind = record.get("type")
        if kind in ("summary", "ai-title", "custom-title"):
            title = fields.text(record, "summary", "customTitle", "aiTitle", "title") or title
        if kind not in ("user", "assistant"):
            continue
        if not isinstance(record.get("message"), dict):
            source.skip("a message line without its message", line)
            continue
        uuid = fields.text(record, "uuid")
        if uuid and uuid in seen:
            continue
        seen.add(uuid)
        key = _thread_key(record, side_of)
        _take(threads.setdefault(key, Thread()), record)
    main = _main_id(source, threads)
    for key, thread in threads.items():
        yield _transcript(key, thread, main, title)


def _thread_key(record: dict[str, Any], side_of: dict[str, str]) -> str:
    """Empty for the main conversation, else the id of the side chain that the line belongs to."""
    if not record.get("isSidechain"):
        return ""
    uuid, parent = fields.text(record, "uuid"), fields.text(record, "parentUuid")
    key = fields.text(record, "agentId") or side_of.get(parent) or uuid or "side"
    side_of[uuid] = key
    return key


def _take(thread: Thread, record: dict[str, Any]) -> None:
    thread.first = thread.first or record
    at = fields.seconds(record.get("timestamp"))
    message = fields.mapping(record, "message")
    if record["type"] == "assistant":
        _take_agent(thread, record, message, at)
    else:
        _take_user(thread, record, message, at)


def _take_agent(thread: Thread, record: dict[str, Any], message: dict[str, Any], at: float | None) -> None:
    model = fields.text(message, "model")
    synthetic = model == SYNTHETIC or bool(record.get("isApiErrorMessage"))
    thread.ending = Ending.FAILED if record.get("isApiErrorMessage") else Ending.FINISHED
    parts = list(content.parts(message.get("content")))
    thread.tools.update((part.id, part.name) for part in parts if isinstance(part, ToolCall))
    key = fields.text(message, "id")
    turn = thread.open.get(key) if key else None
    if turn is None:
        origin = Origin.INSERTED if synthetic else Origin.TURN
        turn = Turn(parts, at, "" if synthetic else model, None, origin)
        thread.turns.append(turn)
        thread.open[key] = turn
    else:
        turn.parts.extend(parts)
    turn.usage = usage(fields.mapping(message, "usage")) or turn.usage


def _take_user(thread: Thread, record: dict[str, Any], message: dict[str, Any], at: float | None) -> None:
    blocks = message.get("content")
    said: list[Any] = []
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            call_id = fields.text(block, "tool_use_id")
            answer = content.result(
                call_id,
                block.get("content"),
                tool=thread.tools.get(call_id, ""),
                error=_error(record, block),
                disposition=_disposition(record.get("toolUseResult"), block),
            )
            thread.turns.append(content.answered(answer, at=at))
        else:
            said.append(block)
    parts = list(content.parts(said))
    if not parts:
        return
    origin = _origin(record, said[0])
    thread.ending = Ending.INTERRUPTED if origin is Origin.INTERRUPT else Ending.UNKNOWN
    thread.turns.append(content.spoken(Role.USER, parts, at=at, origin=origin))


def _error(record: dict[str, Any], block: dict[str, Any]) -> bool | None:
    """The source's own flag; where it leaves the flag out, a structured answer means that the call worked."""
    flagged = fields.flag(block, "is_error")
    if flagged is None and isinstance(record.get("toolUseResult"), dict | list):
        return False
    return flagged


def _disposition(answer: object, block: dict[str, Any]) -> Disposition | None:
    words = "".join(part.text for part in content.shown(block.get("content")) if hasattr(part, "text"))
    if isinstance(answer, dict) and answer.get("interrupted") is True:
        return Disposition.INTERRUPTED
    if not block.get("is_error"):
        return None
    if words.startswith(REJECTIONS) or (isinstance(answer, str) and answer.startswith(REJECTIONS)):
        return Disposition.REJECTED
    if words.startswith(CANCELLATIONS):
        return Disposition.CANCELLED
    if words.startswith(INTERRUPT):
        return Disposition.INTERRUPTED
    return None


def _origin(record: dict[str, Any], first: object) -> Origin:
    words = first.get("text", "") if isinstance(first, dict) else first
    words = words.lstrip() if isinstance(words, str) else ""
    if record.get("isCompactSummary"):
        return Origin.SUMMARY
    if words.startswith(INTERRUPT):
        return Origin.INTERRUPT
    if record.get("isMeta") or words.startswith(INSERTED_HEADS):
        return Origin.INSERTED
    return Origin.TURN


def usage(record: dict[str, Any]) -> Usage | None:
    """Usage in Anthropic's terms, where the prompt's cached tokens are counted apart from its input."""
    if not record:
        return None
    cached = fields.whole(record, "cache_read_input_tokens")
    written = fields.whole(record, "cache_creation_input_tokens")
    return Usage(
        input=fields.whole(record, "input_tokens") + cached + written,
        output=fields.whole(record, "output_tokens"),
        cached=cached,
        cache_written=written,
    )


def _main_id(source: Source, threads: dict[str, Thread]) -> str:
    ids = [fields.text(thread.first, "sessionId") for thread in threads.values()]
    return (
        source.path.stem
        if source.path.stem in ids
        else next((found for found in ids if found), source.path.stem)
    )


def _transcript(key: str, thread: Thread, main: str, title: str) -> Transcript:
    first = thread.first
    messages = tuple(_message(turn) for turn in thread.turns)
    times = [message.at for message in messages if message.at is not None]
    return Transcript(
        source=NAME,
        native_id=f"{main}/{key}" if key else main,
        parent=main if key else "",
        messages=messages,
        title="" if key else title,
        model=next((message.model for message in messages if message.model), ""),
        folder=fields.text(first, "cwd"),
        branch=fields.text(first, "gitBranch"),
        version=fields.text(first, "version"),
        purpose=Purpose.SUBTASK if key else Purpose.CHAT,
        ending=thread.ending,
        started=min(times, default=None),
        ended=max(times, default=None),
    )


def _message(turn: Turn | Message) -> Message:
    if isinstance(turn, Message):
        return turn
    return content.spoken(
        Role.AGENT, turn.parts, at=turn.at, model=turn.model, usage=turn.usage, origin=turn.origin
    )


FORMAT = Format(
    NAME,
    "Claude Code",
    sniff,
    read,
    places=(".claude/projects/*/*.jsonl", ".claude/projects/*/*/subagents/*.jsonl"),
)
