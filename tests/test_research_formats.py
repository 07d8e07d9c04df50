"""The example package of records of benchmarks: Inspect logs, as zip and as JSON, and SWE-agent's trajectories."""

import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from reading_contract import hold_transcript
from whet import doors
from whet.agents.formats.source import Format, Source, Unreadable
from whet.agents.recognising import recognise
from whet.sessions.transcripts import (
    Disposition,
    Ending,
    Media,
    Origin,
    RecordedCheck,
    Role,
    Text,
    Thought,
    Transcript,
    Usage,
    pair,
)
from whet.sessions.trust import Trust
from whet_research_formats import inspect_logs, swe_agent

HEADER: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {
        "eval_id": "EvAl1",
        "run_id": "RuN1",
        "task_id": "TaSk1",
        "task": "arithmetic",
        "created": "2026-01-05T10:00:00+00:00",
        "model": "openai/gpt-5-mini",
        "packages": {"inspect_ai": "0.3.160"},
    },
    "plan": {"name": "plan", "steps": []},
}
QUESTION = {"id": "u1", "role": "user", "content": "What is 6 × 7?", "source": "input"}
CALL = {
    "id": "a1",
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "call_1", "function": "calculator", "arguments": {"expression": "6*7"}}],
}
RESULT = {"id": "t1", "role": "tool", "content": "42", "tool_call_id": "call_1", "function": "calculator"}
ANSWER = {"id": "a2", "role": "assistant", "content": "42", "model": "gpt-5-mini-2026-01-15"}


def sample(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "epoch": 1, "messages": list(messages), **more}


def transcripts(path: Path) -> list[Transcript]:
    source = Source(path)
    assert (inspect_logs.FORMAT.sniff(source), recognise(source)) == (True, None)
    return list(inspect_logs.read(source))


def written(folder: Path, *samples: dict[str, Any]) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": list(samples)}, indent=1))
    return path


def zipped(folder: Path, *samples: object, header: str = "header.json") -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for index, value in enumerate(samples, start=1):
            archive.writestr(f"samples/{index}_epoch_1.json", json.dumps(value))
        archive.writestr(header, json.dumps(HEADER))
    return path


def test_the_zip_and_the_json_form_of_a_log_give_the_same_sessions(tmp_path: Path) -> None:
    recorded = sample(QUESTION, CALL, RESULT, ANSWER)
    assert transcripts(written(tmp_path, recorded)) == transcripts(zipped(tmp_path, recorded))


def test_every_sample_and_epoch_is_a_session_of_its_own(tmp_path: Path) -> None:
    found = transcripts(written(tmp_path, sample(QUESTION), sample(QUESTION, epoch=2), sample(QUESTION, id="b")))
    assert [session.native_id for session in found] == ["EvAl1/1/1", "EvAl1/1/2", "EvAl1/b/1"]


def test_a_running_evaluation_is_read_by_its_journal(tmp_path: Path) -> None:
    [found] = transcripts(zipped(tmp_path, sample(QUESTION, ANSWER), header="_journal/start.json"))
    assert found.model == "openai/gpt-5-mini"
    assert found.version == "0.3.160"


def test_a_call_is_paired_with_its_result(tmp_path: Path) -> None:
    [found] = transcripts(written(tmp_path, sample(QUESTION, CALL, RESULT, ANSWER)))
    [exchange] = pair(found.messages).exchanges
    assert exchange.call.name == "calculator"
    assert exchange.call.arguments == '{"expression":"6*7"}'
    assert exchange.result is not None
    assert (exchange.result.text, exchange.result.error) == ("42", None)


def test_a_tool_error_keeps_its_message_beside_the_output(tmp_path: Path) -> None:
    failed = {**RESULT, "content": "partial", "error": {"type": "timeout", "message": "Timed out."}}
    silent = {**RESULT, "content": "", "error": {"type": "parsing", "message": "Bad arguments."}}
    [found] = transcripts(written(tmp_path, sample(CALL, failed, CALL, silent)))
    first, second = (message.results[0] for message in found.messages if message.results)
    assert (first.error, first.text) == (True, "Timed out.\npartial")
    assert (second.error, second.text) == (True, "Bad arguments.")


