"""OpenCode: a session as its export writes it, or in its database, into which it took its older files."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apsw

from whet.agents.formats import content, databases
from whet.agents.formats.content import delegated
from whet.agents.formats.source import Format, Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Ending, Message, Origin, Purpose, Role, ToolResult, Transcript, Usage
from whet.text import fields
from whet.text.words import names

ABORTED = "MessageAbortedError"
OUTPUT_LIMIT = "MessageOutputLengthError"
# Tools of the program itself. Those of MCP servers have names such as `server_tool`, and errors in any words.
OWN_TOOLS = names(
    "bash read write edit multiedit patch apply_patch list glob grep task todowrite todoread skill question lsp batch "
    "plan_enter plan_exit"
)
REJECTIONS = ("The user rejected permission", "The user dismissed this question")
BLOCKS = ("The user has specified a rule which prevents you",)
ABORTIONS = ("Tool execution aborted",)

SESSION_COLUMNS = frozenset({"id", "time_created"})
MESSAGE_COLUMNS = frozenset({"id", "session_id", "data", "time_created"})
PART_COLUMNS = frozenset({"id", "message_id", "session_id", "data"})

NAME = "opencode"


class OpenCodeMessage(NamedTuple):
    """One message as OpenCode keeps it."""

    info: dict[str, Any]
    parts: list[dict[str, Any]]


class ModelStep(NamedTuple):
    """One call of the model within an answer: its parts and, at its end, what it used."""

    parts: list[dict[str, Any]]
    finish: dict[str, Any]


def conversation(turns: Iterable[OpenCodeMessage], revert: dict[str, Any]) -> Iterator[Message]:
    """The turns as messages, up to the point to which the person has taken the session back."""
    for turn in _kept(turns, revert):
        if turn.info.get("role") == "assistant":
            yield from _answer(turn)
        elif turn.info.get("role") == "user":
            yield from _request(turn)


def ending(turns: list[OpenCodeMessage]) -> tuple[Ending, str]:
    """How the session ended, by the error or the finish of its last message, and the source's word for it."""
    info = turns[-1].info if turns else {}
    name = fields.text(fields.mapping(info, "error"), "name")
    if name:
        known = {ABORTED: Ending.INTERRUPTED, OUTPUT_LIMIT: Ending.BUDGET}
        return known.get(name, Ending.FAILED), name
    finish = fields.text(info, "finish")
    done = info.get("role") == "assistant" and bool(fields.mapping(info, "time").get("completed"))
    return (Ending.FINISHED if done and finish != "tool-calls" else Ending.UNKNOWN), finish


def _kept(turns: Iterable[OpenCodeMessage], revert: dict[str, Any]) -> Iterator[OpenCodeMessage]:
    last, part = fields.text(revert, "messageID"), fields.text(revert, "partID")
    for turn in turns:
        if not last or fields.text(turn.info, "id") != last:
            yield turn
            continue
        ids = [fields.text(found, "id") for found in turn.parts]
        if part in ids:
            yield OpenCodeMessage(turn.info, turn.parts[: ids.index(part)])
        return


def _request(turn: OpenCodeMessage) -> Iterator[Message]:
    """What the person wrote, and apart from it what OpenCode put beside it, such as the files that were named."""
    at = _time(turn.info)
    for synthetic in (False, True):
        shown = [part for part in turn.parts if (part.get("synthetic") is True) is synthetic]
        parts = [found for part in shown for found in _shown(part)]
        if parts and synthetic:
            yield content.spoken(Role.USER, parts, at=at, origin=Origin.INSERTED)
        else:
            yield from content.said(parts, at=at)


def _answer(turn: OpenCodeMessage) -> Iterator[Message]:
    info, at = turn.info, _time(turn.info)
    origin = Origin.SUMMARY if info.get("summary") is True else Origin.TURN
    steps = [step for step in _steps(turn.parts) if any(True for _ in _spoken_parts(step))]
    for index, step in enumerate(steps):
        usage = _usage(step.finish)
        if usage is None and index == len(steps) - 1 and not any(found.finish for found in steps):
            usage = _usage(info)
        yield content.spoken(
            Role.AGENT,
            _spoken_parts(step),
            at=_step_time(step) or at,
            model=fields.text(info, "modelID"),
            usage=usage,
            origin=origin,
        )
        yield from _results(step)
    yield from _failure(info, at)


