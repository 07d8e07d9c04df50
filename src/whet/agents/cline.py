"""Cline: one JSON list a task, of the messages as the model got them.

A call has an id, but its result may be a text headed by the tool's name: it then answers the oldest open call of that
tool. The person's words stand in tags; every other text in their place is Cline's own.
"""

import re
from collections.abc import Iterator
from typing import Any

from whet.agents.formats import content
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.source import Format, Source, identity
from whet.agents.vscode import HOMES
from whet.sessions.transcripts import Message, Origin, Role, Text, ToolCall, Transcript, Usage
from whet.text import fields

NAME = "cline"
FILE = "api_conversation_history.json"
ENVIRONMENT = "<environment_details>"
PERSONS = ("task", "user_message")
RESULT = re.compile(r"\[(\w+)(?: for '[^\n]*')?\] Result:\n?")
FOLDER = re.compile(r"^# Current Working Directory \((.+)\) Files$", re.MULTILINE)


def sniff(source: Source) -> bool:
    return source.kind == "json" and isinstance(source.document, list) and any(_is_turn(each) for each in source.sample)


def _is_turn(record: dict[str, Any]) -> bool:
    texts = [fields.text(block, "text") for block in fields.objects(record, "content")]
    return fields.text(record, "role") == "user" and any(words.lstrip().startswith(ENVIRONMENT) for words in texts)


def read(source: Source) -> Iterator[Transcript]:
    messages: list[Message] = []
    calls, folder = OpenCalls(), ""
    for _, record in source.session_records():
        if fields.text(record, "role") == "assistant":
            messages += _agent(record, calls, len(messages))
        elif fields.text(record, "role") == "user":
            messages += _user(record, calls)
            folder = folder or _folder(record)
    task = source.path.absolute().parent.name
    yield content.completed(
        Transcript(
            source=NAME,
            native_id=task if task.isdigit() else identity(source, 1),
            messages=tuple(messages),
            folder=folder,
        )
    )


def _agent(record: dict[str, Any], calls: OpenCalls, index: int) -> Iterator[Message]:
    parts = list(content.parts(record.get("content")))
    if not parts:
        return
    calls.begin()
    parts = [
        ToolCall(calls.ask(part.id, part.name, message=index), part.name, part.arguments)
        if isinstance(part, ToolCall)
        else part
        for part in parts
    ]
    model = fields.text(fields.mapping(record, "modelInfo"), "modelId")
    yield content.spoken(Role.AGENT, parts, at=fields.seconds(record.get("ts")), model=model, usage=_usage(record))


def _user(record: dict[str, Any], calls: OpenCalls) -> Iterator[Message]:
    """The results, what the person wrote, and what Cline put around it, each apart from the others."""
    at = fields.seconds(record.get("ts"))
    plain = fields.text(record, "content")
    for block in [{"type": "text", "text": plain}] if plain else fields.objects(record, "content"):
        words = fields.text(block, "text")
        if content.is_served(block):
            call_id = calls.answer(fields.text(block, "tool_use_id"))
            error, tool = fields.flag(block, "is_error"), calls.names.get(call_id, "")
            yield content.answered(content.result(call_id, block.get("content"), tool=tool, error=error), at=at)
        elif (head := RESULT.match(words)) and head[1] in {calls.names[each] for each in calls.waiting}:
            call_id = calls.answer("", head[1])
            yield content.answered(content.result(call_id, words[head.end() :], tool=head[1]), at=at)
        elif words:
            yield from _said(words.strip(), at)
        elif media := list(content.parts([block])):
            yield content.spoken(Role.USER, media, at=at, origin=Origin.INSERTED)


def _said(words: str, at: float | None) -> Iterator[Message]:
    """The person's words, in the last of their tags at the end of a text, apart from Cline's before them."""
    for tag in PERSONS:
        start = words.rfind(f"<{tag}>")
        if start >= 0 and words.endswith(f"</{tag}>"):
            typed = words[start:].removeprefix(f"<{tag}>").removesuffix(f"</{tag}>").strip()
            yield from _inserted(words[:start].strip(), at)
            yield from content.said([Text(typed)] if typed else [], at=at)
            return
    yield from _inserted(words, at)


def _inserted(words: str, at: float | None) -> Iterator[Message]:
    if words:
        yield content.spoken(Role.USER, [Text(words)], at=at, origin=Origin.INSERTED)


def _folder(record: dict[str, Any]) -> str:
    texts = (fields.text(block, "text") for block in fields.objects(record, "content"))
    found = (FOLDER.search(words) for words in texts if words.lstrip().startswith(ENVIRONMENT))
    return next((each[1] for each in found if each), "")


def _usage(record: dict[str, Any]) -> Usage | None:
    return content.used(fields.mapping(record, "metrics"), "tokens.prompt", "tokens.completion", "tokens.cached")


FORMAT = Format(
    NAME,
    "Cline",
    sniff,
    read,
    places=(
        *(f"{home}/User/globalStorage/saoudrizwan.claude-dev/tasks/*/{FILE}" for home in HOMES),
        f".cline/data/tasks/*/{FILE}",
    ),
)
