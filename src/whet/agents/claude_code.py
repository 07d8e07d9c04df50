"""Claude Code: one JSON Lines file a session, one line a content block, sub-agents as side chains."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agents.formats import content
from whet.agents.formats.content import AgentTurn
from whet.agents.formats.inserted import INTERRUPT
from whet.agents.formats.source import Format, Record, Source
from whet.sessions import transcripts
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Disposition, Message, Origin, Role, Text, ToolCall, ToolResult, Transcript, Usage
from whet.sessions.trust import Trust
from whet.text import fields
from whet.text.words import cut

SUMMARY_HEAD = "This session is being continued from a previous conversation"
PLAN_HEAD = "Implement the following plan:\n\n"  # how it hands a plan over; older versions mark it in no other way
# A command that prompts the agent, as the person typed it; the program's own, such as /clear, begin with their name.
COMMAND = re.compile(
    r"\s*<command-message>[^<]*</command-message>\s*<command-name>\s*/?([\w:.-]+)\s*</command-name>"
    r"(?:\s*<command-args>(.*)</command-args>)?(.*)",
    re.DOTALL,
)
# What a program sets on a line that nobody typed.
MADE = (
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
    "sourceToolUseID",
    "sourceToolAssistantUUID",
    "toolUseResult",
)
HUMAN = "human"
SPEAKERS = ("", HUMAN)
# Through an interface for programs an agent's suggestion comes as well as what a person typed, and nothing tells which.
TYPED_BY = ("", "typed", "queued")
SUBMITTED = "permissionMode"  # newer versions have it on every line that was sent from the prompt, and on no other
ENTRANCES = ("", "cli", "claude-vscode")

NAME = "claude-code"
# The program's own mark of a refusal: newer versions have a field for it, older ones a fixed text beside the result.
DENIED = "user-rejected"
REJECTED = "User rejected tool use"
REJECTIONS = ("The user doesn't want to", "Error: The user doesn't want to")
# Tools that ask the person or change a file: nobody but the program itself writes their errors. What a command prints,
# or an agent says, came as an error of the tool in older versions.
SPEAKING_FOR_THEMSELVES = (Family.EDIT, Family.WRITE)
ASKING = ("ExitPlanMode", "AskUserQuestion")
CANCELLATIONS = ("<tool_use_error>Sibling tool call errored", "<tool_use_error>Cancelled: parallel tool call")
DENIALS = ("Claude requested permissions to ", "Permission to use ")
SYNTHETIC = "<synthetic>"
TITLE_CHARACTERS = 200


def said(record: dict[str, Any], blocks: list[Any], *, at: float | None) -> Iterator[Message]:
    """What a line says, in messages of one speaker each."""
    for origin, same in itertools.groupby(blocks, key=lambda block: _origin(record, block)):
        found = list(same)
        if origin is not Origin.TURN:
            if parts := list(content.parts(found)):
                yield content.spoken(Role.USER, parts, at=at, origin=origin)
        elif record.get("planContent") or _words(found[0]).lstrip().startswith(PLAN_HEAD):
            # The agent's own plan, which the person accepted: their order, and none of their words.
            yield replace(content.spoken(Role.USER, content.parts(found), at=at), trust=Trust.AGENT)
        elif command := COMMAND.fullmatch(_words(found[0])):
            yield from _command_said(record, command, at)
            yield from content.said(content.parts(found[1:]), at=at, vouched=is_certain(record))
        else:
            yield from content.said(content.parts(found), at=at, vouched=is_certain(record))


def is_certain(record: dict[str, Any]) -> bool:
    """Whether the line makes certain that a person typed what no tag in it marks as inserted."""
    return (
        record.get("userType") == "external"
        and not record.get("isSidechain")
        and not any(record.get(flag) for flag in (*MADE, "planContent", "agentId", "teamName"))
        and not any(value is True for value in record.values())  # of flags, no line that a person typed has one
        and (record.get("origin") is None or _speaker(record) == HUMAN)
        and _results(record) == 0
        and fields.text(record, "promptSource") in TYPED_BY
        and fields.text(record, "entrypoint") in ENTRANCES
    )


def _command_said(record: dict[str, Any], command: re.Match[str], at: float | None) -> Iterator[Message]:
    name, arguments, rest = (found or "" for found in command.groups())
    parts = [Text(f"/{name}"), *([Text(arguments.strip())] if arguments.strip() else [])]
    sure = is_certain(record) and len(arguments) <= content.MOST_TYPED
    yield replace(content.spoken(Role.USER, parts, at=at), vouched=sure)
    if rest.strip():
        yield content.spoken(Role.USER, [Text(rest.strip())], at=at, origin=Origin.INSERTED)


def _origin(record: dict[str, Any], block: object) -> Origin:
    words = _words(block).lstrip()
    if record.get("isCompactSummary") or words.startswith(SUMMARY_HEAD):
        return Origin.SUMMARY
    if words.startswith(INTERRUPT):
        return Origin.INTERRUPT
    is_made = record.get("isMeta") or record.get("sourceToolUseID") or _speaker(record) not in SPEAKERS
    return Origin.INSERTED if is_made else Origin.TURN


def _results(record: dict[str, Any]) -> int:
    """How many results of tools a line holds."""
    blocks = fields.objects(fields.mapping(record, "message"), "content")
    return sum(block.get("type") == "tool_result" for block in blocks)


def _speaker(record: dict[str, Any]) -> str:
    return fields.text(fields.mapping(record, "origin"), "kind")


def _words(block: object) -> str:
    words = block.get("text", "") if isinstance(block, dict) else block
    return words if isinstance(words, str) else ""


class FileLineage(NamedTuple):
    """The file's own session, and the one it resumed, if any."""

    own: str
    resumed: str


