"""Hermes: every session of a profile in one database, `state.db`, of schema version 11 to 30."""

from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from whet.agents.formats import content, databases
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.source import Format, Source, Unreadable
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Message, Origin, Purpose, RecordedCheck, Role, ToolCall, Transcript, Usage
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
DISPOSITIONS = {"none": transcripts.Disposition.BLOCKED, "unknown": transcripts.Disposition.INTERRUPTED}

CHECKS_FILE = "verification_evidence.db"
COLUMNS = frozenset({"session_id", "command", "status"})
STATUSES = {"passed": True, "failed": False}

Checks = dict[str, tuple[RecordedCheck, ...]]

NAME = "hermes"
SESSION_COLUMNS = frozenset({"id", "source", "started_at", "end_reason", "parent_session_id"})
MESSAGE_COLUMNS = frozenset({"id", "session_id", "role", "content", "tool_calls", "tool_call_id"})
# Not the bytes as they were sent, which repeat the content, nor anything of the search tables.
READ_COLUMNS = MESSAGE_COLUMNS | {
    "tool_name",
    "effect_disposition",
    "timestamp",
    "token_count",
    "reasoning",
    "reasoning_content",
    "observed",
    "_compressed_summary",
    "active",
    "compacted",
    "display_kind",
    "model",
}
COMPRESSION = "compression"
# The parent of such an end is an earlier conversation of the same person, not one that gave an order.
SIBLING_ENDINGS = frozenset(
    {
        COMPRESSION,
        "branched",
        "session_reset",
        "session_switch",
        "new_session",
        "idle",
        "daily",
        "suspended",
        "resume_pending_expired",
    }
)
SIBLING_MARKS = ("_branched_from", "_reset_from")
DELEGATED_MARK = "_delegate_from"
ANCESTORS = """
    WITH RECURSIVE ancestors (id) AS (
        SELECT parent_session_id FROM sessions WHERE id = ?1
        UNION
        SELECT parent_session_id FROM sessions JOIN ancestors USING (id)
    )
    SELECT count(*) FROM ancestors WHERE id = ?1
"""


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


def _agent_parts(row: Row, steps: OpenCalls, index: int) -> Iterator[transcripts.Part]:
    if thought := fields.text(row, "reasoning_content", "reasoning"):
        yield transcripts.Thought(thought)
    yield from content.parts(_content(row))
    for call in _calls(row):
        yield ToolCall(steps.ask(call.id, call.name, message=index), call.name, call.arguments)


