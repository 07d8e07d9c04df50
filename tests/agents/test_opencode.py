"""OpenCode's export, its storage folder and its database."""

import contextlib
import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from whet.agents import opencode
from whet.agents.formats.source import Source
from whet.proving.executing import RecordWatch
from whet.sessions.transcripts import Disposition, Ending, Origin, Purpose, Role, Thought, Transcript, Usage, pair
from whet.sessions.trust import Trust

INFO: dict[str, Any] = {
    "id": "ses_1",
    "projectID": "proj",
    "directory": "/home/ada/shop",
    "title": "Round prices",
    "version": "1.2.3",
    "time": {"created": 1_770_000_000_000, "updated": 1_770_000_060_000},
}
TOKENS = {"input": 10, "output": 20, "reasoning": 5, "cache": {"read": 100, "write": 7}}


def tool(call_id: str, status: str, **state: Any) -> dict[str, Any]:
    given = {"status": status, "input": {"command": "make"}, "time": {"start": 1_770_000_002_000}, **state}
    return {"id": f"prt_{call_id}", "type": "tool", "tool": "bash", "callID": call_id, "state": given}


def text(words: str, **values: Any) -> dict[str, Any]:
    return {"id": f"prt_{words[:8]}", "type": "text", "text": words, **values}


def turn(number: int, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    time = {
        "created": 1_770_000_000_000 + number,
        **({"completed": 1_770_000_009_000} if role == "assistant" else {}),
    }
    known = {"id": f"msg_{number}", "role": role, "time": time, "sessionID": "ses_1"}
    if role == "assistant":
        known |= {"modelID": "claude-sonnet-4-5", "providerID": "anthropic"}
    return {"info": {**known, **info}, "parts": list(parts)}


ASKED = turn(1, "user", text("Round the prices."))
ANSWERED = turn(
    2,
    "assistant",
    {"type": "step-start"},
    {"type": "reasoning", "text": "Look first."},
    text("Building."),
    tool("call_1", "completed", output="error: 1", metadata={"exit": 2}),
    tool("call_2", "completed", output="ok", metadata={"exit": 0}),
    {"type": "step-finish", "tokens": TOKENS, "cost": 0.5},
    {"type": "step-start"},
    text("Rounded."),
    {"type": "step-finish", "tokens": {"input": 1, "output": 2}},
)


def export(tmp_path: Path, *turns: dict[str, Any], **info: Any) -> Source:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": {**INFO, **info}, "messages": list(turns)}, indent=2))
    return Source(path)


def database(tmp_path: Path, *turns: dict[str, Any]) -> Source:
    path = tmp_path / "opencode.db"
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT,"
        " title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER)"
    )
    connection.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
    connection.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
    time = INFO["time"]
    row = ("ses_1", "proj", None, "s", INFO["directory"], INFO["title"], INFO["version"], None)
    connection.execute(
        "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, time["created"], time["updated"])
    )
    for found in turns:
        info = {name: value for name, value in found["info"].items() if name not in ("id", "sessionID")}
        values = (found["info"]["id"], "ses_1", info["time"]["created"], json.dumps(info))
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", values)
        for number, part in enumerate(found["parts"]):
            body = json.dumps({name: value for name, value in part.items() if name != "id"})
            part_values = (f"prt_{number:04}", found["info"]["id"], "ses_1", body)
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", part_values)
    connection.close()
    return Source(path)


def read(source: Source) -> Transcript:
    assert opencode.sniff(source)
    (found,) = opencode.read(source)
    return found


def test_the_steps_of_an_answer_are_messages_of_their_own(tmp_path: Path) -> None:
    found = read(export(tmp_path, ASKED, ANSWERED))
    roles = [Role.USER, Role.AGENT, Role.TOOL, Role.TOOL, Role.AGENT]
    assert [message.role for message in found.messages] == roles
    assert found.messages[1].parts[0] == Thought("Look first.")
    usage = Usage(input=117, output=25, cached=100, cache_written=7, cost_dollars=0.5)
    assert [message.usage for message in found.messages if message.role is Role.AGENT] == [
        usage,
        Usage(input=1, output=2),
    ]
    assert [result.exit_code for message in found.messages for result in message.results] == [2, 0]
    assert [result.error for message in found.messages for result in message.results] == [None, False]
    assert (found.native_id, found.model, found.folder) == ("ses_1", "claude-sonnet-4-5", "/home/ada/shop")
    assert (found.started, found.ended) == (1_770_000_000.0, 1_770_000_060.0)
    assert found.ending is Ending.FINISHED


def test_the_database_tells_the_same_as_the_export(tmp_path: Path) -> None:
    expected = read(export(tmp_path, ASKED, ANSWERED))
    assert read(database(tmp_path, ASKED, ANSWERED)) == expected


def test_a_call_that_never_ended_has_no_result(tmp_path: Path) -> None:
    found = read(export(tmp_path, turn(1, "assistant", tool("a", "running"), tool("b", "pending"))))
    assert [exchange.result for exchange in pair(found.messages).exchanges] == [None, None]


