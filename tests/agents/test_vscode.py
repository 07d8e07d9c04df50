"""Chats with Copilot in VS Code become transcripts."""

import json
from pathlib import Path
from typing import Any

from whet.agents import copilot, vscode
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Ending, Origin, Role, Text, Thought, ToolCall, Transcript, pair

Json = dict[str, Any]
SESSION: Json = {"version": 3, "creationDate": 1772355600000, "sessionId": "9b1f", "customTitle": "Glaze"}


def call(call_id: str) -> Json:
    return {"id": call_id, "name": "run_in_terminal", "arguments": '{"command": "ls"}'}


def tree(*texts: str) -> Json:
    children = [{"type": 2, "text": text, "lineBreakBefore": True} for text in texts]
    return {"content": [{"value": {"node": {"type": 1, "children": [{"type": 1, "children": children}]}}}]}


def request(words: str, *rounds: Json, results: Json | None = None, **rest: Any) -> Json:
    about = {"toolCallRounds": list(rounds), "toolCallResults": results or {}}
    return {
        "requestId": "r",
        "timestamp": 1772355601000,
        "modelId": "copilot/gpt-4o",
        "message": {"text": words, "parts": []},
        "response": [],
        "result": {"metadata": about},
        **rest,
    }


def lines(folder: Path, *records: Json) -> Source:
    path = folder / "chatSessions" / "9b1f.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return Source(path)


def read(folder: Path, *requests: Json) -> Transcript:
    path = folder / "chatSessions" / "9b1f.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**SESSION, "requests": list(requests)}, indent=1))
    source = Source(path)
    assert vscode.sniff(source)
    assert not copilot.sniff(source)
    (transcript,) = vscode.read(source)
    return transcript


def test_a_chat_with_parallel_calls(tmp_path: Path) -> None:
    (tmp_path / "workspace.json").write_text('{"folder": "file:///home/ada/my%20kiln"}')
    asked = {"response": "I look.", "toolCalls": [call("a"), call("b")], "thinking": {"id": "t", "text": "hm"}}
    results = {"a": tree("first", "second"), "b": {"content": [{"value": "plain"}]}}
    transcript = read(tmp_path, request("what is here?", asked, {"response": "Two.", "toolCalls": []}, results=results))
    exchanges, orphans = pair(transcript.messages)
    assert not orphans
    assert [found.result.text for found in exchanges if found.result] == ["first\nsecond", "plain"]
    turn = transcript.messages[1]
    assert turn.parts == (
        Thought("hm"),
        Text("I look."),
        ToolCall("a", "run_in_terminal", '{"command": "ls"}'),
        ToolCall("b", "run_in_terminal", '{"command": "ls"}'),
    )
    assert (transcript.native_id, transcript.title, transcript.folder) == ("9b1f", "Glaze", "/home/ada/my kiln")
    assert (transcript.model, transcript.ending) == ("copilot/gpt-4o", Ending.FINISHED)


def test_a_log_of_changes_is_carried_out(tmp_path: Path) -> None:
    answered = {"metadata": {"toolCallRounds": [{"response": "hello", "toolCalls": []}]}}
    source = lines(
        tmp_path,
        {"kind": 0, "v": {**SESSION, "requests": []}},
        {"kind": 2, "k": ["requests"], "v": [request("taken back")]},
        {"kind": 2, "k": ["requests"], "v": [request("hi")], "i": 0},
        {"kind": 1, "k": ["requests", 0, "result"], "v": answered},
        {"kind": 3, "k": ["customTitle"]},
        {"kind": 1, "k": ["requests", 7, "result"], "v": answered},
    )
    assert vscode.sniff(source)
    (transcript,) = vscode.read(source)
    assert [message.text for message in transcript.messages] == ["hi", "hello"]
    assert transcript.title == ""
    assert [(each.line, each.reason) for each in source.skipped] == [(6, "a change to something that is not there")]


def test_an_answer_without_rounds_is_what_stood_on_the_screen(tmp_path: Path) -> None:
    shown = [{"value": "It is "}, {"kind": "progressTask", "value": "working"}, {"value": "42."}]
    _, answer = read(tmp_path, request("what is it?", response=shown)).messages
    assert (answer.role, answer.text) == (Role.AGENT, "It is 42.")


def test_a_cancelled_answer_is_an_interrupt(tmp_path: Path) -> None:
    for state in ({"isCanceled": True}, {"modelState": {"value": 2}}):
        transcript = read(tmp_path, request("go", {"response": "I", "toolCalls": []}, **state))
        assert transcript.messages[-1].origin is Origin.INTERRUPT
        assert transcript.ending is Ending.INTERRUPTED


def test_a_request_that_failed_last_is_how_the_chat_ended(tmp_path: Path) -> None:
    transcript = read(tmp_path, request("go", result={"errorDetails": {"message": "rate limited"}}))
    assert (transcript.ending, transcript.ending_detail) == (Ending.FAILED, "rate limited")