def _calls(row: Row) -> list[ToolCall]:
    found = databases.document(row.get("tool_calls"))
    calls = [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []
    return [_call(call) for call in calls]


def _call(call: dict[str, Any]) -> ToolCall:
    function = fields.mapping(call, "function") or call
    arguments = fields.json_text(function.get("arguments", {}))
    return ToolCall(fields.text(call, "id", "call_id"), fields.text(function, "name"), arguments)


def _result(row: Row, steps: OpenCalls) -> transcripts.ToolResult:
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
        found = databases.document(value.removeprefix(JSON_HEAD))
        return value.removeprefix("\x00") if found is None else found
    return value


def _words(row: Row) -> str:
    value = row.get("content")
    return value.lstrip() if isinstance(value, str) else ""


def load_checks(source: Source) -> Checks:
    """The checks by session, oldest first; Hermes keeps 10,000 of them at most."""
    path = source.path.with_name(CHECKS_FILE)
    if not path.is_file():
        return {}
    checks: Checks = {}
    try:
        with databases.opened(path) as connection:
            if not databases.columns(connection, "verification_events") >= COLUMNS:
                return {}
            for row in databases.rows(connection, "SELECT * FROM verification_events ORDER BY rowid"):
                session = fields.text(row, "session_id")
                checks[session] = (*checks.get(session, ()), _check(row))
    except Unreadable as error:
        source.skip(f"{CHECKS_FILE}: {error}")
    return checks


def _check(row: dict[str, object]) -> RecordedCheck:
    exit_code = fields.code(row, "exit_code")
    facts = (
        fields.text(row, "kind"),
        fields.text(row, "scope"),
        "" if exit_code is None else f"exit code {exit_code}",
    )
    return RecordedCheck(
        name=fields.text(row, "canonical_command", "command"),
        passed=STATUSES.get(fields.text(row, "status")),
        detail=", ".join(filter(None, facts)),
    )


def sniff(source: Source) -> bool:
    if source.kind != "sqlite":
        return False
    with source.database() as connection:
        return (
            databases.columns(connection, "sessions") >= SESSION_COLUMNS
            and databases.columns(connection, "messages") >= MESSAGE_COLUMNS
        )


def read(source: Source) -> Iterator[Transcript]:
    checks = load_checks(source)
    with source.database() as connection:
        yield from databases.sessions(
            connection, "sessions", "started_at", lambda row: _transcript(source, connection, row, checks)
        )


def _transcript(source: Source, connection: apsw.Connection, row: Row, checks: Checks) -> Transcript:
    native_id = fields.text(row, "id")
    parent = _parent(source, connection, row)
    continues = parent.get("end_reason") == COMPRESSION
    earlier = keys(_rows(connection, parent["id"])) if continues else frozenset()
    rows = list(_rows(connection, row["id"]))
    for role in sorted({str(found["role"]) for found in rows} - ROLES.keys()):
        source.skip(f"session {native_id}: messages of the unknown role {role!r}")
    messages = (*_prompt(connection, row), *conversation(rows, earlier))
    purpose = _purpose(row, parent)
    tools = databases.document(row.get("tool_names"))
    return Transcript(
        source=NAME,
        native_id=native_id,
        messages=messages if purpose is Purpose.CHAT else content.delegated(messages),
        parent=fields.text(row, "parent_session_id") if parent else "",
        title=fields.text(row, "title"),
        model=fields.text(row, "model"),
        folder=fields.text(row, "cwd", "git_repo_root"),
        branch=fields.text(row, "git_branch"),
        purpose=purpose,
        ending=_ending(fields.text(row, "end_reason"), messages),
        ending_detail=fields.text(row, "end_reason"),
        started=fields.seconds(row.get("started_at")),
        ended=fields.seconds(row.get("ended_at")),
        tools=tuple(name for name in tools if isinstance(name, str)) if isinstance(tools, list) else (),
        checks=checks.get(native_id, ()),
        usage=_usage(row),
    )


def _rows(connection: apsw.Connection, session_id: object) -> Iterator[Row]:
    wanted = ", ".join(sorted(databases.columns(connection, "messages") & READ_COLUMNS))
    statement = f"SELECT {wanted} FROM messages WHERE session_id = ? ORDER BY id"
    return databases.rows(connection, statement, (session_id,))


def _parent(source: Source, connection: apsw.Connection, row: Row) -> Row:
    """The row of the parent, with no more than its id where the parent was deleted; empty where there is none."""
    parent = row.get("parent_session_id")
    if not parent:
        return {}
    if (connection.execute(ANCESTORS, (row["id"],)).fetchone() or (0,))[0]:
        source.skip(f"session {row['id']}: stored without its parent, because it is its own ancestor")
        return {}
    found = databases.rows(connection, "SELECT * FROM sessions WHERE id = ?", (parent,))
    return next(found, {"id": parent})


def _prompt(connection: apsw.Connection, row: Row) -> Iterator[Message]:
    """The system prompt, which later versions keep once for all sessions, by its hash."""
    prompt, digest = fields.text(row, "system_prompt"), row.get("system_prompt_hash")
    if not prompt and digest and databases.columns(connection, "system_prompts") >= {"hash", "prompt"}:
        found = connection.execute("SELECT prompt FROM system_prompts WHERE hash = ?", (digest,)).fetchone()
        prompt = found[0] if found and isinstance(found[0], str) else ""
    if prompt:
        yield content.spoken(Role.SYSTEM, content.shown(prompt), at=fields.seconds(row.get("started_at")))


def _purpose(row: Row, parent: Row) -> Purpose:
    """A child is a sub-agent's session unless it continues, branches off or follows its parent."""
    settings = databases.document(row.get("model_config"))
    marks = settings.keys() if isinstance(settings, dict) else frozenset[str]()
    if row.get("source") == "cron":
        return Purpose.JOB
    if DELEGATED_MARK in marks or row.get("source") in ("tool", "subagent"):
        return Purpose.SUBTASK
    follows = parent.get("end_reason") in SIBLING_ENDINGS or any(mark in marks for mark in SIBLING_MARKS)
    return Purpose.SUBTASK if parent and not follows else Purpose.CHAT


def _ending(reason: str, messages: tuple[Message, ...]) -> Ending:
    """Hermes says why a session was closed, not whether it was done: then the last message tells."""
    if reason == COMPRESSION:
        return Ending.COMPACTED
    named = {
        "error": Ending.FAILED,
        "fail": Ending.FAILED,
        "interrupt": Ending.INTERRUPTED,
        "budget": Ending.BUDGET,
    }
    return next((how for word, how in named.items() if word in reason), content.settled(messages))


def _usage(row: Row) -> Usage | None:
    """The session's tokens, where those read from and written to the cache are counted apart from the input."""
    counts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    actual = fields.amount(row.get("actual_cost_usd"))
    cost = row.get("estimated_cost_usd") if actual is None else actual
    return content.used(row, *counts, is_apart=True, cost=cost if any(map(row.get, counts)) else None)


FORMAT = Format(
    NAME,
    "Hermes",
    sniff,
    read,
    places=(".hermes/state.db", ".hermes/profiles/*/state.db"),
    variable="HERMES_HOME",
)