@dataclass(slots=True)
class ClaudeThread:
    """One conversation of the file: the main one, or a sub-agent's."""

    entries: list[AgentTurn | Message] = field(default_factory=list)
    open: dict[str, AgentTurn] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)
    failure: str | None = None
    unsent: list[int] = field(default_factory=list)  # entries in the person's place that nobody sent from the prompt


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(
        _is_line(record)
        or any(_is_line(line) for line in fields.objects(record, "loglines"))
        or (record.get("type") == "summary" and "leafUuid" in record)
        or (record.get("type") == "file-history-snapshot" and "messageId" in record)
        for record in source.sample
    )


def _is_line(record: dict[str, Any]) -> bool:
    return (
        record.get("type") in ("user", "assistant")
        and isinstance(record.get("message"), dict)
        and "parts" not in record["message"]  # Qwen Code's lines are like these but for Google's form of a message
        and ("sessionId" in record or "timestamp" in record)
    )


def read(source: Source) -> Iterator[Transcript]:
    threads: dict[str, ClaudeThread] = {}
    side_of: dict[str, str] = {}  # uuid of a side chain's line → the chain it belongs to
    seen: set[str] = set()
    ids: dict[str, None] = {}  # session ids in the order of their appearance
    stem, is_marked = source.path.stem, False
    titles: list[tuple[str, str]] = []  # each with the message that it sums up to, if it names one
    queue = PromptQueue()
    for line, record in _records(source):
        kind = record.get("type")
        if kind in ("summary", "ai-title", "custom-title"):
            named = fields.text(record, "summary", "customTitle", "aiTitle", "title")
            titles.append((named, fields.text(record, "leafUuid")))
        record = _as_line(record, queue, threads)
        if record.get("type") not in ("user", "assistant"):
            continue
        if not isinstance(record.get("message"), dict):
            source.skip("a message line without its message", line)
            continue
        uuid = fields.text(record, "uuid")
        if uuid and uuid in seen:
            continue
        seen.add(uuid)
        ids[fields.text(record, "sessionId")] = None
        key = _thread_key(record, side_of, stem)
        is_marked = is_marked or SUBMITTED in record
        _take(threads.setdefault(key, ClaudeThread()), record)
    if is_marked:
        _distrust_unsent(threads)
    _put_in(threads, queue)
    lineage = _lineage(source, [found for found in ids if found])
    # A file may begin with the titles of other conversations.
    title = next((named for named, leaf in reversed(titles) if named and (not leaf or leaf in seen)), "")
    for key, thread in threads.items():
        yield _transcript(key, thread, lineage, title)


class TakenFromQueue(NamedTuple):
    """What was typed while the agent worked, and where it was told, in records that keep nothing else of it."""

    place: int
    words: str
    at: float | None


@dataclass(slots=True)
class PromptQueue:
    """What waits for the agent while it works."""

    waiting: list[str] = field(default_factory=list)
    taken: list[TakenFromQueue] = field(default_factory=list)
    is_told: bool = False  # the record says itself what reached the agent