def _steps(parts: list[dict[str, Any]]) -> Iterator[ModelStep]:
    gathered: list[dict[str, Any]] = []
    for part in parts:
        kind = part.get("type")
        if kind == "step-start" and gathered:
            yield ModelStep(gathered, {})
            gathered = []
        elif kind == "step-finish":
            yield ModelStep(gathered, part)
            gathered = []
        else:
            gathered.append(part)
    if gathered:
        yield ModelStep(gathered, {})


def _spoken_parts(step: ModelStep) -> Iterator[transcripts.Part]:
    for part in step.parts:
        kind = part.get("type")
        if kind == "reasoning":
            if words := fields.text(part, "text"):
                yield transcripts.Thought(words)
        elif kind == "tool":
            given = fields.mapping(part, "state").get("input", {})
            yield transcripts.ToolCall(_call_id(part), fields.text(part, "tool"), fields.json_text(given))
        elif part.get("synthetic") is not True:
            yield from _shown(part)


def _shown(part: dict[str, Any]) -> Iterator[transcripts.Text | transcripts.Media]:
    if part.get("type") in ("text", "file"):
        yield from content.shown(part)


def _results(step: ModelStep) -> Iterator[Message]:
    for part in step.parts:
        state = fields.mapping(part, "state")
        if part.get("type") == "tool" and state.get("status") in ("completed", "error"):
            at = fields.seconds(fields.mapping(state, "time").get("end"))
            yield content.answered(_result(part, state), at=at)


def _result(part: dict[str, Any], state: dict[str, Any]) -> ToolResult:
    failed = state["status"] == "error"
    metadata = fields.mapping(state, "metadata")
    exit_code = fields.code(metadata, "exit")
    said = state.get("error") if failed else state.get("output")
    attached = [] if failed else fields.objects(state, "attachments")
    tool = fields.text(part, "tool")
    return content.result(
        _call_id(part),
        [said, *attached] if attached else said,
        tool=tool,
        # A command that ran and exited with an error is "completed" here: then its exit code decides.
        error=True if failed else (None if exit_code else False),
        exit_code=exit_code,
        disposition=_disposition(said if failed and tool in OWN_TOOLS else "", metadata),
    )


def _disposition(error: object, metadata: dict[str, Any]) -> Disposition | None:
    words = error.removeprefix("Error: ") if isinstance(error, str) else ""
    if words.startswith(REJECTIONS):
        return Disposition.REJECTED
    if words.startswith(BLOCKS):
        return Disposition.BLOCKED
    if words.startswith(ABORTIONS) or metadata.get("interrupted") is True:
        return Disposition.INTERRUPTED
    return None


def _failure(info: dict[str, Any], at: float | None) -> Iterator[Message]:
    error = fields.mapping(info, "error")
    if error.get("name") == ABORTED:
        yield content.spoken(Role.USER, (), at=at, origin=Origin.INTERRUPT)
    elif error:
        words = fields.text(fields.mapping(error, "data"), "message") or fields.text(error, "message", "name")
        yield content.spoken(Role.AGENT, content.shown(words), at=at, origin=Origin.INSERTED)


def _call_id(part: dict[str, Any]) -> str:
    return fields.text(part, "callID", "id")


def _time(info: dict[str, Any]) -> float | None:
    return fields.seconds(fields.mapping(info, "time").get("created"))


def _step_time(step: ModelStep) -> float | None:
    for part in step.parts:
        times = fields.mapping(part, "time") or fields.mapping(fields.mapping(part, "state"), "time")
        if (at := fields.seconds(times.get("start"))) is not None:
            return at
    return None


def _usage(record: dict[str, Any]) -> Usage | None:
    """Usage in OpenCode's terms, where cached and reasoning tokens are counted apart."""
    tokens = fields.mapping(record, "tokens")
    cost = record.get("cost") if tokens else None
    return content.used(tokens, "input", "output+reasoning", "cache.read", "cache.write", is_apart=True, cost=cost)


