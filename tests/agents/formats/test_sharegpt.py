"""ShareGPT conversations and Hermes' trajectories."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents import recognising as registry
from whet.agents.formats import sharegpt
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Ending, Role, Text, Thought, Transcript, pair

CALL_A = '<tool_call>\n{"name": "terminal", "arguments": {"command": "ls"}}\n</tool_call>'
CALL_B = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call>'
RESPONSES = (
    '<tool_response>\n{"tool_call_id": "x1", "name": "terminal", "content": {"output": "a.txt", "exit_code": 0}}\n'
    "</tool_response>\n<tool_response>\n"
    '{"tool_call_id": "x2", "name": "read_file", "content": "hello"}\n</tool_response>'
)
TRAJECTORY: dict[str, Any] = {
    "conversations": [
        {"from": "system", "value": "You may call tools."},
        {"from": "human", "value": "What is in a.txt?"},
        {"from": "gpt", "value": f"<think>\nList, then read.\n</think>\nLooking.\n{CALL_A}\n{CALL_B}"},
        {"from": "tool", "value": RESPONSES},
        {"from": "gpt", "value": "<think></think>\nIt says hello."},
    ],
    "timestamp": "2026-03-01T10:00:00",
    "model": "hermes-4-70b",
    "completed": True,
}
PLAIN = {"id": "chat_1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}]}


def source(path: Path, *values: object) -> Source:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return Source(path)


def read(found: Source) -> list[Transcript]:
    known = registry.recognise(found)
    assert known is not None
    return list(known.read(found))


def test_a_trajectory_is_read_with_its_thoughts_calls_and_results(tmp_path: Path) -> None:
    (found,) = read(source(tmp_path / "trajectory_samples.jsonl", TRAJECTORY))
    assert (found.source, found.model, found.ending) == ("hermes-trajectory", "hermes-4-70b", Ending.FINISHED)
    agent = found.messages[2]
    assert agent.parts[:2] == (Thought("List, then read."), Text("Looking."))
    assert [e.call.id for e in pair(found.messages).exchanges] == ["call-2-0", "call-2-1"]
    results = [e.result and e.result.text for e in pair(found.messages).exchanges]
    assert results == ['{"output":"a.txt","exit_code":0}', "hello"]
    assert found.messages[-1].parts == (Text("It says hello."),)


def test_results_without_a_name_answer_by_their_place(tmp_path: Path) -> None:
    said = [
        {"from": "gpt", "value": CALL_A + CALL_B},
        {"from": "tool", "value": "<tool_response>first</tool_response><tool_response>second</tool_response>"},
    ]
    (found,) = read(source(tmp_path / "t.jsonl", {"conversations": said}))
    results = {e.call.name: e.result and e.result.text for e in pair(found.messages).exchanges}
    assert results == {"terminal": "first", "read_file": "second"}


def test_a_result_of_the_second_tool_alone_is_not_given_to_the_first(tmp_path: Path) -> None:
    body = '<tool_response>{"name": "read_file", "content": "hello"}</tool_response>'
    said = [{"from": "gpt", "value": CALL_A + CALL_B}, {"from": "tool", "value": body}]
    (found,) = read(source(tmp_path / "t.jsonl", {"conversations": said}))
    answered = [e.call.name for e in pair(found.messages).exchanges if e.result]
    assert answered == ["read_file"]


def test_a_trajectory_that_was_not_completed_has_failed(tmp_path: Path) -> None:
    (found,) = read(source(tmp_path / "failed_trajectories.jsonl", {**TRAJECTORY, "completed": False}))
    assert found.ending is Ending.FAILED


def test_plain_conversations_are_sharegpt_and_keep_their_ids(tmp_path: Path) -> None:
    found = read(source(tmp_path / "chats.jsonl", PLAIN, {**PLAIN, "id": "chat_2"}))
    assert [(one.source, one.native_id) for one in found] == [("sharegpt", "chat_1"), ("sharegpt", "chat_2")]
    assert [message.role for message in found[0].messages] == [Role.USER, Role.AGENT]


def test_several_trajectories_of_a_file_have_ids_of_their_own(tmp_path: Path) -> None:
    ids = {found.native_id for found in read(source(tmp_path / "t.jsonl", TRAJECTORY, TRAJECTORY))}
    assert len(ids) == 2


def test_words_about_a_tool_call_stay_words(tmp_path: Path) -> None:
    said = [{"from": "human", "value": "How?"}, {"from": "gpt", "value": "Write <tool_call>name</tool_call>."}]
    (found,) = read(source(tmp_path / "t.jsonl", {"conversations": said}))
    assert found.messages[1].calls == ()
    assert "<tool_call>name</tool_call>" in found.messages[1].text


def test_a_thought_that_never_closes_is_a_thought(tmp_path: Path) -> None:
    said = [{"from": "gpt", "value": "<think>so I should"}]
    (found,) = read(source(tmp_path / "t.jsonl", {"conversations": said}))
    assert found.messages[0].parts == (Thought("so I should"),)


def test_a_line_of_another_form_is_reported(tmp_path: Path) -> None:
    found = source(tmp_path / "t.jsonl", PLAIN, {**PLAIN, "id": "other"})
    found.path.write_text(found.path.read_text() + '{"version": 1}\n')
    assert len(list(sharegpt.read(found))) == 2
    assert [skipped.line for skipped in found.skipped] == [3]


@pytest.mark.parametrize(
    "value",
    [
        {"conversations": []},
        {"conversations": [{"from": "alice@example.org", "value": "Lunch?"}]},
        {"conversations": [{"role": "user", "content": "Hi"}]},
        {"conversations": "none"},
    ],
)
def test_other_conversations_are_not_sharegpt(tmp_path: Path, value: object) -> None:
    assert not sharegpt.sniff(source(tmp_path / "t.json", value))
