"""Codex: one JSON Lines rollout a session; what the model saw, beside events that repeat and explain it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from whet.agents.formats import content
from whet.agents.formats.content import AgentTurn
from whet.agents.formats.source import Format, Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Ending, Message, Origin, Role, Text, ToolCall, Transcript, Usage
from whet.text import fields

REJECTIONS = ("exec command rejected by user", "patch rejected by user", "rejected by user")

NAME = "codex"
WRAPPERS = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
IDE_HEAD = "# Context from my IDE setup:"
IDE_REQUEST = "## My request for Codex:"
SUMMARY_HEAD = "Another language model started to solve this problem"
# By whom a session was begun where a person types; others are begun by programs.
TYPED_IN = (None, "", "cli", "vscode")
TYPED_BY = (None, "", "user")  # as newer versions say it; others are sub-agents, schedules and programs
SCHEDULE_HEAD = re.compile(r"\s*Automation: .*\nAutomation ID: ")
SERVER_CALLS = frozenset({"web_search_call", "image_generation_call"})
UUID_LENGTH = 36


@dataclass(slots=True)
class UsageTally:
    """Gives each model call its count once.

    Older versions write the count before what the model said, newer ones after it; both write counts that only
    repeat the last. A count goes to the latest turn that has none, else waits for the next turn.
    """

    latest: AgentTurn | None = None
    waiting: Usage | None = None
    counted_before: bool = False
    closed: bool = False
    total: dict[str, Any] = field(default_factory=dict)

    def begin(self) -> None:
        """The person asked something: no count from before it concerns what follows."""
        self.waiting = None

    def count(self, info: dict[str, Any]) -> None:
        total = fields.mapping(info, "total_token_usage")
        if not info or (total and total == self.total):
            return
        usage = _usage(fields.mapping(info, "last_token_usage")) or _grown(self.total, total)
        self.total = total
        if self.latest is not None and self.latest.usage is None:
            self.latest.usage = usage
        else:
            self.waiting = usage
        self.closed = True

    def opened(self, turn: AgentTurn) -> None:
        turn.usage, self.waiting = self.waiting, None
        self.latest, self.counted_before, self.closed = turn, turn.usage is not None, False

    def answered(self) -> None:
        """A result came in; where counts come first, more calls of the same model call may follow it."""
        self.closed = self.closed or not self.counted_before

    def divides(self, turn: AgentTurn) -> bool:
        """Whether what the model says next belongs to a later call than `turn`."""
        return turn is not self.latest or self.closed

    def unclaimed(self) -> Usage | None:
        """The count that no turn has taken, such as that of a compaction."""
        usage, self.waiting = self.waiting, None
        return usage


def _usage(record: dict[str, Any]) -> Usage | None:
    return content.used(record, "input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")


def _grown(before: dict[str, Any], after: dict[str, Any]) -> Usage | None:
    """What one call used, where only the session's running total is told."""
    return _usage({key: fields.whole(after, key) - fields.whole(before, key) for key in after})


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What events say about a call, which may come before or after its result."""

    exit_code: int | None = None
    error: bool | None = None
    declined: bool = False


def disposition(words: str) -> Disposition | None:
    """What Codex itself writes in the place of a result when the person said no or stopped it."""
    if words in REJECTIONS:  # whoever goes on speaks for somebody else
        return Disposition.REJECTED
    stopped = words == "aborted" or words.startswith("aborted by user")
    if stopped or (words.startswith("Wall time:") and words.endswith("\naborted by user")):
        return Disposition.INTERRUPTED
    return None


def facts(event: dict[str, Any]) -> CallFacts:
    if fields.text(event, "status") == "declined":
        return CallFacts(declined=True)
    success = fields.flag(event, "success")
    outcome = fields.mapping(event, "result")
    failed = "Err" in outcome or fields.flag(fields.mapping(outcome, "Ok"), "isError") or None
    return CallFacts(fields.code(event, "exit_code"), failed if success is None else not success)


def completed(message: Message, known: Mapping[str, CallFacts]) -> Message:
    part = message.parts[0] if message.parts else None
    if not isinstance(part, transcripts.ToolResult) or not (more := known.get(part.call_id)):
        return message
    part = msgspec.structs.replace(
        part,
        exit_code=more.exit_code,
        error=part.error if more.error is None else more.error,
        disposition=Disposition.REJECTED if more.declined else part.disposition,
    )
    return msgspec.structs.replace(message, parts=(part,))


@dataclass(slots=True)
class CodexFile:
    """What has been read of a rollout."""

    entries: list[AgentTurn | Message] = field(default_factory=list)
    open: AgentTurn | None = None
    tally: UsageTally = field(default_factory=UsageTally)
    tools: dict[str, str] = field(default_factory=dict)
    facts: dict[str, CallFacts] = field(default_factory=dict)
    said: dict[int, frozenset[str]] = field(default_factory=dict)  # entry → the texts that it was part of
    typed: set[str] = field(default_factory=set)  # what events say the person sent
    meta: dict[str, Any] = field(default_factory=dict)
    first_model: str = ""
    model: str = ""
    folder: str = ""
    title: str = ""
    ending: Ending = Ending.UNKNOWN
    detail: str = ""


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and any(
        (fields.text(record, "type") in WRAPPERS and isinstance(record.get("payload"), dict)) or _is_bare_meta(record)
        for record in source.sample
    )


def read(source: Source) -> Iterator[Transcript]:
    session = CodexFile()
    for _, record in source.session_records():
        kind, item = _unwrapped(record)
        at = fields.seconds(record.get("timestamp"))
        if kind == "session_meta":
            # A resumed or forked rollout carries older ones too: the first is its own.
            session.meta = session.meta or item
        elif kind == "turn_context":
            session.model = fields.text(item, "model") or session.model
            session.first_model = session.first_model or session.model
            session.folder = session.folder or fields.text(item, "cwd")
        elif kind == "response_item":
            _take_item(session, item, at)
        elif kind == "event_msg":
            _take_event(session, item, at)
        elif kind == "compacted" and (summary := fields.text(item, "message")):
            usage = session.tally.unclaimed()
            _append(session, content.spoken(Role.USER, [Text(summary)], at=at, usage=usage, origin=Origin.SUMMARY))
    yield _transcript(source, session)


def _is_bare_meta(record: dict[str, Any]) -> bool:
    """Whether it is the first line of a file from before lines had a type and a payload."""
    return "type" not in record and {"id", "timestamp", "instructions"} <= record.keys()


def _unwrapped(record: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    payload = record.get("payload")
    if isinstance(payload, dict):
        return fields.text(record, "type"), payload
    if _is_bare_meta(record):
        return "session_meta", record
    return ("response_item", record) if "type" in record else ("", {})


def _take_item(session: CodexFile, item: dict[str, Any], at: float | None) -> None:
    kind = fields.text(item, "type") or ("message" if "role" in item else "")
    if kind == "message":
        _take_message(session, item, at)
    elif kind == "reasoning":
        words = [fields.text(word, "text") for key in ("summary", "content") for word in fields.objects(item, key)]
        if any(words):
            _say(session, [transcripts.Thought("\n\n".join(filter(None, words)))], at)
    elif kind in SERVER_CALLS:
        _take_server_call(session, item, kind, at)
    elif kind.endswith("_call"):
        call = _call(item, kind)
        session.tools[call.id] = call.name
        _say(session, [call], at)
    elif kind.endswith("_output"):
        _take_output(session, item, at)


def _take_message(session: CodexFile, item: dict[str, Any], at: float | None) -> None:
    role = fields.text(item, "role")
    if role == "assistant":
        _say(session, list(content.parts(item.get("content"))), at)
        session.entries += content.served(item.get("content"), at=at)
        return
    if role != "user":
        parts = list(content.shown(item.get("content")))
        _append(session, content.spoken(Role.SYSTEM, parts, at=at, origin=Origin.INSERTED))
        return
    blocks = item.get("content")
    _take_said(session, blocks if isinstance(blocks, list) else [blocks], at)


def _take_said(session: CodexFile, blocks: list[Any], at: float | None) -> None:
    texts = [fields.text(block, "text") if isinstance(block, dict) else str(block or "") for block in blocks]
    requests: list[Any] = []
    for block, text in zip(blocks, texts, strict=True):
        context, request = _split(text)
        if context:
            origin = Origin.SUMMARY if context.lstrip().startswith(SUMMARY_HEAD) else Origin.INSERTED
            _append(session, content.spoken(Role.USER, [Text(context)], at=at, origin=origin))
        requests += [request] if request else [] if context else [block]
    for message in content.said(content.parts(requests), at=at, vouched=True):
        session.said[len(session.entries)] = frozenset(filter(None, texts))
        _append(session, message)
        if message.origin is Origin.TURN:
            session.ending, session.detail = Ending.UNKNOWN, ""
            session.tally.begin()


def _split(text: str) -> tuple[str, str]:
    """What the program put there, and the request: the editor puts its files and selection before what is asked."""
    if text.startswith(IDE_HEAD) and IDE_REQUEST in text:
        context, _, request = text.rpartition(IDE_REQUEST)
        return context.rstrip(), request.strip()
    is_made = text.lstrip().startswith((IDE_HEAD, SUMMARY_HEAD)) or SCHEDULE_HEAD.match(text)
    return (text, "") if is_made else ("", text)


def _append(session: CodexFile, message: Message) -> None:
    session.entries.append(message)
    session.open = None


def _say(session: CodexFile, parts: list[transcripts.Part], at: float | None) -> None:
    if not parts:
        return
    if session.open is None or session.tally.divides(session.open):
        session.open = AgentTurn([], at, session.model)
        session.entries.append(session.open)
        session.tally.opened(session.open)
    session.open.parts.extend(parts)


def _call(item: dict[str, Any], kind: str) -> ToolCall:
    name = fields.text(item, "name") or kind.removesuffix("_call")
    if space := fields.text(item, "namespace"):
        name = f"{space.removesuffix('__')}__{name}"
    asked = [item[key] for key in ("arguments", "input", "action") if item.get(key) is not None]
    return ToolCall(fields.text(item, "call_id", "id"), name, fields.json_text(asked[0] if asked else {}))


def _take_server_call(session: CodexFile, item: dict[str, Any], kind: str, at: float | None) -> None:
    """The provider ran it within the model call: its status is recorded, its result is not."""
    call_id = fields.text(item, "call_id", "id") or f"{kind}-{len(session.entries)}"
    name = kind.removesuffix("_call")
    asked = item.get("action") or {"prompt": fields.text(item, "revised_prompt")}
    _say(session, [ToolCall(call_id, name, fields.json_text(asked))], at)
    error = {"completed": False, "failed": True}.get(fields.text(item, "status"))
    session.entries.append(content.answered(content.result(call_id, None, tool=name, error=error), at=at))


def _take_output(session: CodexFile, item: dict[str, Any], at: float | None) -> None:
    call_id, output, error = fields.text(item, "call_id", "id"), item.get("output"), None
    if isinstance(output, dict) and "content" in output:
        success = fields.flag(output, "success")
        output, error = output["content"], None if success is None else not success
    answer = content.result(call_id, output, tool=session.tools.get(call_id, ""), error=error)
    if content.is_hosts_own(answer.tool):  # a server can answer in the program's words
        answer = msgspec.structs.replace(answer, disposition=disposition(answer.text))
    session.entries.append(content.answered(answer, at=at))
    session.tally.answered()


def _take_event(session: CodexFile, event: dict[str, Any], at: float | None) -> None:
    kind = fields.text(event, "type")
    if kind == "token_count":
        session.tally.count(fields.mapping(event, "info"))
    elif kind in ("task_complete", "turn_complete"):
        if session.ending is not Ending.FAILED:
            session.ending = Ending.FINISHED
    elif kind == "turn_aborted":
        _take_abort(session, fields.text(event, "reason"), at)
    elif kind == "error":
        session.ending, session.detail = Ending.FAILED, fields.text(event, "message")
    elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
        session.facts[fields.text(event, "call_id")] = facts(event)
    elif kind == "user_message" and fields.text(event, "kind") in ("", "plain"):
        session.typed.add(fields.text(event, "message"))
    elif kind == "thread_name_updated":
        session.title = fields.text(event, "thread_name", "name") or session.title


def _take_abort(session: CodexFile, reason: str, at: float | None) -> None:
    if reason == "budget_limited":
        session.ending, session.detail = Ending.BUDGET, reason
    elif reason != "review_ended":
        session.ending, session.detail = Ending.INTERRUPTED, reason
        words = [Text(reason or "interrupted")]
        _append(session, content.spoken(Role.USER, words, at=at, origin=Origin.INTERRUPT))


def _vouched(session: CodexFile, messages: tuple[Message, ...], *, is_typed: bool) -> tuple[Message, ...]:
    """The messages; of those in the person's place, those are certain that an event says the person sent."""
    return tuple(
        msgspec.structs.replace(message, vouched=is_typed and session.said[index] <= session.typed)
        if message.vouched
        else message
        for index, message in enumerate(messages)
    )


