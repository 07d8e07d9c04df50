"""Transcripts in the forms that other programs read: OpenAI messages, ATIF and Hermes' trajectories."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby

import msgspec

from whet.sessions import transcripts
from whet.sessions.transcripts import Media, Message, Role, Text, Thought, ToolCall, ToolResult, Transcript, joined

Json = dict[str, object]
ATIF_VERSION = "ATIF-v1.6"
OPENAI_ROLES = {Role.SYSTEM: "system", Role.USER: "user", Role.AGENT: "assistant"}
ATIF_SOURCES = {Role.SYSTEM: "system", Role.USER: "user", Role.AGENT: "agent"}

SPEAKERS = {Role.SYSTEM: "system", Role.USER: "human", Role.AGENT: "gpt", Role.TOOL: "tool"}


def iso(moment: float | None) -> str | None:
    """A point in time as ISO text in UTC."""
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def without_nothing(record: Json) -> Json:
    """The record without fields that say nothing."""
    return {key: value for key, value in record.items() if value not in (None, "", [], {}, ())}


def as_openai(transcript: Transcript) -> Json:
    """One session as one JSON line: its facts and its messages in OpenAI's chat form."""
    return without_nothing(
        {
            "id": transcript.native_id,
            "source": transcript.source,
            "model": transcript.model,
            "parent": transcript.parent,
            "title": transcript.title,
            "folder": transcript.folder,
            "ending": transcript.ending.value,
            "label": _label(transcript),
            "messages": [line for message in transcript.messages for line in _openai_messages(message)],
        }
    )


def _label(transcript: Transcript) -> Json:
    """The verdict that the session's own source gave, if it gave one."""
    check = next((check for check in transcript.checks if check.name == "success"), None)
    return without_nothing({"success": check.passed, "reward": check.score}) if check else {}


def _openai_messages(message: Message) -> Iterator[Json]:
    said = [part for part in message.parts if isinstance(part, Text | Media)]
    calls = [_openai_call(call) for call in message.calls]
    reasoning = joined(part.text for part in message.parts if isinstance(part, Thought))
    if message.role is not Role.TOOL and (said or calls or reasoning):
        yield {
            "role": OPENAI_ROLES[message.role],
            "content": _openai_content(said),
            **without_nothing(
                {
                    "reasoning": reasoning,
                    "tool_calls": calls,
                    "timestamp": iso(message.at),
                    "model": message.model,
                    "is_meta": message.origin is transcripts.Origin.INSERTED or None,
                    "is_compact_summary": message.origin is transcripts.Origin.SUMMARY or None,
                }
            ),
        }
    for result in message.results:
        yield {
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": _openai_content(result.content),
            **without_nothing(
                {
                    "name": result.tool,
                    "is_error": result.error,
                    "exit_code": result.exit_code,
                    "disposition": result.disposition,
                    "timestamp": iso(message.at),
                }
            ),
        }


def _openai_call(call: ToolCall) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _openai_content(parts: Iterable[Text | Media]) -> object:
    blocks = list(parts)
    if all(isinstance(part, Text) for part in blocks):
        return joined(part.text for part in blocks if isinstance(part, Text))
    return [{"type": "text", "text": part.text if isinstance(part, Text) else _named(part)} for part in blocks]


def words_of(parts: Iterable[transcripts.Part]) -> str:
    """The words of some parts, with a line for each picture."""
    return joined(
        part.text if isinstance(part, Text) else _named(part) for part in parts if isinstance(part, Text | Media)
    )


def _named(media: Media) -> str:
    """A line in the place of bytes that are not kept."""
    return f"[{media.kind} {media.media_type} {media.size_bytes} bytes {media.name}]".replace("  ", " ")


def as_atif(transcript: Transcript) -> Json:
    """One session as an Agent Trajectory Interchange Format document."""
    steps: list[Json] = []
    for message in transcript.messages:
        if message.role is Role.TOOL:
            _observe(steps, message)
        else:
            steps.append(_atif_step(message, len(steps) + 1))
    return {
        "schema_version": ATIF_VERSION,
        "session_id": transcript.native_id,
        "agent": without_nothing(
            {"name": transcript.source, "version": transcript.version or "unknown", "model_name": transcript.model}
        ),
        "steps": steps,
    }


def _atif_step(message: Message, number: int) -> Json:
    reasoning = joined(part.text for part in message.parts if isinstance(part, Thought))
    return {
        "step_id": number,
        "source": ATIF_SOURCES[message.role],
        "message": message.text,
        **without_nothing(
            {
                "timestamp": iso(message.at),
                "model_name": message.model,
                "reasoning_content": reasoning,
                "tool_calls": [_atif_call(call) for call in message.calls],
                "metrics": _atif_metrics(message.usage),
            }
        ),
    }


