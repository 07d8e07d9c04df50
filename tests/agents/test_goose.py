"""Goose's sessions become transcripts, from its database, its export and its older files."""

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from whet.agents import goose
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Disposition, Ending, Origin, Purpose, Role, Thought, Transcript, Usage, pair
from whet.sessions.trust import Trust

Json = dict[str, Any]
SEEN: Json = {"userVisible": True, "agentVisible": True}
HIDDEN: Json = {"userVisible": False, "agentVisible": True}
DECLINED = (
    "The user has declined to run this tool. DO NOT attempt to call this tool again. If there are no alternative"
    " methods to proceed, clearly explain the situation and STOP."
)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def message(role: str, *blocks: Json, metadata: Json = SEEN) -> Json:
    return {"role": role, "created": 1772355600, "content": list(blocks), "metadata": metadata}


def call(call_id: str, name: str = "shell", place: int = 0) -> Json:
    asked = {"status": "success", "value": {"name": name, "arguments": {"command": "ls"}}}
    return {
        "type": "toolRequest",
        "id": call_id,
        "toolCall": asked,
        "_meta": {"goose.toolCall.providerIndex": place},
    }


def answer(call_id: str, words: str, **envelope: Any) -> Json:
    value = {"content": [text(words)], **envelope}
    return message("user", {"type": "toolResponse", "id": call_id, "toolResult": {"status": "success", "value": value}})


def exported(folder: Path, *messages: Json, **about: Any) -> Transcript:
    session = {"id": "20260301_1", "working_dir": "/home/ada/kiln", "name": "Kiln", "extension_data": {}, **about}
    path = folder / "session.json"
    path.write_text(json.dumps({**session, "conversation": list(messages)}))
    source = Source(path)
    assert goose.sniff(source)
    (transcript,) = goose.read(source)
    return transcript


def stored(folder: Path, sessions: list[Json], messages: list[tuple[str, Json | str]]) -> Source:
    path = folder / "sessions.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT,"
            " created_at TEXT, extension_data TEXT, model_config_json TEXT, parent_session_id TEXT)"
        )
        connection.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,"
            " created_timestamp INTEGER, metadata_json TEXT)"
        )
        for row in sessions:
            connection.execute(
                "INSERT INTO sessions VALUES (:id, 'Kiln', :type, '/home/ada/kiln', '2026-03-01 09:00:00', '{}',"
                """ '{"model_name": "claude-sonnet-4-5"}', :parent)""",
                row,
            )
        for session_id, found in messages:
            body = json.dumps(found["content"]) if isinstance(found, dict) else found
            about = json.dumps(found["metadata"]) if isinstance(found, dict) else None
            role = found["role"] if isinstance(found, dict) else "user"
            connection.execute(
                "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json)"
                " VALUES (?, ?, ?, 1772355600, ?)",
                (session_id, role, body, about),
            )
    return Source(path)


def test_a_database_gives_its_sessions_and_sub_agents(tmp_path: Path) -> None:
    source = stored(
        tmp_path,
        [
            {"id": "20260301_1", "type": "user", "parent": None},
            {"id": "20260301_2", "type": "sub_agent", "parent": "20260301_1"},
        ],
        [
            ("20260301_1", message("user", text("what is here?"))),
            ("20260301_1", message("assistant", text("Two things."))),
            ("20260301_2", message("user", text("count them"))),
            ("20260301_2", message("assistant", text("Two."))),
        ],
    )
    assert goose.sniff(source)
    main, part = goose.read(source)
    assert (main.native_id, main.folder, main.model) == ("20260301_1", "/home/ada/kiln", "claude-sonnet-4-5")
    assert (main.title, main.ending, main.purpose) == ("Kiln", Ending.FINISHED, Purpose.CHAT)
    assert (part.parent, part.purpose, part.messages[0].trust) == ("20260301_1", Purpose.SUBTASK, Trust.AGENT)


def test_a_message_that_is_no_json_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    source = stored(
        tmp_path,
        [{"id": "a", "type": "user", "parent": None}, {"id": "b", "type": "scheduled", "parent": None}],
        [("a", message("user", text("hi"))), ("a", "not json"), ("b", "{}")],
    )
    assert [len(transcript.messages) for transcript in goose.read(source)] == [1, 0]
    assert [skipped.reason for skipped in source.skipped] == [
        "session a: message 2 is not a JSON list",
        "session b: message 3 is not a JSON list",
    ]


def test_calls_that_were_asked_for_at_once_are_one_turn(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": ""}
    used = {**SEEN, "usage": {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60}}
    transcript = exported(
        tmp_path,
        message("user", text("go")),
        message("assistant", thought, call("a"), metadata=used),
        answer("a", "first", isError=False),
        message("assistant", thought, call("b", place=1)),
        answer("b", "second", isError=False),
        message("assistant", text("Done.")),
    )
    turn = transcript.messages[1]
    assert [part.id for part in turn.calls] == ["a", "b"]
    assert turn.parts.count(Thought("hm")) == 1
    assert turn.usage == Usage(input=100, output=7, cached=60)
    exchanges, orphans = pair(transcript.messages)
    assert not orphans
    assert [found.result.text for found in exchanges if found.result] == ["first", "second"]


def test_the_sources_word_on_how_a_call_went_is_kept(tmp_path: Path) -> None:
    broken = {"type": "toolResponse", "id": "c", "toolResult": {"status": "error", "error": "-32603: no such tool"}}
    old = {"type": "toolResponse", "id": "d", "toolResult": {"status": "success", "value": [text("bare")]}}
    transcript = exported(
        tmp_path,
        message("assistant", call("a", "developer__shell"), call("b"), call("c"), call("d"), call("e")),
        answer("a", "fine", isError=False, structuredContent={"stdout": "fine", "exit_code": 0}),
        answer("b", "no", isError=True, structuredContent={"exit_code": 3}),
        message("user", broken),
        message("user", old),
        answer("e", DECLINED),
    )
    found = [result for turn in transcript.messages for result in turn.results]
    assert [(result.error, result.exit_code) for result in found] == [
        (False, 0),
        (True, 3),
        (True, None),
        (None, None),
        (None, None),
    ]
    assert [result.text for result in found[2:4]] == ["-32603: no such tool", "bare"]
    assert [result.disposition for result in found] == [None, None, None, None, Disposition.REJECTED]
    assert {result.tool for result in found} == {"shell"}


def test_a_call_that_could_not_be_read_keeps_the_reason(tmp_path: Path) -> None:
    failed = {"type": "toolRequest", "id": "a", "toolCall": {"status": "error", "error": "-32602: bad arguments"}}
    (turn,) = exported(tmp_path, message("assistant", failed)).messages
    assert turn.calls[0].arguments == "-32602: bad arguments"


def test_what_the_person_never_saw_is_not_their_word(tmp_path: Path) -> None:
    context = message("user", text("<turn-context>now</turn-context>"), metadata={**HIDDEN, "turnContext": True})
    transcript = exported(
        tmp_path,
        message("user", text("go")),
        context,
        message("user", text("so far: nothing"), metadata=HIDDEN),
        message("assistant", text("Your context was compacted."), metadata=HIDDEN),
        message("assistant", {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "compacted"}),
    )
    assert [(m.role, m.origin, m.trust) for m in transcript.messages] == [
        (Role.USER, Origin.TURN, Trust.USER),
        (Role.USER, Origin.INSERTED, Trust.TOOL),
        (Role.USER, Origin.SUMMARY, Trust.TOOL),
        (Role.AGENT, Origin.INSERTED, Trust.AGENT),
    ]