def _as_line(record: dict[str, Any], queue: PromptQueue, threads: dict[str, ClaudeThread]) -> dict[str, Any]:
    """The record; what was typed, or came from a program, while the agent worked, as a line of the conversation."""
    if record.get("type") == "queue-operation":
        _follow(queue, record, len(threads[""].entries) if "" in threads else 0)
    queued = fields.mapping(record, "attachment")
    if queued.get("type") != "queued_command" or not queued.get("prompt"):
        return record
    queue.is_told = True
    line = record | {
        "type": "user",
        "message": {"role": "user", "content": queued["prompt"]},
        "origin": queued.get("origin"),
        "isMeta": queued.get("isMeta") or queued.get("commandMode") not in (None, "prompt"),
    }
    # Schedules and other programs queue prompts as people do: only what names a person was typed.
    return line | (
        {"promptSource": "queued", SUBMITTED: ""} if _speaker(line) == HUMAN else {"promptSource": "unknown"}
    )


def _follow(queue: PromptQueue, record: dict[str, Any], place: int) -> None:
    """What leaves the queue otherwise than as a turn was told in between."""
    match record.get("operation"):
        case "enqueue":
            queue.waiting.append(fields.text(record, "content"))
        case "dequeue" if queue.waiting:
            queue.waiting.pop(0)
        case "remove" if queue.waiting:
            words = queue.waiting.pop(0)
            if words and not words.startswith(("/", "{", "<")):  # commands of the program, and words of programs
                queue.taken.append(TakenFromQueue(place, words, fields.seconds(record.get("timestamp"))))


def _distrust_unsent(threads: dict[str, ClaudeThread]) -> None:
    """In a record that marks what is sent from the prompt, nothing vouches for what stands there without the mark."""
    for thread in threads.values():
        for place in thread.unsent:
            entry = thread.entries[place]
            if isinstance(entry, Message):
                thread.entries[place] = replace(entry, vouched=False)


def _put_in(threads: dict[str, ClaudeThread], queue: PromptQueue) -> None:
    """Put what was typed meanwhile where it was told. Nothing vouches for it: it may have been taken back."""
    if not queue.taken or queue.is_told or "" not in threads:
        return
    entries = threads[""].entries
    spoken = {entry.text.strip() for entry in entries if isinstance(entry, Message) and entry.role is Role.USER}
    for each in reversed(queue.taken):
        if each.words.strip() not in spoken:
            entries.insert(each.place, content.spoken(Role.USER, [Text(each.words)], at=each.at))


def _records(source: Source) -> Iterator[Record]:
    """The lines of the file, or of the document that a session on the web is exported as."""
    lines = fields.items(source.sample[0], "loglines") if source.kind == "json" and source.sample else []
    if not lines:
        yield from source.session_records()
    yield from (Record(number, line) for number, line in enumerate(lines, 1) if isinstance(line, dict))


def _thread_key(record: dict[str, Any], side_of: dict[str, str], stem: str) -> str:
    """Empty for the main conversation, else the id of the side chain that the line belongs to."""
    named = stem.removeprefix("agent-") if stem.startswith("agent-") else ""
    if not (record.get("isSidechain") or fields.text(record, "agentId") or named):
        return ""
    uuid, parent = fields.text(record, "uuid"), fields.text(record, "parentUuid")
    key = fields.text(record, "agentId") or named or side_of.get(parent) or uuid or "side"
    side_of[uuid] = key
    return key


def _lineage(source: Source, ids: list[str]) -> FileLineage:
    """A resumed session copies its predecessor's lines with their session id before its own."""
    stem = source.path.stem
    own = stem if stem in ids or not ids else ids[-1]
    return FileLineage(own, next((found for found in ids if found != own), ""))


def _take(thread: ClaudeThread, record: dict[str, Any]) -> None:
    thread.first = thread.first or record
    at = fields.seconds(record.get("timestamp"))
    message = fields.mapping(record, "message")
    if record["type"] == "assistant":
        _take_agent(thread, record, message, at)
    else:
        _take_user(thread, record, message, at)


def _take_agent(thread: ClaudeThread, record: dict[str, Any], message: dict[str, Any], at: float | None) -> None:
    model = fields.text(message, "model")
    failed = bool(record.get("isApiErrorMessage"))
    synthetic = model == SYNTHETIC or failed
    parts = list(content.parts(message.get("content")))
    thread.failure = content.spoken(Role.AGENT, parts).text if failed else None
    thread.tools.update((part.id, part.name) for part in parts if isinstance(part, ToolCall))
    key = fields.text(message, "id")
    turn = thread.open.get(key) if key else None
    if turn is None:
        origin = Origin.INSERTED if synthetic else Origin.TURN
        turn = AgentTurn(parts, at, "" if synthetic else model, None, origin)
        thread.entries.append(turn)
        thread.open[key] = turn
    else:
        turn.parts.extend(parts)
    thread.entries += content.served(message.get("content"), at=at)
    if not synthetic:
        turn.usage = usage(fields.mapping(message, "usage")) or turn.usage


