"""Continue: one JSON document a session, whose calls stand with their results in one item."""

from collections.abc import Iterator
from typing import Any

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source
from whet.sessions.transcripts import Disposition, Message, Role, Text, Thought, ToolCall, Transcript, Usage
from whet.text import fields

NAME = "continue"
FAULTS = {"done": False, "errored": True}


def sniff(source: Source) -> bool:
    document = source.document if source.kind == "json" else None
    return isinstance(document, dict) and {"sessionId", "workspaceDirectory", "history"} <= document.keys()


def read(source: Source) -> Iterator[Transcript]:
    document = source.document if isinstance(source.document, dict) else {}
    messages = tuple(message for item in fields.objects(document, "history") for message in _messages(item))
    models = (message.model for message in messages if message.model)
    yield content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(document, "sessionId") or source.path.stem,
            messages=messages,
            title=fields.text(document, "title"),
            model=next(models, "") or fields.text(document, "chatModelTitle"),
            folder=fields.text(document, "workspaceDirectory").removeprefix("file://"),
            usage=_usage(fields.mapping(document, "usage")),
        )
    )


def _messages(item: dict[str, Any]) -> Iterator[Message]:
    message, states = fields.mapping(item, "message"), fields.objects(item, "toolCallStates")
    role = fields.text(message, "role")
    parts = list(content.parts(message.get("content")))
    if role == "user":
        yield from content.said(parts)
    elif role == "system" and parts:
        yield content.spoken(Role.SYSTEM, parts)
    elif role in ("assistant", "thinking"):
        if role == "thinking":
            parts = [Thought(part.text) if isinstance(part, Text) else part for part in parts]
        calls = [_call(call) for call in fields.objects(message, "toolCalls")]
        if parts or calls:
            yield content.spoken(Role.AGENT, [*parts, *calls])
        names = {call.id: call.name for call in calls}
        for state in states:
            yield from _answer(state, names)


def _call(call: dict[str, Any]) -> ToolCall:
    asked = fields.mapping(call, "function")
    return ToolCall(
        fields.text(call, "id"), fields.text(asked, "name"), fields.json_text(asked.get("arguments") or "{}")
    )


def _answer(state: dict[str, Any], names: dict[str, str]) -> Iterator[Message]:
    """The result of a call that ended; one that waits or runs has none."""
    call_id, status = fields.text(state, "toolCallId"), fields.text(state, "status")
    if call_id not in names or status not in (*FAULTS, "canceled"):
        return
    output = "\n".join(fields.text(each, "content") for each in fields.objects(state, "output"))
    disposition = Disposition.CANCELLED if status == "canceled" else None
    error = FAULTS.get(status)
    yield content.answered(content.result(call_id, output, tool=names[call_id], error=error, disposition=disposition))


def _usage(spent: dict[str, Any]) -> Usage | None:
    """What the session used. Continue counts what a cache held apart from the prompt where its provider does."""
    if not spent:
        return None
    about = fields.mapping(spent, "promptTokensDetails")
    cached, made = fields.whole(about, "cachedTokens"), fields.whole(about, "cacheWriteTokens")
    prompt = fields.whole(spent, "promptTokens")
    return Usage(
        input=prompt if prompt >= cached + made else prompt + cached + made,
        output=fields.whole(spent, "completionTokens"),
        cached=cached,
        cache_written=made,
        cost_dollars=fields.amount(spent.get("totalCost")),
    )


FORMAT = Format(NAME, "Continue", sniff, read, places=(".continue/sessions/*.json",))
