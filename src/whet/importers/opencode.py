"""OpenCode: a session as its export writes it, in one file a message on disk, or in its database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whet.importers import opencode_database
from whet.importers.formats import Format
from whet.importers.opencode_messages import OpenCodeMessage, conversation, ending
from whet.importers.source import Source, Unreadable
from whet.importers.turns import delegated
from whet.sessions.transcripts import Purpose, Transcript
from whet.text import fields

NAME = "opencode"


def sniff(source: Source) -> bool:
    if source.kind == "sqlite":
        return opencode_database.recognise(source)
    return source.kind == "json" and (_is_export(source) or _is_stored(source))


def read(source: Source) -> Iterator[Transcript]:
    if source.kind == "sqlite":
        for info, turns in opencode_database.sessions(source):
            yield _transcript(info, turns)
    elif _is_stored(source):
        yield _transcript(source.sample[0], _stored_turns(source))
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


def _is_stored(source: Source) -> bool:
    """Whether this is the file of a session in the storage folder of versions before the database."""
    record = source.sample[0] if source.sample else {}
    return (
        {"id", "projectID", "title", "time"} <= record.keys()
        and record["id"] == source.path.stem
        and source.path.absolute().parent.parent.name == "session"
    )


def _turn(message: dict[str, Any]) -> OpenCodeMessage:
    return OpenCodeMessage(fields.mapping(message, "info"), fields.objects(message, "parts"))


def _stored_turns(source: Source) -> list[OpenCodeMessage]:
    """The messages of a stored session, gathered from the folders of messages and of parts beside it."""
    storage = source.path.absolute().parent.parent.parent
    turns = []
    for info in _stored(source, storage / "message" / source.path.stem):
        name = fields.text(info, "id")
        is_name = bool(name) and "/" not in name and name not in (".", "..")
        turns.append(OpenCodeMessage(info, list(_stored(source, storage / "part" / name)) if is_name else []))
    return turns


def _stored(source: Source, folder: Path) -> Iterator[dict[str, Any]]:
    """The objects of a folder's files in the order of their names, which is that of their making."""
    for path in sorted(folder.glob("*.json")):
        try:
            yield from Source(path).sample[:1]
        except Unreadable as error:
            source.skip(f"{path.name}: {error}")


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
    places=(".local/share/opencode/opencode*.db", ".local/share/opencode/storage/session/*/*.json"),
)
