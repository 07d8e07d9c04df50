"""Rows of Hermes' messages table as messages: what was undone, leaked or carried over is left out."""

from collections.abc import Iterable, Iterator
from typing import Any

from whet.importers import content, tables
from whet.importers.steps import OpenCalls
from whet.sessions.transcripts import Disposition, Message, Origin, Part, Role, Thought, ToolCall, ToolResult, Usage
from whet.text import fields

Row = dict[str, Any]
Key = tuple[object, ...]

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.AGENT,
    "tool": Role.TOOL,
}
JSON_HEAD = "\x00json:"
REVIEW_HEAD = "Review the conversation above and"
SUMMARY_HEADS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
MERGED_SUMMARY = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
INSERTED_HEADS = (
    "[IMPORTANT: ",
    "[System note:",
    "[SYSTEM:",
    "[ASYNC DELEGATION",
    "[Your active task list was preserved",
    "[Continuing toward your standing goal]",
)
DISPOSITIONS = {"none": Disposition.BLOCKED, "unknown": Disposition.INTERRUPTED}


def conversation(rows: Iterable[Row], earlier: frozenset[Key]) -> Iterator[Message]:
    """The record that the rows of one session hold, in the order of their ids.

    `earlier` are the keys of the session that this one continues.
    """
    steps = OpenCalls()
    for index, row in enumerate(_original(list(_own(rows)), earlier)):
        at = fields.seconds(row.get("timestamp"))
        role = ROLES.get(fields.text(row, "role"))
        if role is Role.AGENT:
            steps.begin()
            output = fields.whole(row, "token_count")
            yield content.spoken(
                role,
                _agent_parts(row, steps, index),
                at=at,
                model=fields.text(row, "model"),
                usage=Usage(output=output) if output else None,
                origin=_origin(row),
            )
            yield from content.served(_content(row), at=at)
        elif role is Role.TOOL:
            yield content.answered(_result(row, steps), at=at)
        elif role is Role.USER and _origin(row) is Origin.TURN:
            yield from content.said(content.parts(_content(row)), at=at)
        elif role is not None:
            yield content.spoken(role, content.parts(_content(row)), at=at, origin=_origin(row))


def keys(rows: Iterable[Row]) -> frozenset[Key]:
    """What a continuing session is compared with, to leave out the messages that it only carries over."""
    return frozenset(_key(row) for row in _own(rows))


def _own(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows that belong to the record: not those that were undone, nor a background review's.

    A row that is not active was summarised away if it is compacted, and undone if it is not.
    """
    reviewing = False
    for row in rows:
        if row.get("active", 1) == 0 and not row.get("compacted"):
            continue
        if row.get("role") in ("user", "system"):
            reviewing = _words(row).startswith(REVIEW_HEAD)
        if not reviewing:
            yield row


def _original(rows: list[Row], earlier: frozenset[Key]) -> list[Row]:
    """The rows without the copies that a compaction lays around its summary of what came before."""
    summaries = [index for index, row in enumerate(rows) if _is_summary(row)]
    if not summaries:
        return rows
    repeated = list(_repeated(rows, earlier))
    copies: set[int] = set()
    for index in summaries:
        for step in (-1, 1):
            place = index + step
            while 0 <= place < len(rows) and repeated[place] and not _is_summary(rows[place]):
                copies.add(place)
                place += step
    return [row for index, row in enumerate(rows) if index not in copies]


def _repeated(rows: list[Row], earlier: frozenset[Key]) -> Iterator[bool]:
    """Whether each row says what an earlier one said; a result is repeated when its call is.

    A result's own text does not tell, for a compaction shortens it.
    """
    seen: set[Key] = set(earlier)
    by_call: dict[str, bool] = {}
    for row in rows:
        if row.get("role") == "tool":
            yield by_call.get(fields.text(row, "tool_call_id"), False)
            continue
        found = _key(row)
        by_call.update((call.id, found in seen) for call in _calls(row))
        yield found in seen
        seen.add(found)


def _key(row: Row) -> Key:
    return (row.get("role"), _words(row), *_calls(row))


def _is_summary(row: Row) -> bool:
    words = _words(row)
    return bool(row.get("_compressed_summary")) or words.startswith(SUMMARY_HEADS) or MERGED_SUMMARY in words


def _origin(row: Row) -> Origin:
    if _is_summary(row):
        return Origin.SUMMARY
    # What was overheard in a group, or is hidden from the person, is not said to the agent by the person.
    beside = bool(row.get("observed")) or bool(fields.text(row, "display_kind"))
    if row.get("role") == "user" and (beside or _words(row).startswith(INSERTED_HEADS)):
        return Origin.INSERTED
    return Origin.TURN


def _agent_parts(row: Row, steps: OpenCalls, index: int) -> Iterator[Part]:
    if thought := fields.text(row, "reasoning_content", "reasoning"):
        yield Thought(thought)
    yield from content.parts(_content(row))
    for call in _calls(row):
        yield ToolCall(steps.ask(call.id, call.name, message=index), call.name, call.arguments)


def _calls(row: Row) -> list[ToolCall]:
    found = tables.document(row.get("tool_calls"))
    calls = [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []
    return [_call(call) for call in calls]


def _call(call: dict[str, Any]) -> ToolCall:
    function = fields.mapping(call, "function") or call
    arguments = fields.json_text(function.get("arguments", {}))
    return ToolCall(fields.text(call, "id", "call_id"), fields.text(function, "name"), arguments)


def _result(row: Row, steps: OpenCalls) -> ToolResult:
    name = fields.text(row, "tool_name")
    call_id = steps.answer(fields.text(row, "tool_call_id"), name)
    return content.result(
        call_id,
        _content(row),
        tool=name or steps.names.get(call_id, ""),
        disposition=DISPOSITIONS.get(fields.text(row, "effect_disposition")),
    )


def _content(row: Row) -> object:
    """A row's content: text, or the list of parts that is kept as JSON behind a mark."""
    value = row.get("content")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str) and value.startswith(JSON_HEAD):
        found = tables.document(value.removeprefix(JSON_HEAD))
        return value.removeprefix("\x00") if found is None else found
    return value


def _words(row: Row) -> str:
    value = row.get("content")
    return value.lstrip() if isinstance(value, str) else ""
