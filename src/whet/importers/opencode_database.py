"""OpenCode's database, read one session at a time: the export's objects, kept as JSON columns."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from whet.importers import tables
from whet.importers.opencode_messages import OpenCodeMessage
from whet.importers.source import Source
from whet.text import fields

SESSION_COLUMNS = frozenset({"id", "time_created"})
MESSAGE_COLUMNS = frozenset({"id", "session_id", "data", "time_created"})
PART_COLUMNS = frozenset({"id", "message_id", "session_id", "data"})


class Stored(NamedTuple):
    """A session as the database holds it."""

    info: dict[str, Any]
    turns: list[OpenCodeMessage]


def recognise(source: Source) -> bool:
    with source.database() as connection:
        return (
            tables.columns(connection, "session") >= SESSION_COLUMNS
            and tables.columns(connection, "message") >= MESSAGE_COLUMNS
            and tables.columns(connection, "part") >= PART_COLUMNS
        )


def sessions(source: Source) -> Iterator[Stored]:
    with source.database() as connection:
        # The ids first, so that no read of a long import keeps the owner from tidying its log.
        ids = [
            found
            for (found,) in connection.execute(
                "SELECT id FROM session WHERE typeof(id) = 'text' ORDER BY time_created, id"
            )
        ]
        for session_id in ids:
            with connection:  # one snapshot for a session and all of its messages
                stored = [
                    Stored(_info(row), _turns(source, connection, session_id))
                    for row in tables.rows(connection, "SELECT * FROM session WHERE id = ?", (session_id,))
                ]
            yield from stored


def _info(row: dict[str, Any]) -> dict[str, Any]:
    """The row in the words of the export."""
    return {
        "id": row["id"],
        "parentID": row.get("parent_id"),
        "title": row.get("title"),
        "directory": row.get("directory"),
        "version": row.get("version"),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
        "revert": tables.document(row.get("revert")),
    }


def _turns(source: Source, connection: apsw.Connection, session_id: object) -> list[OpenCodeMessage]:
    parts: dict[str, list[dict[str, Any]]] = {}
    statement = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id"
    for row in tables.rows(connection, statement, (session_id,)):
        found = tables.document(row["data"])
        if isinstance(found, dict):
            parts.setdefault(row["message_id"], []).append({**found, "id": row["id"]})
        else:
            source.skip(f"session {session_id}: part {row['id']} is not a JSON object")
    statement = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    turns = []
    for row in tables.rows(connection, statement, (session_id,)):
        found = tables.document(row["data"])
        if isinstance(found, dict):
            turns.append(OpenCodeMessage({**found, "id": fields.text(row, "id")}, parts.get(row["id"], [])))
        else:
            source.skip(f"session {session_id}: message {row['id']} is not a JSON object")
    return turns
