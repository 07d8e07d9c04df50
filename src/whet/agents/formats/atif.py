"""ATIF, the interchange form of agent trajectories, versions 1.0 to 1.8: one JSON value, or one a line.

A result without a call id answers the oldest open call of its step.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from whet.agents.formats import content
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.openai_messages import tool_name
from whet.agents.formats.source import Format, Source, identity
from whet.sessions.transcripts import Ending, Message, Origin, Part, Purpose, Role, Thought, ToolCall, Transcript, Usage
from whet.text import fields

NAME = "atif"
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "agent": Role.AGENT}
AGENT_KEYS = ("tool_calls", "metrics", "reasoning_content", "llm_call_count")
DEPTH_LIMIT = 20  # of sub-agents within sub-agents


def sniff(source: Source) -> bool:
    return source.kind in ("jsonl", "json") and bool(source.sample) and all(map(_is_trajectory, source.sample))


def read(source: Source) -> Iterator[Transcript]:
    parents: dict[str, str] = {}
    for line, record in source.records():
        if not isinstance(record.get("steps"), list):
            source.skip("no list of steps", line)
            continue
        native_id = _id(record) or identity(source, line)
        yield from _family(source, record, native_id, parents)


def _is_trajectory(record: dict[str, Any]) -> bool:
    return fields.text(record, "schema_version").startswith("ATIF-v") and isinstance(record.get("steps"), list)


def _id(record: dict[str, Any]) -> str:
    """The id of a trajectory; several of one session differ in `trajectory_id` from version 1.7."""
    return fields.text(record, "trajectory_id", "session_id")


def _family(
    source: Source, record: dict[str, Any], native_id: str, parents: dict[str, str], depth: int = 0
) -> Iterator[Transcript]:
    """A trajectory, then those of the sub-agents within it; `parents` learns what its steps refer to."""
    for step in fields.objects(record, "steps"):
        for result in _results(step):
            for reference in fields.objects(result, "subagent_trajectory_ref"):
                parents.setdefault(_id(reference), native_id)
    extra = fields.mapping(record, "extra")
    parent = parents.get(native_id) or fields.text(extra, "parent_trajectory_id", "parent_session_id")
    yield _transcript(source, record, native_id, parent if parent != native_id else "")
    if depth == DEPTH_LIMIT:
        return
    for index, child in enumerate(fields.objects(record, "subagent_trajectories")):
        child_id = _id(child) if _id(child) != native_id else ""
        child_id = child_id or f"{native_id}/{index}"
        parents[child_id] = native_id
        yield from _family(source, child, child_id, parents, depth + 1)


def _transcript(source: Source, record: dict[str, Any], native_id: str, parent: str) -> Transcript:
    agent = fields.mapping(record, "agent")
    messages = tuple(_messages(source, record, fields.text(agent, "model_name")))
    continued = bool(fields.text(record, "continued_trajectory_ref"))
    total = fields.mapping(record, "final_metrics")
    return content.completed(
        Transcript(
            source=NAME,
            native_id=native_id,
            messages=messages,
            parent=parent,
            model=fields.text(agent, "model_name"),
            version=" ".join(filter(None, (fields.text(agent, "name"), fields.text(agent, "version")))),
            purpose=Purpose.SUBTASK if parent else Purpose.CHAT,
            ending=Ending.COMPACTED if continued else Ending.UNKNOWN,
            tools=tuple(filter(None, map(tool_name, fields.objects(agent, "tool_definitions")))),
            usage=None if any(message.usage for message in messages) else _usage(total, "total_"),
        )
    )


def _messages(source: Source, record: dict[str, Any], model: str) -> Iterator[Message]:
    steps = OpenCalls()
    begun = asked = False  # whether anything but the prompt was said; whether the task has been given
    for index, step in enumerate(fields.objects(record, "steps")):
        if step.get("is_copied_context") is True:
            continue
        role = _role(step)
        if role is None:
            source.skip(f"step {step.get('step_id', index + 1)}: unknown source {step.get('source')!r}")
            continue
        message = _message(step, role, steps, index)
        if role is Role.AGENT:
            message = structs.replace(message, model=fields.text(step, "model_name") or model)
        elif role is Role.SYSTEM and begun:
            # What is reported in the place of the prompt after the beginning is no prompt.
            message = structs.replace(message, origin=Origin.INSERTED)
        if role is Role.USER:
            yield from content.said(message.parts, at=message.at, is_order=not asked)
        elif message.parts:
            yield message
        begun, asked = begun or role is not Role.SYSTEM, asked or role is Role.USER
        yield from _answers(step, steps, message.at)


def _role(step: dict[str, Any]) -> Role | None:
    role = ROLES.get(fields.text(step, "source"))
    if role is None and any(step.get(key) for key in AGENT_KEYS):
        return Role.AGENT
    return role


def _message(step: dict[str, Any], role: Role, steps: OpenCalls, index: int) -> Message:
    steps.begin()
    at = fields.seconds(step.get("timestamp"))
    usage = _usage(fields.mapping(step, "metrics"), "") if role is Role.AGENT else None
    return content.spoken(role, _parts(step, steps, index), at=at, usage=usage)


def _parts(step: dict[str, Any], steps: OpenCalls, index: int) -> Iterator[Part]:
    if thought := fields.text(step, "reasoning_content"):
        yield Thought(thought)
    yield from content.shown(step.get("message"))
    for call in fields.objects(step, "tool_calls"):
        name = fields.text(call, "function_name")
        call_id = steps.ask(fields.text(call, "tool_call_id"), name, message=index)
        yield ToolCall(call_id, name, fields.json_text(call.get("arguments", {})))


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    return fields.objects(fields.mapping(step, "observation"), "results")


def _answers(step: dict[str, Any], steps: OpenCalls, at: float | None) -> Iterator[Message]:
    for result in _results(step):
        call_id = steps.answer(fields.text(result, "source_call_id"))
        if call_id:
            flagged = fields.flag(fields.mapping(result, "extra"), "is_error")
            tool = steps.names.get(call_id, "")
            yield content.answered(content.result(call_id, result.get("content"), tool=tool, error=flagged), at=at)
        elif parts := list(content.shown(result.get("content"))):
            # What the environment says unasked answers no call.
            yield content.spoken(Role.USER, parts, at=at, origin=Origin.INSERTED)


def _usage(metrics: dict[str, Any], prefix: str) -> Usage | None:
    """Usage, where `prompt_tokens` includes the cached ones."""
    counts = (f"{prefix}{name}_tokens" for name in ("prompt", "completion", "cached"))
    return content.used(metrics, *counts, "extra.cache_creation_input_tokens", cost=metrics.get(f"{prefix}cost_usd"))


FORMAT = Format(NAME, "ATIF trajectories", sniff, read)
