"""ShareGPT conversations, and the trajectories of Hermes that write calls and results into their text.

Calls have no id there, so each gets one from its message and its place in it. A result, whatever id it bears,
answers the oldest open call of its tool in the step before it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from whet.agents.formats import content
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.source import Format, Source, Unreadable, identity, parse
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Ending, Message, Role, Thought, ToolCall, ToolResult, Transcript
from whet.text import fields

NAME = "sharegpt"
TRAJECTORY_NAME = "hermes-trajectory"
ROLES = {
    "system": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.AGENT,
    "chatgpt": Role.AGENT,
    "assistant": Role.AGENT,
    "model": Role.AGENT,
    "function_call": Role.AGENT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "observation": Role.TOOL,
    "function_response": Role.TOOL,
}
BLOCK = re.compile(r"<(think|tool_call|tool_response)>(.*?)(?:</\1>|\Z)", re.DOTALL)
TOOL_MARKS = ("<tool_call>", "<tool_response>")


class MarkedPiece(NamedTuple):
    """A marked piece of a turn's text; `kind` is empty for the words between the marks."""

    kind: str
    text: str


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and bool(source.sample) and all(map(_is_session, source.sample))


def sniff_trajectory(source: Source) -> bool:
    return sniff(source) and any(map(_is_trajectory, source.sample))


def read(source: Source) -> Iterator[Transcript]:
    yield from _read(source, NAME)


def read_trajectory(source: Source) -> Iterator[Transcript]:
    yield from _read(source, TRAJECTORY_NAME)


def _read(source: Source, name: str) -> Iterator[Transcript]:
    for line, record in source.records():
        native_id = fields.text(record, "id") or identity(source, fields.whole(record, "id") or line)
        if not isinstance(record.get("conversations"), list):
            source.skip("no list of conversations", line)
        else:
            yield _transcript(record, name, native_id)


def _is_session(record: dict[str, Any]) -> bool:
    said = record.get("conversations")
    return isinstance(said, list) and bool(said) and all(map(_is_turn, said))


def _is_turn(turn: object) -> bool:
    return (
        isinstance(turn, dict)
        and fields.text(turn, "from").lower() in ROLES
        and isinstance(turn.get("value"), str | None)
        and "value" in turn
    )


def _is_trajectory(record: dict[str, Any]) -> bool:
    return (
        isinstance(record.get("completed"), bool)
        or isinstance(record.get("model"), str)
        or any(
            mark in fields.text(turn, "value")
            for turn in fields.objects(record, "conversations")
            for mark in TOOL_MARKS
        )
    )


def _transcript(record: dict[str, Any], name: str, native_id: str) -> Transcript:
    messages = tuple(conversation(fields.objects(record, "conversations")))
    completed = fields.flag(record, "completed")
    at = fields.seconds(record.get("timestamp"))
    return Transcript(
        source=name,
        native_id=native_id,
        messages=messages,
        title=fields.text(record, "title"),
        model=fields.text(record, "model"),
        ending={True: Ending.FINISHED, False: Ending.FAILED, None: content.settled(messages)}[completed],
        ending_detail="" if completed is not False else "not completed",
        ended=at,
    )


def conversation(said: Iterable[dict[str, Any]]) -> Iterator[Message]:
    """Turns as messages; a turn of several tool responses becomes a message each."""
    steps = OpenCalls()
    asked = False  # whether the task has been given
    for index, turn in enumerate(said):
        speaker = fields.text(turn, "from").lower()
        role, words = ROLES.get(speaker), fields.text(turn, "value")
        if role is Role.AGENT:
            steps.begin()
            marked = [MarkedPiece("tool_call", words)] if speaker == "function_call" else _blocks(words)
            yield content.spoken(role, _agent_parts(marked, steps, index))
        elif role is Role.TOOL:
            yield from _answers(words, steps)
        elif role is Role.USER:
            yield from content.said(content.shown(words), is_order=not asked)
            asked = True
        elif role is not None:
            yield content.spoken(role, content.shown(words))


def _blocks(words: str) -> Iterator[MarkedPiece]:
    position = 0
    for found in BLOCK.finditer(words):
        yield MarkedPiece("", words[position : found.start()].strip())
        yield MarkedPiece(found[1], found[2].strip())
        position = found.end()
    yield MarkedPiece("", words[position:].strip())


def _agent_parts(blocks: Iterable[MarkedPiece], steps: OpenCalls, index: int) -> Iterator[transcripts.Part]:
    for kind, words in blocks:
        if not words:
            continue
        if kind == "think":
            yield Thought(words)
        elif kind == "tool_call" and (call := _object(words)):
            name = fields.text(call, "name")
            call_id = steps.ask("", name, message=index)
            yield ToolCall(call_id, name, fields.json_text(call.get("arguments", {})))
        else:
            yield transcripts.Text(f"<{kind}>{words}</{kind}>" if kind else words)


def _answers(words: str, steps: OpenCalls) -> Iterator[Message]:
    marked = [block.text for block in _blocks(words) if block.kind == "tool_response"]
    for body in marked or [words]:
        response = _object(body) if marked else None
        answer = response.get("content", body) if response else body
        tool = fields.text(response or {}, "name")
        call_id = steps.answer("", tool)
        yield content.answered(_result(call_id, answer, response or {}, tool or steps.names.get(call_id, "")))


def _result(call_id: str, answer: object, response: dict[str, Any], tool: str) -> ToolResult:
    """A result with the facts that Whet's own export writes beside it."""
    told = fields.text(response, "disposition")
    return content.result(
        call_id,
        answer,
        tool=tool,
        error=fields.flag(response, "is_error"),
        exit_code=fields.code(response, "exit_code"),
        disposition=Disposition(told) if told in set(Disposition) else None,
    )


def _object(words: str) -> dict[str, Any] | None:
    try:
        value = parse(words.encode())
    except Unreadable:
        return None
    return value if isinstance(value, dict) else None


FORMAT = Format(NAME, "ShareGPT conversations", sniff, read)
TRAJECTORY_FORMAT = Format(TRAJECTORY_NAME, "Hermes trajectories", sniff_trajectory, read_trajectory)