@pytest.mark.parametrize(
    ("error", "disposition"),
    [
        ("The user rejected permission to use this specific tool call.", Disposition.REJECTED),
        ("Error: The user rejected permission to use this specific tool call.", Disposition.REJECTED),
        ("The user has specified a rule which prevents you from using this tool.", Disposition.BLOCKED),
        ("Tool execution aborted", Disposition.INTERRUPTED),
        ("File not found: a.ts", None),
    ],
)
def test_why_a_call_did_not_run_is_kept(tmp_path: Path, error: str, disposition: Disposition | None) -> None:
    found = read(export(tmp_path, turn(1, "assistant", tool("a", "error", error=error))))
    (result,) = found.messages[1].results
    assert (result.error, result.disposition, result.text) == (True, disposition, error)


def test_what_is_put_beside_the_users_words_is_not_theirs(tmp_path: Path) -> None:
    attached = {
        "type": "file",
        "mime": "image/png",
        "filename": "shot.png",
        "url": "data:image/png;base64,iVBORw0K",
    }
    words = text("Called the Read tool", synthetic=True)
    found = read(export(tmp_path, turn(1, "user", text("See @a.ts"), words, attached)))
    assert [(m.text, m.origin, m.trust) for m in found.messages] == [
        ("See @a.ts", Origin.TURN, Trust.USER),
        ("Called the Read tool", Origin.INSERTED, Trust.TOOL),
    ]
    assert type(found.messages[0].parts[1]).__name__ == "Media"


def test_an_aborted_answer_is_an_interrupt(tmp_path: Path) -> None:
    error = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    found = read(export(tmp_path, turn(1, "assistant", text("Let me"), error=error)))
    assert (found.ending, found.messages[-1].origin) == (Ending.INTERRUPTED, Origin.INTERRUPT)


def test_an_error_of_the_provider_is_kept_apart_from_the_agents_words(tmp_path: Path) -> None:
    error = {"name": "APIError", "data": {"message": "overloaded", "statusCode": 529}}
    found = read(export(tmp_path, turn(1, "assistant", error=error)))
    assert (found.ending, found.ending_detail) == (Ending.FAILED, "APIError")
    assert [(m.text, m.origin) for m in found.messages] == [("overloaded", Origin.INSERTED)]


def test_a_summary_is_marked(tmp_path: Path) -> None:
    found = read(export(tmp_path, turn(1, "assistant", text("So far:"), summary=True)))
    assert found.messages[0].origin is Origin.SUMMARY


def test_messages_that_the_user_took_back_are_left_out(tmp_path: Path) -> None:
    undone = read(export(tmp_path, ASKED, ANSWERED, turn(3, "user", text("No!")), revert={"messageID": "msg_2"}))
    assert [message.text for message in undone.messages] == ["Round the prices."]
    partly = read(export(tmp_path, ASKED, ANSWERED, revert={"messageID": "msg_2", "partID": "prt_call_1"}))
    assert [message.text for message in partly.messages] == ["Round the prices.", "Building."]


def test_a_child_session_is_a_subtask(tmp_path: Path) -> None:
    found = read(export(tmp_path, ASKED, parentID="ses_0"))
    assert (found.parent, found.purpose) == ("ses_0", Purpose.SUBTASK)
    assert found.messages[0].trust is Trust.AGENT


def test_broken_rows_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    source = database(tmp_path, ASKED, ANSWERED)
    connection = apsw.Connection(str(source.path))
    connection.execute("INSERT INTO message VALUES ('msg_9', 'ses_1', 1, '{broken')")
    connection.close()
    assert len(read(source).messages) == 5
    assert "msg_9" in source.skipped[0].reason


@pytest.mark.parametrize(
    "value",
    [
        {"info": {"id": "ses_1"}, "messages": []},
        {"info": {"title": "A conference"}, "messages": [{"from": "chair"}]},
        {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}},
        {"id": "ses_1", "projectID": "p", "title": "t", "time": {}},
    ],
)
def test_other_files_are_not_opencode(tmp_path: Path, value: object) -> None:
    path = tmp_path / "ses_1.json"
    path.write_text(json.dumps(value))
    assert not opencode.sniff(Source(path))


def test_other_databases_are_not_opencode(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE session (id TEXT, time_created INTEGER)")
    connection.close()
    assert not opencode.sniff(Source(path))


def test_a_record_that_grows_in_the_log_of_its_database_is_looked_at_again(tmp_path: Path) -> None:
    """OpenCode's database stays as it is while a session goes on: SQLite writes to a log beside it."""
    path = database(tmp_path, ASKED, ANSWERED).path
    watch = RecordWatch(tmp_path, "*.db", lambda transcript: "later" in transcript.messages[0].text)
    assert not watch.look()
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        connection.pragma("journal_mode", "wal")
        watch.look()
        size = path.stat().st_size
        body = json.dumps({"type": "text", "text": "Round them later."})
        connection.execute("UPDATE part SET data = ? WHERE message_id = 'msg_1'", (body,))
        assert path.stat().st_size == size
        assert watch.look()
