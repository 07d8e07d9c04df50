"""Hermes: every session of a profile in one database, `state.db`, of schema version 11 to 30."""

from collections.abc import Iterator

import apsw
from msgspec import structs

from whet.importers import content, hermes_checks, hermes_messages, tables, turns
from whet.importers.formats import Format
from whet.importers.hermes_checks import Checks
from whet.importers.hermes_messages import Row
from whet.importers.source import Source
from whet.sessions.transcripts import Ending, Message, Purpose, Role, Transcript, Usage
from whet.text import fields

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


def sniff(source: Source) -> bool:
    if source.kind != "sqlite":
        return False
    with source.database() as connection:
        return (
            tables.columns(connection, "sessions") >= SESSION_COLUMNS
            and tables.columns(connection, "messages") >= MESSAGE_COLUMNS
        )


def read(source: Source) -> Iterator[Transcript]:
    checks = hermes_checks.load(source)
    with source.database() as connection:
        # The ids first, so that no read of a long import keeps Hermes from tidying its log.
        ids = [
            found
            for (found,) in connection.execute(
                "SELECT id FROM sessions WHERE typeof(id) = 'text' ORDER BY started_at, id"
            )
        ]
        for session_id in ids:
            with connection:  # one snapshot for a session and all of its messages
                transcripts = [
                    _transcript(source, connection, row, checks)
                    for row in tables.rows(connection, "SELECT * FROM sessions WHERE id = ?", (session_id,))
                ]
            yield from transcripts


def _transcript(source: Source, connection: apsw.Connection, row: Row, checks: Checks) -> Transcript:
    native_id = fields.text(row, "id")
    parent = _parent(source, connection, row)
    continues = parent.get("end_reason") == COMPRESSION
    earlier = hermes_messages.keys(_rows(connection, parent["id"])) if continues else frozenset()
    rows = list(_rows(connection, row["id"]))
    for role in sorted({str(found["role"]) for found in rows} - hermes_messages.ROLES.keys()):
        source.skip(f"session {native_id}: messages of the unknown role {role!r}")
    messages = (*_prompt(connection, row), *hermes_messages.conversation(rows, earlier))
    purpose = _purpose(row, parent)
    tools = tables.document(row.get("tool_names"))
    return Transcript(
        source=NAME,
        native_id=native_id,
        messages=turns.delegated(messages) if purpose is Purpose.SUBTASK else messages,
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
    wanted = ", ".join(sorted(tables.columns(connection, "messages") & READ_COLUMNS))
    statement = f"SELECT {wanted} FROM messages WHERE session_id = ? ORDER BY id"
    return tables.rows(connection, statement, (session_id,))


def _parent(source: Source, connection: apsw.Connection, row: Row) -> Row:
    """The row of the parent, with no more than its id where the parent was deleted; empty where there is none."""
    parent = row.get("parent_session_id")
    if not parent:
        return {}
    if (connection.execute(ANCESTORS, (row["id"],)).fetchone() or (0,))[0]:
        source.skip(f"session {row['id']}: stored without its parent, because it is its own ancestor")
        return {}
    found = tables.rows(connection, "SELECT * FROM sessions WHERE id = ?", (parent,))
    return next(found, {"id": parent})


def _prompt(connection: apsw.Connection, row: Row) -> Iterator[Message]:
    """The system prompt, which later versions keep once for all sessions, by its hash."""
    prompt, digest = fields.text(row, "system_prompt"), row.get("system_prompt_hash")
    if not prompt and digest and tables.columns(connection, "system_prompts") >= {"hash", "prompt"}:
        found = connection.execute("SELECT prompt FROM system_prompts WHERE hash = ?", (digest,)).fetchone()
        prompt = found[0] if found and isinstance(found[0], str) else ""
    if prompt:
        yield content.spoken(Role.SYSTEM, content.shown(prompt), at=fields.seconds(row.get("started_at")))


def _purpose(row: Row, parent: Row) -> Purpose:
    """A child is a sub-agent's session unless it continues, branches off or follows its parent."""
    settings = tables.document(row.get("model_config"))
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
    return next((how for word, how in named.items() if word in reason), turns.settled(messages))


def _usage(row: Row) -> Usage | None:
    """The session's tokens, where those read from and written to the cache are counted apart from the input."""
    cached, written = fields.whole(row, "cache_read_tokens"), fields.whole(row, "cache_write_tokens")
    used = Usage(
        input=fields.whole(row, "input_tokens") + cached + written,
        output=fields.whole(row, "output_tokens"),
        cached=cached,
        cache_written=written,
    )
    if used == Usage():
        return None
    actual, estimated = fields.amount(row.get("actual_cost_usd")), fields.amount(row.get("estimated_cost_usd"))
    return structs.replace(used, cost_dollars=actual if actual is not None else estimated)


FORMAT = Format(
    NAME,
    "Hermes",
    sniff,
    read,
    places=(".hermes/state.db", ".hermes/profiles/*/state.db"),
    variable="HERMES_HOME",
)
