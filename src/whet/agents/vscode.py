"""Copilot in VS Code: one JSON document a session, or since 2026 a log of changes to that document."""

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source, Unreadable
from whet.sessions.transcripts import Ending, Message, Origin, Part, Role, Text, Thought, ToolCall, Transcript
from whet.text import fields

NAME = "vscode"
INITIAL, SET, PUSH, DELETE = range(4)
CANCELLED = 2  # of the states that an answer can be in
WORDS = 2  # of the kinds of node in what a tool answered
HOMES = (
    ".config/Code",
    ".config/Code - Insiders",
    *(f"Library/Application Support/Code{x}" for x in ("", " - Insiders")),
)


def sniff(source: Source) -> bool:
    return source.kind in ("json", "jsonl") and any(_is_session(_initial(record)) for record in source.sample[:1])


def _initial(record: dict[str, Any]) -> dict[str, Any]:
    """The document at the beginning of a log of changes, or the document itself."""
    return fields.mapping(record, "v") if record.get("kind") == INITIAL and "v" in record else record


def _is_session(document: dict[str, Any]) -> bool:
    return isinstance(document.get("requests"), list) and "version" in document and "creationDate" in document


def read(source: Source) -> Iterator[Transcript]:
    document: dict[str, Any] = {}
    for line, record in source.session_records():
        if record.get("kind") == INITIAL or "requests" in record:
            document = _initial(record)
        elif not _changed(document, record):
            source.skip("a change to something that is not there", line)
    requests = fields.objects(document, "requests")
    messages = tuple(message for request in requests for message in _messages(request))
    fault = fields.text(
        fields.mapping(fields.mapping(requests[-1] if requests else {}, "result"), "errorDetails"), "message"
    )
    yield content.completed(
        Transcript(
            source=NAME,
            native_id=fields.text(document, "sessionId") or source.path.stem,
            messages=messages,
            title=fields.text(document, "customTitle"),
            folder=_folder(source),
            ending=Ending.FAILED if fault else Ending.UNKNOWN,
            ending_detail=fault,
            started=fields.seconds(document.get("creationDate")),
        )
    )


def _changed(document: dict[str, Any], change: dict[str, Any]) -> bool:
    """Carry out one line of the log: set or delete what a path leads to, or cut a list and add to it."""
    path, kind = fields.items(change, "k"), change.get("kind")
    if not path or kind not in (SET, PUSH, DELETE):
        return False
    target: Any = document
    try:
        for step in path[:-1]:
            target = target[step]
        if kind == DELETE:
            target.pop(path[-1], None)
        elif kind == SET:
            target[path[-1]] = change.get("v")
        else:
            _push(target, path[-1], change)
    except (KeyError, IndexError, TypeError, AttributeError):
        return False
    return True


def _push(target: Any, key: Any, change: dict[str, Any]) -> None:
    listed = target.setdefault(key, []) if isinstance(target, dict) else target[key]
    if (cut := fields.code(change, "i")) is not None:
        del listed[max(cut, 0) :]
    listed.extend(fields.items(change, "v"))


def _messages(request: dict[str, Any]) -> Iterator[Message]:
    at, result = fields.seconds(request.get("timestamp")), fields.mapping(request, "result")
    words = fields.text(fields.mapping(request, "message"), "text") or fields.text(request, "message")
    if words:
        yield from content.said([Text(words)], at=at)
    about, model = fields.mapping(result, "metadata"), fields.text(request, "modelId")
    rounds, answers = fields.objects(about, "toolCallRounds"), fields.mapping(about, "toolCallResults")
    for turn in rounds or [{"response": _shown(request)}]:
        yield from _round(turn, answers, at, model)
    state = fields.mapping(request, "modelState").get("value")
    if fields.flag(request, "isCanceled") or state == CANCELLED:
        yield content.spoken(Role.USER, [Text("cancelled")], at=at, origin=Origin.INTERRUPT)


def _round(turn: dict[str, Any], answers: dict[str, Any], at: float | None, model: str) -> Iterator[Message]:
    """What the model said in one call, and what the tools answered that it asked for."""
    thought = fields.text(fields.mapping(turn, "thinking"), "text")
    parts: list[Part] = [Thought(thought)] if thought else []
    parts += content.shown(fields.text(turn, "response"))
    calls = [
        ToolCall(fields.text(call, "id"), fields.text(call, "name"), fields.json_text(call.get("arguments", {})))
        for call in fields.objects(turn, "toolCalls")
    ]
    if parts or calls:
        yield content.spoken(Role.AGENT, [*parts, *calls], at=at, model=model)
    for call in calls:
        if call.id in answers:
            words = "".join(_words(answers[call.id])).strip("\n")
            yield content.answered(content.result(call.id, words, tool=call.name), at=at)


def _words(answer: object) -> Iterator[str]:
    """The words of a tool's answer, which is text or a tree of the elements that the prompt is made of."""
    waiting = [answer]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += reversed(node)
        elif isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            if node.get("type") == WORDS:
                yield ("\n" if node.get("lineBreakBefore") else "") + fields.text(node, "text")
            waiting += [node[key] for key in ("children", "node", "value", "content") if key in node]


def _shown(request: dict[str, Any]) -> str:
    """The answer as it stood on the screen, for sessions that keep no rounds."""
    return "".join(fields.text(item, "value") for item in fields.objects(request, "response") if "kind" not in item)


def _folder(source: Source) -> str:
    """The folder that was open, which a file beside the folder of sessions names."""
    beside = source.path.absolute().parent.parent / "workspace.json"
    with contextlib.suppress(Unreadable, ValueError):
        about = next(iter(Source(beside).sample), {})
        return unquote(urlsplit(fields.text(about, "folder")).path)
    return ""


FORMAT = Format(
    NAME,
    "Copilot in VS Code",
    sniff,
    read,
    places=tuple(
        f"{home}/User/{place}/*.json*"
        for home in HOMES
        for place in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
    ),
)