def test_a_call_that_was_not_approved_is_blocked(tmp_path: Path) -> None:
    denied = {**RESULT, "error": {"type": "approval", "message": "Denied."}}
    [found] = transcripts(written(tmp_path, sample(CALL, denied)))
    assert found.messages[1].results[0].disposition is Disposition.BLOCKED


def test_references_to_attachments_are_resolved(tmp_path: Path) -> None:
    asked = {
        **QUESTION,
        "content": [{"type": "text", "text": "attachment://aa11"}, {"type": "image", "image": "x"}],
    }
    [found] = transcripts(written(tmp_path, sample(asked, attachments={"aa11": "A long question"})))
    assert found.messages[0].parts[0] == Text("A long question")
    assert isinstance(found.messages[0].parts[1], Media)


def test_messages_are_taken_from_the_pool_where_a_sample_has_none_of_its_own(tmp_path: Path) -> None:
    event = {
        "event": "model",
        "input": [],
        "input_refs": [[0, 1], [2, 4]],
        "output": {"choices": [{"message": ANSWER}]},
    }
    pool = [QUESTION, {"role": "user", "content": "not sent"}, CALL, RESULT]
    [found] = transcripts(written(tmp_path, sample(events=[event], message_pool=pool)))
    assert [message.role for message in found.messages] == [Role.USER, Role.AGENT, Role.TOOL, Role.AGENT]
    assert found.messages[-1].text == "42"


def test_usage_and_time_of_an_answer_come_from_its_event(tmp_path: Path) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 115, "input_tokens_cache_read": 100}
    event = {
        "event": "model",
        "completed": "2026-01-05T10:00:05+00:00",
        "tools": [{"name": "calculator"}],
        "output": {"choices": [{"message": ANSWER}], "usage": usage},
    }
    [found] = transcripts(written(tmp_path, sample(QUESTION, ANSWER, events=[event])))
    assert found.messages[1].usage == Usage(input=110, output=5, cached=100)
    assert found.messages[1].at == found.ended
    assert found.tools == ("calculator",)
    assert found.usage is None


def test_cached_tokens_within_the_input_are_not_added_to_it(tmp_path: Path) -> None:
    usage = {"input_tokens": 110, "output_tokens": 5, "total_tokens": 115, "input_tokens_cache_read": 100}
    [found] = transcripts(written(tmp_path, sample(QUESTION, ANSWER, model_usage={"m": usage})))
    assert found.usage == Usage(input=110, output=5, cached=100)


@pytest.mark.parametrize(
    ("value", "passed", "score"),
    [
        ("C", True, 1.0),
        ("I", False, 0.0),
        ("P", None, 0.5),
        (True, True, 1.0),
        (0.25, None, 0.25),
        ("x", None, None),
    ],
)
def test_scores_become_checks(tmp_path: Path, value: object, passed: bool | None, score: float | None) -> None:
    scores = {"match": {"value": value, "answer": "42"}}
    [found] = transcripts(written(tmp_path, sample(QUESTION, scores=scores)))
    assert found.checks == (RecordedCheck("match", passed=passed, score=score, detail="42"),)


def test_a_score_of_several_values_gives_a_check_for_each(tmp_path: Path) -> None:
    scores = {"judge": {"value": {"tone": 1, "facts": 0}}}
    [found] = transcripts(written(tmp_path, sample(QUESTION, scores=scores)))
    assert [(check.name, check.passed) for check in found.checks] == [("judge/tone", True), ("judge/facts", False)]