def _take_user(thread: ClaudeThread, record: dict[str, Any], message: dict[str, Any], at: float | None) -> None:
    blocks = message.get("content")
    rest: list[Any] = []
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            thread.entries.append(content.answered(_answer(thread, record, block), at=at))
        else:
            rest.append(block)
    # One line may hold what the person wrote and, beside it, what the program added.
    for spoken in said(record, rest, at=at):
        thread.failure = None if spoken.origin is Origin.TURN else thread.failure
        if SUBMITTED not in record and not COMMAND.match(_words(rest[0])):  # a command is typed, and has no such mark
            thread.unsent.append(len(thread.entries))
        thread.entries.append(spoken)


def _answer(thread: ClaudeThread, record: dict[str, Any], block: dict[str, Any]) -> ToolResult:
    call_id, answer = fields.text(block, "tool_use_id"), record.get("toolUseResult")
    found = content.result(
        call_id, block.get("content"), tool=thread.tools.get(call_id, ""), error=_error(record, block)
    )
    # The mark is the line's: beside several results it does not say which of them it means.
    is_denied = _results(record) == 1 and (record.get("toolDenialKind") == DENIED or answer == REJECTED)
    return msgspec.structs.replace(
        found, disposition=Disposition.REJECTED if found.error and is_denied else _disposition(answer, found)
    )


def _error(record: dict[str, Any], block: dict[str, Any]) -> bool | None:
    """The source's own flag; where it leaves the flag out, a structured answer means that the call worked."""
    flagged = fields.flag(block, "is_error")
    if flagged is None and isinstance(record.get("toolUseResult"), dict | list):
        return False
    return flagged


def _disposition(answer: object, found: ToolResult) -> Disposition | None:
    """What Claude Code itself writes in the place of a result when the call was refused or stopped."""
    if isinstance(answer, dict) and answer.get("interrupted") is True:
        return Disposition.INTERRUPTED
    if not found.error or not content.is_hosts_own(found.tool):  # a server can answer in the program's words
        return None
    said = found.text
    if _is_hosts_error(found) and (said.startswith(REJECTIONS) or str(answer).startswith(REJECTIONS)):
        return Disposition.REJECTED
    if said.startswith(CANCELLATIONS):
        return Disposition.CANCELLED
    if said.startswith(INTERRUPT):
        return Disposition.INTERRUPTED
    return Disposition.BLOCKED if said.startswith(DENIALS) else None


def _is_hosts_error(found: ToolResult) -> bool:
    return found.tool in ASKING or family_of(ToolCall("", found.tool)) in SPEAKING_FOR_THEMSELVES


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
        cache_written_hour=fields.whole(fields.mapping(record, "cache_creation"), "ephemeral_1h_input_tokens"),
    )


def _command(messages: tuple[Message, ...]) -> str:
    """A session that begins with a slash command is named by the command as the person typed it."""
    first = next((message.text for message in messages if message.role is Role.USER), "")
    return cut(" ".join(first.split()), TITLE_CHARACTERS) if first.startswith("/") else ""


def _transcript(key: str, thread: ClaudeThread, lineage: FileLineage, title: str) -> Transcript:
    first, messages = thread.first, content.gathered(thread.entries)
    forked = fields.text(fields.mapping(first, "forkedFrom"), "sessionId")
    return content.completed(
        Transcript(
            source=NAME,
            native_id=f"{lineage.own}/{key}" if key else lineage.own,
            parent=lineage.own if key else forked or lineage.resumed,
            messages=messages,
            title=_command(messages) if key or not title else title,
            folder=fields.text(first, "cwd"),
            branch=fields.text(first, "gitBranch"),
            version=fields.text(first, "version"),
            purpose=transcripts.Purpose.SUBTASK if key else transcripts.Purpose.CHAT,
            ending=transcripts.Ending.UNKNOWN if thread.failure is None else transcripts.Ending.FAILED,
            ending_detail=thread.failure or "",
        )
    )


FORMAT = Format(
    NAME,
    "Claude Code",
    sniff,
    read,
    places=(".claude/projects/*/*.jsonl", ".claude/projects/*/*/subagents/*.jsonl"),
    variable="CLAUDE_CONFIG_DIR",
)
