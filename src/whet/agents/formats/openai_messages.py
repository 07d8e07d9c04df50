"""OpenAI chat messages: a list of them, an object that holds a list, or one such object a line.

A result without a call id answers the oldest open call of its tool in the step before it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from whet.agents.formats import content
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.inserted import INTERRUPT
from whet.agents.formats.source import Format, Source, identity
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Message, Origin, RecordedCheck, Role, ToolCall, Transcript, Usage
from whet.text import fields

DISPOSITIONS = frozenset(Disposition)
NAME = "openai"
ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.AGENT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
BLOCKS = content.TEXT_BLOCKS | content.MEDIA_BLOCKS | {"refusal", "thinking", "reasoning", "video_url"}
# One request to a model is not a session: the next one repeats it. The others are marks of other agents.
FOREIGN_KEYS = frozenset(
    {"stream", "temperature", "max_tokens", "max_completion_tokens", "choices", "request", "response", "input"}
)
FOREIGN_MESSAGE_KEYS = frozenset({"messageId", "uuid", "parts", "message", "toolCalls", "sessionID", "sessionId"})
CHECKED_MESSAGES = 50


def usage(record: dict[str, Any], *, cost_dollars: object = None) -> Usage | None:
    """Tokens of a completion, where the prompt's count includes its cached ones."""
    cached = "prompt_tokens_details.cached_tokens|cache_read_input_tokens"
    written = "cache_creation_input_tokens"
    return content.used(record, "prompt_tokens", "completion_tokens", cached, written, cost=cost_dollars)


def calls(message: dict[str, Any]) -> list[ToolCall]:
    """The tool calls of an assistant message, with their arguments as the model wrote them."""
    found = []
    for call in fields.objects(message, "tool_calls"):
        function = fields.mapping(call, "function")
        arguments = fields.json_text(function.get("arguments", {}))
        found.append(ToolCall(fields.text(call, "id"), fields.text(function, "name"), arguments))
    return found


def sniff(source: Source) -> bool:
    if source.kind not in ("jsonl", "json") or not source.sample:
        return False
    if all(_is_message(record) for record in source.sample):
        return any(record["role"] == "assistant" for record in source.sample)
    return all(_is_session(record) for record in source.sample)


def read(source: Source) -> Iterator[Transcript]:
    if source.sample and _is_message(source.sample[0]):
        yield _transcript({"messages": [record.value for record in source.session_records()]}, identity(source, 1))
        return
    for line, record in source.records():
        native_id = fields.text(record, "id") or identity(source, fields.whole(record, "id") or line)
        if not isinstance(record.get("messages"), list):
            source.skip("no list of messages", line)
        else:
            yield _transcript(record, native_id)


def _is_session(record: dict[str, Any]) -> bool:
    messages = record.get("messages")
    if not isinstance(messages, list) or not messages or FOREIGN_KEYS & record.keys():
        return False
    return all(_is_message(message) for message in messages[:CHECKED_MESSAGES]) and any(
        isinstance(message, dict) and message.get("role") == "assistant" for message in messages
    )


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or FOREIGN_MESSAGE_KEYS & value.keys():
        return False
    role = value.get("role")
    if not isinstance(role, str) or role not in ROLES:
        return False
    if role == "assistant" and (value.get("tool_calls") or value.get("function_call")):
        return all(_is_call(call) for call in _calls(value)) and _is_content(value.get("content"))
    return "content" in value and _is_content(value["content"])


def _is_content(value: object) -> bool:
    if value is None or isinstance(value, str):
        return True
    return isinstance(value, list) and all(
        isinstance(block, str) or (isinstance(block, dict) and fields.text(block, "type") in BLOCKS) for block in value
    )


def _is_call(value: dict[str, Any]) -> bool:
    return isinstance(value.get("function", value.get("custom")), dict)


def _transcript(record: dict[str, Any], native_id: str) -> Transcript:
    messages = tuple(conversation(fields.objects(record, "messages")))
    meta = fields.mapping(record, "meta")
    return content.completed(
        Transcript(
            source=NAME,
            native_id=native_id,
            messages=messages,
            parent=fields.text(record, "parent"),
            title=fields.text(record, "title"),
            model=fields.text(record, "model"),
            folder=fields.text(record, "folder", "cwd") or fields.text(meta, "folder", "cwd"),
            branch=fields.text(meta, "branch"),
            version=fields.text(meta, "version"),
            tools=tuple(name for name in map(tool_name, fields.objects(record, "tools")) if name),
            checks=tuple(_checks(record.get("label"))),
        )
    )