class Stored(NamedTuple):
    """A session as the database holds it."""

    info: dict[str, Any]
    turns: list[OpenCodeMessage]


def recognise(source: Source) -> bool:
    with source.database() as connection:
        return (
            databases.columns(connection, "session") >= SESSION_COLUMNS
            and databases.columns(connection, "message") >= MESSAGE_COLUMNS
            and databases.columns(connection, "part") >= PART_COLUMNS
        )


def sessions(source: Source) -> Iterator[Stored]:
    with source.database() as connection:
        yield from databases.sessions(
            connection,
            "session",
            "time_created",
            lambda row: Stored(_info(row), _turns(source, connection, row["id"])),
        )


def _info(row: dict[str, Any]) -> dict[str, Any]:
    """The row in the words of the export."""
    return {
        "id": row["id"],
        "parentID": row.get("parent_id"),
        "title": row.get("title"),
        "directory": row.get("directory"),
        "version": row.get("version"),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
        "revert": databases.document(row.get("revert")),
    }


def _turns(source: Source, connection: apsw.Connection, session_id: object) -> list[OpenCodeMessage]:
    parts: dict[str, list[dict[str, Any]]] = {}
    statement = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id"
    for row in databases.rows(connection, statement, (session_id,)):
        found = databases.document(row["data"])
        if isinstance(found, dict):
            parts.setdefault(row["message_id"], []).append({**found, "id": row["id"]})
        else:
            source.skip(f"session {session_id}: part {row['id']} is not a JSON object")
    statement = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    turns = []
    for row in databases.rows(connection, statement, (session_id,)):
        found = databases.document(row["data"])
        if isinstance(found, dict):
            turns.append(OpenCodeMessage({**found, "id": fields.text(row, "id")}, parts.get(row["id"], [])))
        else:
            source.skip(f"session {session_id}: message {row['id']} is not a JSON object")
    return turns


def sniff(source: Source) -> bool:
    if source.kind == "sqlite":
        return recognise(source)
    return source.kind == "json" and _is_export(source)


def read(source: Source) -> Iterator[Transcript]:
    if source.kind == "sqlite":
        for info, turns in sessions(source):
            yield _transcript(info, turns)
    else:
        for line, record in source.records():
            if not fields.text(fields.mapping(record, "info"), "id"):
                source.skip("no session id in its `info`", line)
                continue
            turns = [_turn(message) for message in fields.objects(record, "messages")]
            yield _transcript(fields.mapping(record, "info"), turns)


def _is_export(source: Source) -> bool:
    return bool(source.sample) and all(
        fields.text(fields.mapping(record, "info"), "id")
        and "time" in record["info"]
        and isinstance(record.get("messages"), list)
        and all(
            isinstance(message, dict) and "info" in message and isinstance(message.get("parts"), list)
            for message in record["messages"]
        )
        for record in source.sample
    )


def _turn(message: dict[str, Any]) -> OpenCodeMessage:
    return OpenCodeMessage(fields.mapping(message, "info"), fields.objects(message, "parts"))


def _transcript(info: dict[str, Any], turns: list[OpenCodeMessage]) -> Transcript:
    times, parent = fields.mapping(info, "time"), fields.text(info, "parentID")
    how, detail = ending(turns)
    messages = tuple(conversation(turns, fields.mapping(info, "revert")))
    models = (fields.text(turn.info, "modelID") for turn in turns)
    return Transcript(
        source=NAME,
        native_id=fields.text(info, "id"),
        messages=delegated(messages) if parent else messages,
        parent=parent,
        title=fields.text(info, "title"),
        model=next((model for model in models if model), ""),
        folder=fields.text(info, "directory") or next(filter(None, map(_folder, turns)), ""),
        version=fields.text(info, "version"),
        purpose=Purpose.SUBTASK if parent else Purpose.CHAT,
        ending=how,
        ending_detail=detail,
        started=fields.seconds(times.get("created")),
        ended=fields.seconds(times.get("updated")),
    )


def _folder(turn: OpenCodeMessage) -> str:
    return fields.text(fields.mapping(turn.info, "path"), "cwd")


FORMAT = Format(
    NAME,
    "OpenCode",
    sniff,
    read,
    places=(".local/share/opencode/opencode*.db",),
)
