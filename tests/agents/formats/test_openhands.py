"""OpenHands event lists and evaluation rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents import recognising as registry
from whet.agents.formats.source import Source
from whet.sessions.transcripts import (
    Disposition,
    Ending,
    Media,
    Origin,
    RecordedCheck,
    Role,
    Thought,
    Transcript,
    Usage,
    pair,
)
from whet.sessions.trust import Trust

ASK = {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it.", "image_urls": None}}


def run(number: int, command: str, **more: Any) -> dict[str, Any]:
    arguments = {"command": command, "thought": "", "hidden": False}
    return {"id": number, "source": "agent", "action": "run", "args": arguments, **more}


def ran(number: int, cause: int, content: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "source": "agent", "observation": "run", "cause": cause, "content": content, **more}


def state(number: int, word: str, reason: str = "") -> dict[str, Any]:
    extras = {"agent_state": word, "reason": reason}
    return {
        "id": number,
        "source": "environment",
        "observation": "agent_state_changed",
        "content": "",
        "extras": extras,
    }


def called(call_id: str, arguments: dict[str, Any], response: str = "r1") -> dict[str, Any]:
    call = {"id": call_id, "function": {"name": "execute_bash", "arguments": json.dumps(arguments)}}
    return {
        "function_name": "execute_bash",
        "tool_call_id": call_id,
        "model_response": {
            "id": response,
            "model": "claude-sonnet-4-5",
            "choices": [{"message": {"content": "", "tool_calls": [call]}}],
            "usage": {"prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 40}},
        },
    }


def transcripts(path: Path) -> list[Transcript]:
    source = Source(path)
    known = registry.recognise(source)
    assert known is not None
    assert known.name == "openhands"
    return list(known.read(source))


def transcript(folder: Path, *events: dict[str, Any]) -> Transcript:
    path = folder / "trajectory.json"
    path.write_text(json.dumps(list(events), indent=2))
    [found] = transcripts(path)
    return found


def test_an_observation_is_paired_with_the_action_that_caused_it(tmp_path: Path) -> None:
    found = transcript(tmp_path, ASK, run(1, "ls"), run(2, "pwd"), ran(3, 2, "/workspace"), ran(4, 1, "a.py"))
    paired = pair(found.messages)
    assert [(e.call.arguments, e.result and e.result.text) for e in paired.exchanges] == [
        ('{"command":"ls"}', "a.py"),
        ('{"command":"pwd"}', "/workspace"),
    ]
    assert paired.orphans == ()


def test_a_call_has_the_name_and_arguments_that_the_model_gave(tmp_path: Path) -> None:
    metadata = called("toolu_1", {"command": "ls", "security_risk": "LOW"})
    action = run(1, "ls", tool_call_metadata=metadata)
    found = transcript(tmp_path, ASK, action, ran(2, 1, "a.py", tool_call_metadata=metadata))
    [exchange] = pair(found.messages).exchanges
    assert (exchange.call.id, exchange.call.name) == ("toolu_1", "execute_bash")
    assert json.loads(exchange.call.arguments) == {"command": "ls", "security_risk": "LOW"}
    assert found.model == "claude-sonnet-4-5"


def test_usage_of_one_answer_with_several_actions_is_counted_once(tmp_path: Path) -> None:
    first = run(1, "ls", tool_call_metadata=called("t1", {}))
    second = run(2, "pwd", tool_call_metadata=called("t2", {}))
    found = transcript(tmp_path, ASK, first, second)
    assert [message.usage for message in found.messages] == [None, Usage(input=50, output=5, cached=40), None]


def test_the_exit_code_and_the_folder_are_in_the_metadata(tmp_path: Path) -> None:
    extras = {"metadata": {"exit_code": 2, "working_dir": "/workspace"}}
    found = transcript(tmp_path, ASK, run(1, "ls"), ran(2, 1, "no", extras=extras, success=False))
    result = found.messages[-1].results[0]
    assert (result.exit_code, result.error) == (2, True)
    assert found.folder == "/workspace"


def test_an_error_that_a_call_caused_is_its_result(tmp_path: Path) -> None:
    error = {"id": 2, "source": "agent", "observation": "error", "cause": 1, "content": "No such tool."}
    found = transcript(tmp_path, ASK, run(1, "ls"), error)
    assert found.messages[-1].results[0].error is True
    assert found.ending is Ending.UNKNOWN


def test_an_error_that_nothing_caused_ends_the_session(tmp_path: Path) -> None:
    error = {"id": 2, "source": "environment", "observation": "error", "content": "The runtime is gone."}
    found = transcript(tmp_path, ASK, error)
    assert (found.ending, found.ending_detail) == (Ending.FAILED, "The runtime is gone.")
    assert found.messages[-1].trust is Trust.TOOL


def test_a_command_that_the_person_typed_is_no_call_of_the_agent(tmp_path: Path) -> None:
    typed = {**run(1, "git status"), "source": "user", "message": "Running command: git status"}
    found = transcript(tmp_path, ASK, typed)
    assert (found.messages[1].role, found.messages[1].calls) == (Role.USER, ())


def test_a_refused_action_is_rejected(tmp_path: Path) -> None:
    refused = {"id": 2, "source": "user", "observation": "user_rejected", "cause": 1, "content": "Rejected."}
    found = transcript(tmp_path, ASK, run(1, "rm -r ."), refused)
    assert found.messages[-1].results[0].disposition is Disposition.REJECTED


@pytest.mark.parametrize(
    ("word", "reason", "ending"),
    [
        ("finished", "", Ending.FINISHED),
        ("awaiting_user_input", "", Ending.FINISHED),
        ("stopped", "", Ending.INTERRUPTED),
        ("error", "AuthenticationError", Ending.FAILED),
        ("error", "Agent reached maximum iteration in headless mode.", Ending.BUDGET),
    ],
)
def test_the_last_state_says_how_it_ended(tmp_path: Path, word: str, reason: str, ending: Ending) -> None:
    found = transcript(tmp_path, ASK, run(1, "ls"), state(2, "running"), state(3, word, reason))
    assert (found.ending, found.ending_detail) == (ending, reason)


def test_the_last_words_are_the_agents_message(tmp_path: Path) -> None:
    end = {"id": 1, "source": "agent", "action": "finish", "args": {"final_thought": "Done.", "thought": ""}}
    found = transcript(tmp_path, ASK, end)
    assert (found.messages[-1].role, found.messages[-1].text) == (Role.AGENT, "Done.")
    assert found.ending is Ending.FINISHED


def test_words_of_every_kind_find_their_place(tmp_path: Path) -> None:
    found = transcript(
        tmp_path,
        {"id": 0, "source": "agent", "action": "system", "args": {"content": "You are an agent.", "tools": []}},
        {**ASK, "args": {"content": "See.", "image_urls": ["https://example.org/a.png"]}},
        {"id": 2, "source": "agent", "action": "think", "args": {"thought": "Hm."}},
        {"id": 3, "source": "agent", "action": "condensation", "args": {"summary": "So far."}},
        {"id": 4, "source": "environment", "observation": "recall", "content": "The repository is …"},
    )
    assert [message.role for message in found.messages] == [
        Role.SYSTEM,
        Role.USER,
        Role.AGENT,
        Role.USER,
        Role.USER,
    ]
    assert isinstance(found.messages[1].parts[1], Media)
    assert found.messages[2].parts == (Thought("Hm."),)
    assert [message.origin for message in found.messages[3:]] == [Origin.SUMMARY, Origin.INSERTED]


def test_every_row_of_an_evaluation_is_a_session_with_its_verdict(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    history = [ASK, run(1, "ls"), ran(2, 1, "a.py")]
    rows = [
        {"instance_id": "acme-1", "history": history, "test_result": {"report": {"resolved": True}}, "error": None},
        {"instance_id": "acme-2", "history": history, "test_result": {}, "error": "The runtime is gone."},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = transcripts(path)
    assert (first.title, first.checks) == ("acme-1", (RecordedCheck("resolved", passed=True),))
    assert (second.ending, second.ending_detail) == (Ending.FAILED, "The runtime is gone.")
    assert first.id != second.id


def test_rows_without_ids_are_paired_by_position(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    history = [
        {"action": "message", "content": "Fix it.", "wait_for_response": False},
        {"action": "run", "command": "ls", "thought": "Look.", "is_confirmed": "confirmed"},
        {"observation": "run", "content": "a.py", "command": "ls", "exit_code": 0},
        {"action": "finish", "outputs": {}, "thought": "Done."},
    ]
    row = {"issue": {"title": "A bug"}, "history": history, "success": True, "result_explanation": "It works."}
    path.write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n")
    first, _ = transcripts(path)
    [exchange] = pair(first.messages).exchanges
    assert exchange.call.arguments == '{"command":"ls"}'
    assert exchange.result is not None
    assert (exchange.result.text, exchange.result.exit_code) == ("a.py", 0)
    assert first.messages[0].role is Role.USER
    assert first.checks == (RecordedCheck("success", passed=True, detail="It works."),)
    assert first.ending is Ending.FINISHED


def test_a_row_without_a_history_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    rows = [{"instance_id": "acme-1", "history": [ASK]}, {"instance_id": "acme-2", "history": None}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = Source(path)
    assert len(list(registry.format_named("openhands").read(source))) == 1
    assert [(skipped.line, skipped.reason) for skipped in source.skipped] == [(2, "a row without its history")]
