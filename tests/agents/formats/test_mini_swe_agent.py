"""mini-swe-agent trajectories, from the bare list to named tool calls."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents import recognising as registry
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Ending, Origin, RecordedCheck, Role, Transcript, Usage, pair

SYSTEM = {"role": "system", "content": "Give one command."}
TASK = {"role": "user", "content": "Fix the bug."}


def fenced(command: str, *, before: str = "", after: str = "", fence: str = "bash") -> dict[str, Any]:
    return {"role": "assistant", "content": f"{before}```{fence}\n{command}\n```{after}"}


def output(text: str, code: int = 0) -> dict[str, Any]:
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{text}</output>"}


def run(*messages: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {"info": facts, "messages": list(messages), "trajectory_format": "mini-swe-agent-1.1"}


def transcript(folder: Path, record: object) -> Transcript:
    path = folder / "acme__app-1.traj.json"
    path.write_text(json.dumps(record, indent=2))
    source = Source(path)
    known = registry.recognise(source)
    assert known is not None
    assert known.name == "mini-swe-agent"
    [found] = known.read(source)
    return found


@pytest.mark.parametrize("fence", ["bash", "mswea_bash_command"])
def test_a_command_block_is_a_call_answered_by_the_message_after_it(tmp_path: Path, fence: str) -> None:
    asked = fenced("ls -l", before="Look first.\n\n", fence=fence)
    found = transcript(tmp_path, [SYSTEM, TASK, asked, output("a.py\n", 2)])
    [exchange] = pair(found.messages).exchanges
    assert (exchange.call.name, json.loads(exchange.call.arguments)) == ("bash", {"command": "ls -l"})
    assert exchange.result is not None
    assert exchange.result.text.startswith("<returncode>2</returncode>")
    assert exchange.result.exit_code is None
    assert found.messages[2].text == "Look first."


def test_two_blocks_are_no_call_and_the_complaint_is_inserted(tmp_path: Path) -> None:
    twice = {"role": "assistant", "content": "```bash\nls\n```\n```bash\npwd\n```"}
    complaint = {"role": "user", "content": "One command, please."}
    found = transcript(tmp_path, [SYSTEM, TASK, fenced("ls"), output(""), twice, complaint])
    assert found.messages[4].calls == ()
    assert found.messages[5].origin is Origin.INSERTED


def test_a_recorded_return_code_is_the_exit_code(tmp_path: Path) -> None:
    answer = {**output("no", 3), "extra": {"returncode": 3, "timestamp": 1772703005.5}}
    found = transcript(tmp_path, run(SYSTEM, TASK, fenced("false"), answer))
    [exchange] = pair(found.messages).exchanges
    assert exchange.result is not None
    assert exchange.result.exit_code == 3
    assert found.ended == 1772703005.5


def test_named_tool_calls_are_paired_by_id_in_any_order(tmp_path: Path) -> None:
    calls = [{"id": name, "function": {"name": "bash", "arguments": "{}"}} for name in ("one", "two")]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    answers = [{"role": "tool", "tool_call_id": name, "content": f"of {name}"} for name in ("two", "one")]
    found = transcript(tmp_path, run(SYSTEM, TASK, asked, *answers))
    paired = pair(found.messages)
    assert [(e.call.id, e.result and e.result.text) for e in paired.exchanges] == [
        ("one", "of one"),
        ("two", "of two"),
    ]
    assert paired.orphans == ()


def test_the_closing_message_answers_the_last_command(tmp_path: Path) -> None:
    closing = {"role": "exit", "content": "diff --git", "extra": {"exit_status": "Submitted"}}
    found = transcript(tmp_path, run(SYSTEM, TASK, fenced("echo done"), closing, exit_status="Submitted"))
    [exchange] = pair(found.messages).exchanges
    assert exchange.result is not None
    assert exchange.result.text == "diff --git"


def test_a_closing_message_that_answers_nothing_is_no_message(tmp_path: Path) -> None:
    found = transcript(tmp_path, run(SYSTEM, TASK, {"role": "exit", "content": "LimitsExceeded"}))
    assert [message.role for message in found.messages] == [Role.SYSTEM, Role.USER]


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        ("Submitted", Ending.FINISHED),
        ("LimitsExceeded", Ending.BUDGET),
        ("TimeExceeded", Ending.BUDGET),
        ("UserInterruption", Ending.INTERRUPTED),
        ("AuthenticationError", Ending.FAILED),
    ],
)
def test_the_exit_status_says_how_it_ended(tmp_path: Path, status: str, ending: Ending) -> None:
    found = transcript(tmp_path, run(SYSTEM, TASK, exit_status=status))
    assert (found.ending, found.ending_detail) == (ending, status)
    assert found.checks == (RecordedCheck("submitted", passed=status == "Submitted", detail=status),)


def test_usage_is_counted_for_each_answer_or_for_the_session(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 80}}
    answer = {**fenced("ls"), "extra": {"response": {"model": "m", "usage": usage}, "cost": 0.25}}
    stats = {"instance_cost": 0.25, "api_calls": 1}
    each = transcript(tmp_path, run(SYSTEM, TASK, answer, model_stats=stats))
    assert each.messages[2].usage == Usage(input=90, output=4, cached=80, cost_dollars=0.25)
    assert each.usage is None
    whole = transcript(tmp_path, run(SYSTEM, TASK, fenced("ls"), model_stats=stats))
    assert whole.usage == Usage(cost_dollars=0.25)


def test_a_bare_list_of_chat_messages_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([SYSTEM, TASK, {"role": "assistant", "content": "Hello"}]))
    assert not registry.format_named("mini-swe-agent").sniff(Source(path))