def _atif_call(call: ToolCall) -> Json:
    try:
        arguments = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, RecursionError):
        arguments = {"unparsed": call.arguments}
    return {"tool_call_id": call.id, "function_name": call.name, "arguments": arguments}


def _atif_metrics(usage: transcripts.Usage | None) -> Json:
    if usage is None:
        return {}
    return without_nothing(
        {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "cached_tokens": usage.cached,
            "cost_usd": usage.cost_dollars,
        }
    )


def _observe(steps: list[Json], message: Message) -> None:
    """Add a tool's results to the step that called it, or to the last one where no step did."""
    for result in message.results:
        step = next((step for step in reversed(steps) if _calls(step, result)), None)
        if step is None:
            step = {"step_id": len(steps) + 1, "source": "system", "message": ""}
            steps.append(step)
        observation = step.setdefault("observation", {"results": []})
        if isinstance(observation, dict):
            observation["results"].append({"source_call_id": result.call_id, "content": result.text})


def _calls(step: Json, result: ToolResult) -> bool:
    calls = step.get("tool_calls")
    return isinstance(calls, list) and any(call["tool_call_id"] == result.call_id for call in calls)


def as_trajectory(transcript: Transcript) -> Json:
    """One session as one line of Hermes' trajectory files, and what else is known of it beside."""
    known = transcript.ending is not transcripts.Ending.UNKNOWN
    return without_nothing(
        {
            "id": transcript.native_id,
            "conversations": list(_turns(transcript.messages)),
            "timestamp": iso(transcript.ended or transcript.started),
            "model": transcript.model,
            "completed": transcript.ending is transcripts.Ending.FINISHED if known else None,
            "title": transcript.title,
            "metadata": without_nothing(
                {
                    "source": transcript.source,
                    "folder": transcript.folder,
                    "parent": transcript.parent,
                    "ending": transcript.ending.value,
                    "tools": list(transcript.tools),
                }
            ),
        }
    )


def _turns(messages: tuple[Message, ...]) -> Iterator[Json]:
    order: dict[str, int] = {}
    for is_tool, group in groupby(messages, key=lambda message: message.role is Role.TOOL):
        if is_tool:
            results = [result for message in group for result in message.results]
            results.sort(key=lambda result: order.get(result.call_id, len(order)))
            yield {"from": "tool", "value": "\n".join(_marked("tool_response", _response(each)) for each in results)}
            continue
        for message in group:
            order = {call.id: place for place, call in enumerate(message.calls)}
            words = _agent_words(message) if message.role is Role.AGENT else words_of(message.parts)
            yield {"from": SPEAKERS[message.role], "value": words}


def _agent_words(message: Message) -> str:
    """Its thoughts, words and calls in their order; Hermes begins every turn with a thought, if an empty one."""
    pieces = [_piece(part) for part in message.parts if isinstance(part, Thought | Text | Media | ToolCall)]
    if not message.parts or not isinstance(message.parts[0], Thought):
        pieces.insert(0, "<think>\n</think>")
    return joined(pieces)


def _piece(part: Thought | Text | Media | ToolCall) -> str:
    if isinstance(part, Thought):
        return f"<think>\n{part.text}\n</think>"
    if isinstance(part, ToolCall):
        return _marked("tool_call", {"name": part.name, "arguments": _object(part.arguments)})
    return words_of((part,))


def _response(result: ToolResult) -> Json:
    """A result as an object; text that is JSON already stands there as what it means, as Hermes writes it."""
    text = words_of(result.content)
    value = _value(text)
    return {
        "tool_call_id": result.call_id,
        "name": result.tool,
        "content": value if isinstance(value, dict) and "type" not in value and set(value) != {"text"} else text,
        **without_nothing(
            {"is_error": result.error, "exit_code": result.exit_code, "disposition": result.disposition or None}
        ),
    }


def _object(arguments: str) -> object:
    """Arguments as what they mean, valid or not."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments


def _value(text: str) -> object:
    """What JSON text means, where writing that again gives the same text."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return value if msgspec.json.encode(value).decode() == text else text


def _marked(tag: str, record: Json) -> str:
    # An end of a tag in a file or an argument must not end this one.
    body = msgspec.json.encode(record).decode().replace("</", "<\\/")
    return f"<{tag}>\n{body}\n</{tag}>"