@pytest.mark.parametrize(
    ("more", "ending"),
    [
        ({"error": {"message": "boom", "traceback": ""}}, Ending.FAILED),
        ({"limit": {"type": "token", "limit": 1000}}, Ending.BUDGET),
        ({"limit": {"type": "operator", "limit": 1}}, Ending.INTERRUPTED),
        ({}, Ending.FINISHED),
    ],
)
def test_errors_and_limits_say_how_a_sample_ended(tmp_path: Path, more: dict[str, Any], ending: Ending) -> None:
    [found] = transcripts(written(tmp_path, sample(QUESTION, ANSWER, **more)))
    assert found.ending is ending


def test_what_a_solver_adds_is_not_the_users_word(tmp_path: Path) -> None:
    [found] = transcripts(written(tmp_path, sample(QUESTION, ANSWER, {"role": "user", "content": "Go on."})))
    assert (found.messages[0].origin, found.messages[0].trust) == (Origin.TURN, Trust.USER)
    assert (found.messages[2].origin, found.messages[2].trust) == (Origin.INSERTED, Trust.TOOL)


def test_a_tool_that_the_provider_ran_is_an_exchange(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "s1", "name": "forecast", "arguments": '{"q":"x"}', "result": "found"}
    [found] = transcripts(written(tmp_path, sample(QUESTION, {"role": "assistant", "content": [block]})))
    [exchange] = pair(found.messages).exchanges
    assert exchange.result is not None
    assert exchange.result.text == "found"
    assert found.messages[-1].trust is Trust.EXTERNAL


def test_a_log_without_samples_is_reported(tmp_path: Path) -> None:
    source = Source(written(tmp_path))
    assert list(inspect_logs.read(source)) == []
    assert [skipped.reason for skipped in source.skipped] == ["an evaluation without samples"]


def test_a_damaged_sample_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    source = Source(zipped(tmp_path, sample(QUESTION), [1, 2], sample(QUESTION, id=3)))
    assert len(list(inspect_logs.read(source))) == 2
    assert [skipped.reason for skipped in source.skipped] == ["samples/2_epoch_1.json is not a JSON object"]


SYSTEM = {"role": "system", "content": "Use the shell.", "agent": "main"}
TASK = {"role": "user", "content": "Fix the bug.", "agent": "main"}


def trajectory(*history: dict[str, Any], steps: tuple[dict[str, Any], ...] = (), **facts: Any) -> dict[str, Any]:
    return {"environment": "main", "trajectory": list(steps), "history": list(history), "info": facts}


def transcript(folder: Path, record: dict[str, Any]) -> Transcript:
    path = folder / "acme__app-1.traj"
    path.write_text(json.dumps(record, indent=2))
    source = Source(path)
    assert (swe_agent.FORMAT.sniff(source), recognise(source)) == (True, None)
    [found] = swe_agent.read(source)
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


PACKAGE = Path(__file__).parents[1] / "examples" / "research_formats"


@pytest.mark.parametrize("known", [inspect_logs.FORMAT, swe_agent.FORMAT], ids=lambda known: known.name)
def test_the_examples_are_read_with_every_call_answered(known: Format) -> None:
    [path] = (PACKAGE / "sessions" / known.name).iterdir()
    found = list(known.read(Source(path)))
    assert found
    for each in found:
        hold_transcript(each)
        assert all(exchange.result for exchange in pair(each.messages).exchanges)


@pytest.mark.parametrize("keep", [4, 30, -10])
def test_a_cut_off_zip_file_is_unreadable(tmp_path: Path, keep: int) -> None:
    path = zipped(tmp_path, sample(QUESTION))
    path.write_bytes(path.read_bytes()[:keep])
    assert not inspect_logs.sniff(Source(path))
    with pytest.raises(Unreadable, match="broken zip file"), inspect_logs.opened(Source(path)):
        pass


def test_installed_it_adds_both_formats() -> None:
    described = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"][doors.FORMATS]
    assert [doors.named(each).name for each in described.values()] == list(described)
