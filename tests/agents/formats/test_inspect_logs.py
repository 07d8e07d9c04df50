"""Inspect logs, as zip and as JSON."""

import json
import zipfile
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
    Text,
    Transcript,
    Usage,
    pair,
)
from whet.sessions.trust import Trust

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
    known = registry.recognise(source)
    assert known is not None
    assert known.name == "inspect"
    return list(known.read(source))


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


def test_an_unknown_attachment_stays_a_reference(tmp_path: Path) -> None:
    [found] = transcripts(written(tmp_path, sample({**QUESTION, "content": "attachment://none"})))
    assert found.messages[0].text == "attachment://none"


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
    assert list(registry.format_named("inspect").read(source)) == []
    assert [skipped.reason for skipped in source.skipped] == ["an evaluation without samples"]


def test_a_damaged_sample_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    source = Source(zipped(tmp_path, sample(QUESTION), [1, 2], sample(QUESTION, id=3)))
    assert len(list(registry.format_named("inspect").read(source))) == 2
    assert [skipped.reason for skipped in source.skipped] == ["samples/2_epoch_1.json is not a JSON object"]
