"""ATIF trajectories."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents.formats import atif
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Ending, Origin, Purpose, Role, Transcript, Usage, pair
from whet.sessions.trust import Trust

STEPS: list[dict[str, Any]] = [
    {"step_id": 1, "source": "system", "message": "You are a careful engineer."},
    {"step_id": 2, "source": "user", "message": "Make the test pass.", "timestamp": "2026-03-01T10:00:00Z"},
    {
        "step_id": 3,
        "source": "agent",
        "model_name": "gpt-5-mini",
        "message": "Two looks.",
        "reasoning_content": "Read before writing.",
        "tool_calls": [
            {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "pytest"}},
            {"tool_call_id": "c2", "function_name": "read", "arguments": {"path": "add.py"}},
        ],
        "observation": {
            "results": [
                {"source_call_id": "c2", "content": [{"type": "text", "text": "return a - b"}]},
                {"source_call_id": "c1", "content": "1 failed"},
            ]
        },
        "metrics": {"prompt_tokens": 1200, "cached_tokens": 1000, "completion_tokens": 40, "cost_usd": 0.002},
        "timestamp": "2026-03-01T10:00:09Z",
    },
    {"step_id": 4, "source": "agent", "message": "It subtracts where it should add."},
]


def trajectory(**values: Any) -> dict[str, Any]:
    agent = {"name": "openhands", "version": "1.2", "model_name": "gpt-5"}
    return {"schema_version": "ATIF-v1.6", "session_id": "run-1", "agent": agent, "steps": STEPS, **values}


def source(path: Path, *values: object) -> Source:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return Source(path)


def read(found: Source) -> list[Transcript]:
    assert atif.sniff(found)
    return list(atif.read(found))


@pytest.mark.parametrize("minor", range(9))
def test_every_version_is_read(tmp_path: Path, minor: int) -> None:
    (found,) = read(source(tmp_path / "t.json", trajectory(schema_version=f"ATIF-v1.{minor}")))
    assert (found.native_id, found.model, found.version) == ("run-1", "gpt-5", "openhands 1.2")
    assert found.ending is Ending.FINISHED


def test_results_are_paired_by_id_and_the_prompt_counts_its_cached_tokens(tmp_path: Path) -> None:
    (found,) = read(source(tmp_path / "t.json", trajectory()))
    results = {e.call.name: e.result and e.result.text for e in pair(found.messages).exchanges}
    assert results == {"bash": "1 failed", "read": "return a - b"}
    agent = next(message for message in found.messages if message.calls)
    assert agent.usage == Usage(input=1200, output=40, cached=1000, cost_dollars=0.002)
    assert agent.model == "gpt-5-mini"
    assert found.usage is None


def test_copied_context_is_skipped(tmp_path: Path) -> None:
    steps = [{**STEPS[1], "is_copied_context": True}, *STEPS[1:]]
    (found,) = read(source(tmp_path / "t.json", trajectory(steps=steps)))
    assert [message.role for message in found.messages].count(Role.USER) == 1


def test_results_without_an_id_answer_in_order_and_what_answers_nothing_is_the_environments(tmp_path: Path) -> None:
    results = [{"content": "one"}, {"content": "two"}, {"source_call_id": None, "content": "disk almost full"}]
    steps = [{**STEPS[2], "observation": {"results": results}}]
    (found,) = read(source(tmp_path / "t.json", trajectory(steps=steps)))
    assert [e.result and e.result.text for e in pair(found.messages).exchanges] == ["one", "two"]
    last = found.messages[-1]
    assert (last.origin, last.trust, last.text) == (Origin.INSERTED, Trust.TOOL, "disk almost full")


def test_no_system_step_has_an_operators_trust(tmp_path: Path) -> None:
    steps = [*STEPS, {"step_id": 5, "source": "system", "message": "Context was reset."}]
    (found,) = read(source(tmp_path / "t.json", trajectory(steps=steps)))
    assert [m.trust for m in found.messages if m.role is Role.SYSTEM] == [Trust.TOOL] * 2
    assert [m.origin for m in found.messages if m.role is Role.SYSTEM] == [Origin.TURN, Origin.INSERTED]


def test_sub_agents_within_the_file_are_sessions_with_a_parent(tmp_path: Path) -> None:
    child = trajectory(trajectory_id="run-1-child", subagent_trajectories=[trajectory(session_id="")])
    found = read(source(tmp_path / "t.json", trajectory(subagent_trajectories=[child])))
    links = [(one.native_id, one.parent, one.purpose) for one in found]
    assert links == [
        ("run-1", "", Purpose.CHAT),
        ("run-1-child", "run-1", Purpose.SUBTASK),
        ("run-1-child/0", "run-1-child", Purpose.SUBTASK),
    ]
    assert found[1].messages[1].trust is Trust.AGENT


def test_a_sub_agent_that_the_steps_refer_to_gets_its_parent(tmp_path: Path) -> None:
    reference = {"content": "done", "subagent_trajectory_ref": [{"session_id": "run-2"}]}
    steps = [{"step_id": 1, "source": "agent", "message": "", "observation": {"results": [reference]}}]
    found = read(source(tmp_path / "t.jsonl", trajectory(steps=steps), trajectory(session_id="run-2")))
    assert [(one.native_id, one.parent) for one in found] == [("run-1", ""), ("run-2", "run-1")]


def test_a_trajectory_that_goes_on_elsewhere_was_compacted(tmp_path: Path) -> None:
    (found,) = read(source(tmp_path / "t.json", trajectory(continued_trajectory_ref="t.cont-1.json")))
    assert found.ending is Ending.COMPACTED


def test_totals_stand_for_steps_that_count_nothing(tmp_path: Path) -> None:
    total = {"total_prompt_tokens": 50, "total_cached_tokens": 20, "total_completion_tokens": 5}
    (found,) = read(source(tmp_path / "t.json", trajectory(steps=STEPS[:2], final_metrics=total)))
    assert found.usage == Usage(input=50, output=5, cached=20)


def test_a_step_of_an_unknown_source_is_reported(tmp_path: Path) -> None:
    steps = [*STEPS, {"step_id": 5, "source": "oracle", "message": "?"}]
    found = source(tmp_path / "t.json", trajectory(steps=steps))
    assert len(read(found)) == 1
    assert found.skipped[0].reason == "step 5: unknown source 'oracle'"


def test_a_trajectory_without_an_id_gets_one(tmp_path: Path) -> None:
    (found,) = read(source(tmp_path / "t.json", trajectory(session_id=None)))
    assert found.native_id.endswith("-t#1")


@pytest.mark.parametrize(
    "value", [{"schema_version": 1, "steps": []}, {"schema_version": "ATIF-v1.4"}, {"steps": STEPS}]
)
def test_other_files_are_not_atif(tmp_path: Path, value: object) -> None:
    assert not atif.sniff(source(tmp_path / "t.json", value))
