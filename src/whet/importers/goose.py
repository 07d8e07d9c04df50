"""Goose: every session in one database, an exported one in a JSON document; older versions wrote a file each."""

from collections.abc import Iterator
from typing import Any

import apsw

from whet.importers import tables, turns
from whet.importers.formats import Format
from whet.importers.goose_messages import Record, conversation
from whet.importers.source import Source
from whet.sessions.transcripts import Purpose, Transcript
from whet.text import fields

NAME = "goose"
SESSION_COLUMNS = frozenset({"id", "working_dir", "created_at", "extension_data"})
MESSAGE_COLUMNS = frozenset({"id", "session_id", "role", "content_json", "created_timestamp"})
PURPOSES = {"sub_agent": Purpose.SUBTASK, "scheduled": Purpose.JOB}


def sniff(source: Source) -> bool:
    if source.kind == "sqlite":
        with source.database() as connection:
            return (
                tables.columns(connection, "sessions") >= SESSION_COLUMNS
                and tables.columns(connection, "messages") >= MESSAGE_COLUMNS
            )
    if source.kind == "json" and _is_export(source.document):
        return True
    return source.kind in ("jsonl", "json") and any(_is_line(record) for record in source.sample)


def _is_export(document: object) -> bool:
    return (
        isinstance(document, dict)
        and "working_dir" in document
        and "extension_data" in document
        and isinstance(document.get("conversation"), list)
    )


def _is_line(record: dict[str, Any]) -> bool:
    """A line of an old file: what it tells first of the session, or a message with a call or a result."""
    kinds = {fields.text(block, "type") for block in fields.objects(record, "content")}
    is_header = {"working_dir", "description", "message_count"} <= record.keys()
    return is_header or ("created" in record and "role" in record and bool(kinds & {"toolRequest", "toolResponse"}))


def read(source: Source) -> Iterator[Transcript]:
    if source.kind == "sqlite":
        yield from _stored(source)
    elif source.kind == "json" and isinstance(source.document, dict) and "conversation" in source.document:
        yield from _session(source, source.document, fields.objects(source.document, "conversation"))
    else:
        lines = [record for _, record in source.session_records()]
        about = next((line for line in lines if "working_dir" in line and "role" not in line), {})
        messages = [line for line in lines if "role" in line]
        yield from _session(source, {"id": source.path.stem, **about}, messages)


def _stored(source: Source) -> Iterator[Transcript]:
    with source.database() as connection:
        # The ids first, so that no read of a long import keeps Goose from tidying its log.
        ids = [
            found
            for (found,) in connection.execute(
                "SELECT id FROM sessions WHERE typeof(id) = 'text' ORDER BY created_at, id"
            )
        ]
        for session_id in ids:
            with connection:  # one snapshot for a session and all of its messages
                transcripts = [
                    transcript
                    for row in tables.rows(connection, "SELECT * FROM sessions WHERE id = ?", (session_id,))
                    for transcript in _session(source, row, _messages(source, connection, session_id))
                ]
            yield from transcripts


def _messages(source: Source, connection: apsw.Connection, session_id: str) -> list[Record]:
    """A session's messages in the order in which they were written: a compaction gives all of them one time."""
    messages: list[Record] = []
    for row in tables.rows(connection, "SELECT * FROM messages WHERE session_id = ? ORDER BY id", (session_id,)):
        blocks = tables.document(row["content_json"])
        if not isinstance(blocks, list):
            source.skip(f"session {session_id}: message {row['id']} is not a JSON list")
            continue
        about = tables.document(row.get("metadata_json"))
        created = row["created_timestamp"]
        messages.append({"role": row["role"], "created": created, "content": blocks, "metadata": about})
    return messages


def _session(source: Source, about: dict[str, Any], records: list[Record]) -> Iterator[Transcript]:
    native_id, messages = fields.text(about, "id"), conversation(records)
    if not messages:
        source.skip(f"session {native_id}: no conversation in it")
        return
    purpose = PURPOSES.get(fields.text(about, "session_type"), Purpose.CHAT)
    settings = about.get("model_config") or tables.document(about.get("model_config_json"))
    started, ended = turns.span(messages, fields.seconds(about.get("created_at")))
    yield Transcript(
        source=NAME,
        native_id=native_id or source.path.stem,
        messages=turns.delegated(messages) if purpose is Purpose.SUBTASK else messages,
        parent=fields.text(about, "parent_session_id"),
        title=fields.text(about, "name", "description"),
        model=fields.text(settings, "model_name") if isinstance(settings, dict) else "",
        folder=fields.text(about, "working_dir"),
        purpose=purpose,
        ending=turns.settled(messages),
        started=started,
        ended=ended,
    )


FORMAT = Format(
    NAME,
    "Goose",
    sniff,
    read,
    # The old files first: Goose took them into its database under the same ids, and went on there.
    places=(".local/share/goose/sessions/*.jsonl", ".local/share/goose/sessions/sessions.db"),
)
