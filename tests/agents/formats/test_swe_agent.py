"""SWE-agent trajectories, with tool calls and with actions as text."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents import recognising as registry
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Ending, Origin, RecordedCheck, Role, Text, Thought, Transcript, Usage, pair

SYSTEM = {"role": "system", "content": "Use the shell.", "agent": "main"}
TASK = {"role": "user", "content": "Fix the bug.", "agent": "main"}


def trajectory(*history: dict[str, Any], steps: tuple[dict[str, Any], ...] = (), **facts: Any) -> dict[str, Any]:
    return {"environment": "main", "trajectory": list(steps), "history": list(history), "info": facts}


def transcript(folder: Path, record: dict[str, Any]) -> Transcript:
    path = folder / "acme__app-1.traj"
    path.write_text(json.dumps(record, indent=2))
    source = Source(path)
    known = registry.recognise(source)
    assert known is not None
    assert known.name == "swe-agent"
    [found] = known.read(source)
    assert source.skipped == []
    return found


def act(action: str, thought: str = "") -> dict[str, Any]:
    content = f"{thought}\n```\n{action}\n```"
    return {"role": "assistant", "content": content, "thought": thought, "action": action, "agent": "main"}


def test_tool_calls_are_paired_by_their_ids(tmp_path: Path) -> None:
    call = {"id": "call_9", "type": "function", "function": {"name": "open", "arguments": '{"path": "a.py"}'}}
    asked = {
        "role": "assistant",
        "content": "Look.",
        "thought": "Look.",
        "action": "open a.py",
        "tool_calls": [call],
    }
    answer = {"role": "tool", "content": "1: pass", "tool_call_ids": ["call_9"]}
    found = transcript(tmp_path, trajectory(SYSTEM, TASK, asked, answer))
    [exchange] = pair(found.messages).exchanges
    assert (exchange.call.id, exchange.call.name, exchange.call.arguments) == ("call_9", "open", '{"path": "a.py"}')
    assert exchange.result is not None
    assert (exchange.result.tool, exchange.result.text) == ("open", "1: pass")


def test_an_action_as_text_is_paired_with_the_message_after_it(tmp_path: Path) -> None:
    history = (SYSTEM, TASK, act("create a.py\n", "Begin."), {**TASK, "content": "[a.py]"}, act("ls"), TASK)
    found = transcript(tmp_path, trajectory(*history))
    first, second = pair(found.messages).exchanges
    assert (first.call.name, json.loads(first.call.arguments)) == ("create", {"command": "create a.py\n"})
    assert second.call.name == "bash"
    assert first.call.id != second.call.id
    assert first.result is not None
    assert first.result.text == "[a.py]"
    assert found.messages[2].text == "Begin."


def test_demonstrations_are_left_out(tmp_path: Path) -> None:
    found = transcript(tmp_path, trajectory(SYSTEM, {**TASK, "is_demo": True}, TASK, act("ls")))
    assert [message.role for message in found.messages] == [Role.SYSTEM, Role.USER, Role.AGENT]


def test_the_answer_to_the_last_action_comes_from_the_trajectory(tmp_path: Path) -> None:
    step = {"action": "submit", "observation": "diff --git"}
    found = transcript(tmp_path, trajectory(SYSTEM, TASK, act("submit"), steps=(step,)))
    [exchange] = pair(found.messages).exchanges
    assert exchange.result is not None
    assert exchange.result.text == "diff --git"


def test_a_user_message_that_answers_no_action_was_inserted(tmp_path: Path) -> None:
    spoken = {"role": "assistant", "content": "Hm.", "action": "", "thought": ""}
    found = transcript(tmp_path, trajectory(SYSTEM, TASK, spoken, {**TASK, "content": "Wrong format."}))
    assert [message.origin for message in found.messages][-1] is Origin.INSERTED
    assert found.messages[2].text == "Hm."


@pytest.mark.parametrize(
    ("status", "ending", "passed"),
    [
        ("submitted", Ending.FINISHED, True),
        ("submitted (exit_cost)", Ending.BUDGET, True),
        ("exit_context", Ending.BUDGET, False),
        ("exit_format", Ending.FAILED, False),
    ],
)
def test_the_exit_status_says_how_it_ended(tmp_path: Path, status: str, ending: Ending, passed: bool) -> None:
    found = transcript(tmp_path, trajectory(SYSTEM, TASK, exit_status=status))
    assert found.ending is ending
    assert found.checks == (RecordedCheck("submitted", passed=passed, detail=status),)


def test_a_run_without_a_status_has_no_known_ending(tmp_path: Path) -> None:
    found = transcript(tmp_path, trajectory(SYSTEM, TASK))
    assert (found.ending, found.checks) == (Ending.UNKNOWN, ())


def test_tokens_and_cost_are_of_the_whole_session(tmp_path: Path) -> None:
    stats = {"tokens_sent": 100, "tokens_received": 7, "instance_cost": 0.5, "api_calls": 2}
    found = transcript(tmp_path, trajectory(SYSTEM, TASK, model_stats=stats))
    assert found.usage == Usage(input=100, output=7, cost_dollars=0.5)


def test_thinking_is_kept_apart_from_what_was_said(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "Hm.", "signature": "s1"}]
    found = transcript(tmp_path, trajectory(SYSTEM, TASK, {**act("ls", "Look."), "thinking_blocks": blocks}))
    assert found.messages[2].parts[:2] == (Thought("Hm.", signature="s1"), Text("Look."))


def test_a_damaged_config_leaves_the_model_unknown(tmp_path: Path) -> None:
    assert transcript(tmp_path, {**trajectory(SYSTEM, TASK), "replay_config": "{"}).model == ""


@pytest.mark.parametrize("as_text", [True, False])
def test_the_model_is_in_the_replay_config(tmp_path: Path, as_text: bool) -> None:
    config: object = {"agent": {"model": {"name": "gpt-5"}}}
    record = {**trajectory(SYSTEM, TASK), "replay_config": json.dumps(config) if as_text else config}
    assert transcript(tmp_path, record).model == "gpt-5"