def _transcript(source: Source, session: CodexFile) -> Transcript:
    meta, start = session.meta, fields.mapping(session.meta, "source")
    spawned = fields.mapping(fields.mapping(start, "subagent"), "thread_spawn")
    is_typed = meta.get("source") in TYPED_IN and meta.get("thread_source") in TYPED_BY
    messages = _vouched(session, content.gathered(session.entries), is_typed=is_typed)
    messages = tuple(completed(message, session.facts) for message in messages)
    is_subtask = "subagent" in start or fields.text(meta, "thread_source") == "subagent"
    return content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(meta, "id") or source.path.stem[-UUID_LENGTH:],
            messages=messages,
            parent=fields.text(spawned, "parent_thread_id") or fields.text(meta, "parent_thread_id", "forked_from_id"),
            title=session.title,
            model=session.first_model,
            folder=fields.text(meta, "cwd") or session.folder,
            branch=fields.text(fields.mapping(meta, "git"), "branch"),
            version=fields.text(meta, "cli_version"),
            purpose=transcripts.Purpose.SUBTASK if is_subtask else transcripts.Purpose.CHAT,
            ending=session.ending,
            ending_detail=session.detail,
            started=fields.seconds(meta.get("timestamp")),
        )
    )


FORMAT = Format(
    NAME,
    "Codex",
    sniff,
    read,
    places=(".codex/sessions/*/*/*/rollout-*.jsonl", ".codex/archived_sessions/rollout-*.jsonl"),
    variable="CODEX_HOME",
)