def conversation(records: Iterable[dict[str, Any]]) -> Iterator[Message]:
    """Chat messages as messages, their calls and results paired."""
    steps = OpenCalls()
    asked = False  # whether the task has been given
    for index, record in enumerate(records):
        role = ROLES.get(fields.text(record, "role"))
        at = fields.seconds(record.get("timestamp") or record.get("created_at"))
        words = record.get("content")
        if role is Role.TOOL:
            yield _answer(record, steps, at)
        elif role is Role.AGENT:
            steps.begin()
            yield content.spoken(
                role,
                _agent_parts(record, steps, index),
                at=at,
                model=fields.text(record, "model"),
                usage=usage(fields.mapping(record, "usage")),
                origin=_origin(record),
            )
        elif role is Role.USER and _origin(record) is Origin.TURN:
            said = tuple(content.said(content.parts(words), at=at, is_order=not asked))
            asked = asked or any(message.origin is Origin.TURN for message in said)
            yield from said
        elif role is not None:
            yield content.spoken(role, content.parts(words), at=at, origin=_origin(record))
        if role is not Role.TOOL and isinstance(words, list):
            yield from content.served(words, at=at)


def _agent_parts(record: dict[str, Any], steps: OpenCalls, index: int) -> Iterator[transcripts.Part]:
    if thought := fields.text(record, "reasoning_content", "reasoning"):
        yield transcripts.Thought(thought)
    yield from content.parts(record.get("content"))
    if refusal := fields.text(record, "refusal"):
        yield transcripts.Text(refusal)
    for call in _calls(record):
        function = fields.mapping(call, "function") or fields.mapping(call, "custom")
        name = fields.text(function, "name")
        arguments = function.get("arguments", function.get("input", {}))
        call_id = steps.ask(fields.text(call, "id", "call_id"), name, message=index)
        yield ToolCall(call_id, name, fields.json_text(arguments))


def _answer(record: dict[str, Any], steps: OpenCalls, at: float | None) -> Message:
    call_id = steps.answer(fields.text(record, "tool_call_id"), fields.text(record, "name"))
    result = content.result(
        call_id,
        record.get("content") or record.get("error"),
        tool=fields.text(record, "name") or steps.names.get(call_id, ""),
        error=fields.flag(record, "is_error"),
        exit_code=fields.code(record, "exit_code"),
        disposition=_disposition(record),
    )
    return content.answered(result, at=at)


def _disposition(record: dict[str, Any]) -> Disposition | None:
    word = fields.text(record, "disposition")
    return Disposition(word) if word in DISPOSITIONS else None


def _calls(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of a message, with the one that older versions of the API allowed."""
    older = fields.mapping(record, "function_call")
    return [*fields.objects(record, "tool_calls"), *([{"function": older}] if older else [])]


def _origin(record: dict[str, Any]) -> Origin:
    words = record.get("content")
    if record.get("is_compact_summary") is True:
        return Origin.SUMMARY
    if record.get("is_meta") is True:
        return Origin.INSERTED
    if record.get("role") == "user" and isinstance(words, str) and words.lstrip().startswith(INTERRUPT):
        return Origin.INTERRUPT
    return Origin.TURN


def _checks(label: object) -> Iterator[RecordedCheck]:
    if isinstance(label, bool):
        yield RecordedCheck(name="success", passed=label)
    elif isinstance(label, dict):
        passed, score = fields.flag(label, "success"), fields.amount(label.get("reward"))
        if passed is not None or score is not None:
            yield RecordedCheck(name="success", passed=passed, score=score)


def tool_name(tool: dict[str, Any]) -> str:
    """The name in a tool's definition, in either form of the API."""
    return fields.text(fields.mapping(tool, "function"), "name") or fields.text(tool, "name")


FORMAT = Format(NAME, "OpenAI chat messages", sniff, read)
