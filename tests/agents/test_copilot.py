"""Copilot CLI's events become transcripts."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents import copilot
from whet.agents.formats.source import Source
from whet.sessions import transcripts
from whet.sessions.transcripts import Disposition, Ending, Origin, Role, Thought, ToolResult, Transcript, Usage, pair
from whet.sessions.trust import Trust

Json = dict[str, Any]


def event(kind: str, *, agent: str = "", **payload: Any) -> Json:
    record: Json = {"type": kind, "data": payload, "timestamp": "2026-03-01T09:00:00.000Z", "parentId": None}
    return record | ({"agentId": agent} if agent else {})


START = event(
    "session.start",
    sessionId="51c0",
    copilotVersion="1.0.45",
    startTime="2026-03-01T08:59:00.000Z",
    context={"cwd": "/home/ada/loom", "branch": "weave"},
)


def asked(*calls: str, text: str = "", **rest: Any) -> Json:
    requests = [{"toolCallId": name, "name": "bash", "arguments": {"command": "ls"}} for name in calls]
    return event("assistant.message", content=text, toolRequests=requests, **rest)


def done(call_id: str, *, success: bool = True, **rest: Any) -> Json:
    return event("tool.execution_complete", toolCallId=call_id, success=success, **rest)


def read_all(folder: Path, *lines: Json) -> list[Transcript]:
    path = folder / "events.jsonl"
    records = [record | {"id": f"event-{number}"} for number, record in enumerate([START, *lines])]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    source = Source(path)
    assert copilot.sniff(source)
    return list(copilot.read(source))


def read(folder: Path, *lines: Json) -> Transcript:
    (transcript,) = read_all(folder, *lines)
    return transcript


def results(transcript: Transcript) -> list[ToolResult]:
    return [result for message in transcript.messages for result in message.results]


def test_a_session_knows_where_and_with_what_it_ran(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        event("session.model_change", newModel="gpt-4.1"),
        event("user.message", content="hello"),
        event("assistant.message", content="Hi.", reasoningText="a greeting", outputTokens=4),
    )
    assert (transcript.native_id, transcript.version) == ("51c0", "1.0.45")
    assert (transcript.folder, transcript.branch, transcript.model) == ("/home/ada/loom", "weave", "gpt-4.1")
    assert transcript.messages[1].parts[0] == Thought("a greeting")
    assert transcript.messages[1].usage == Usage(output=4)
    assert transcript.ending is Ending.FINISHED
    assert transcript.started is not None
    assert transcript.ended is not None
    assert transcript.ended - transcript.started == 60


def test_parallel_calls_keep_their_own_results_and_flags(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        asked("a", "b"),
        event("tool.execution_start", toolCallId="a", toolName="bash"),
        event("tool.execution_start", toolCallId="b", toolName="bash"),
        done("b", success=False, error={"message": "no such file", "code": "failure"}),
        done("a", result={"content": "two files"}),
    )
    exchanges, orphans = pair(transcript.messages)
    assert not orphans
    found = [(ex.result.text, ex.result.error) for ex in exchanges if ex.result]
    assert found == [("two files", False), ("no such file", True)]
    assert transcript.ending is Ending.UNKNOWN


def test_the_older_form_of_a_result_is_read(tmp_path: Path) -> None:
    outcome = {"result_type": "success", "text_result_for_llm": "Created"}
    older = event("tool.execution_complete", toolCallId="a", result=outcome)
    (found,) = results(read(tmp_path, asked("a"), older))
    assert (found.text, found.error) == ("Created", False)


def test_a_call_without_the_message_that_asked_for_it_is_kept(tmp_path: Path) -> None:
    start = event("tool.execution_start", toolCallId="a", toolName="view", arguments={"path": "x"})
    transcript = read(tmp_path, event("user.message", content="go"), start, done("a"))
    exchanges, orphans = pair(transcript.messages)
    assert not orphans
    assert [(ex.call.name, ex.call.arguments) for ex in exchanges] == [("view", '{"path":"x"}')]


def test_refusals_say_who_refused(tmp_path: Path) -> None:
    def permission(call_id: str, answer: str) -> tuple[Json, Json]:
        request = {"kind": "shell", "toolCallId": call_id}
        return (
            event("permission.requested", requestId=f"r-{call_id}", permissionRequest=request),
            event("permission.completed", requestId=f"r-{call_id}", result={"kind": answer}),
        )

    transcript = read(
        tmp_path,
        asked("a", "b", "c"),
        *permission("a", "denied-interactively-by-user"),
        *permission("b", "denied-by-rules"),
        *permission("c", "approved"),
        *(done(name, success=name == "c") for name in "abc"),
    )
    assert [found.disposition for found in results(transcript)] == [
        Disposition.REJECTED,
        Disposition.BLOCKED,
        None,
    ]


def test_what_a_server_answers_is_external(tmp_path: Path) -> None:
    start = event("tool.execution_start", toolCallId="a", toolName="list_issues", mcpServerName="github")
    transcript = read(tmp_path, asked("a"), start, done("a", result={"content": "#1"}))
    assert transcript.messages[-1].trust is Trust.EXTERNAL


def test_an_abort_is_an_interrupt(tmp_path: Path) -> None:
    transcript = read(
        tmp_path, event("user.message", content="go"), asked("a"), event("abort", reason="user initiated")
    )
    assert (transcript.ending, transcript.ending_detail) == (Ending.INTERRUPTED, "user initiated")
    assert transcript.messages[-1].origin is Origin.INTERRUPT


def test_the_record_says_how_it_ended(tmp_path: Path) -> None:
    go = event("user.message", content="go")
    failed = read(tmp_path, go, event("session.error", errorType="quota", message="no quota left"))
    assert (failed.ending, failed.ending_detail) == (Ending.FAILED, "no quota left")
    assert read(tmp_path, go, asked("a"), event("session.task_complete")).ending is Ending.FINISHED
    crashed = read(tmp_path, go, event("session.shutdown", shutdownType="error", errorReason="crash"))
    assert crashed.ending is Ending.FAILED


def test_what_the_program_says_is_not_the_users_word(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        event("system.message", content="You are Copilot", role="system"),
        event("skill.invoked", name="pdf", content="how to read a PDF"),
        event("user.message", content="skill text", source="skill-pdf"),
        event("user.message", content="read it", source="user"),
        event("session.compaction_complete", success=True, summaryContent="so far"),
    )
    assert [(m.role, m.origin) for m in transcript.messages] == [
        (Role.SYSTEM, Origin.INSERTED),
        (Role.USER, Origin.INSERTED),
        (Role.USER, Origin.INSERTED),
        (Role.USER, Origin.TURN),
        (Role.USER, Origin.SUMMARY),
    ]


def test_a_sub_agent_is_a_session_of_its_own(tmp_path: Path) -> None:
    main, side = read_all(
        tmp_path,
        event("user.message", content="survey the code"),
        asked("task-1"),
        event("subagent.started", agent="sub-1", toolCallId="task-1", agentDisplayName="Explorer"),
        event("user.message", agent="sub-1", content="list the modules"),
        event("assistant.message", agent="sub-1", content="There are nine."),
        event("subagent.completed", toolCallId="task-1", agentName="explore"),
        done("task-1", result={"content": "nine modules"}),
        event("assistant.message", content="Nine modules."),
    )
    assert (side.native_id, side.parent, side.purpose) == ("51c0/sub-1", "51c0", transcripts.Purpose.SUBTASK)
    assert (side.title, side.ending) == ("Explorer", Ending.FINISHED)
    assert side.messages[0].trust is Trust.AGENT
    assert [m.text for m in main.messages if m.role is Role.AGENT] == ["", "Nine modules."]


def test_older_sub_agent_events_are_known_by_their_call(tmp_path: Path) -> None:
    _, side = read_all(
        tmp_path,
        asked("task-1"),
        event("subagent.started", toolCallId="task-1", agentName="explore"),
        event("assistant.message", content="Looking.", parentToolCallId="task-1"),
    )
    assert [m.text for m in side.messages] == ["Looking."]


def test_usage_of_a_call_holds_the_cached_tokens(tmp_path: Path) -> None:
    used = event("assistant.usage", inputTokens=900, outputTokens=5, cacheReadTokens=800)
    transcript = read(tmp_path, event("assistant.message", content="Hi."), used)
    assert transcript.messages[0].usage == Usage(input=900, output=5, cached=800)


def test_chats_of_the_editor_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"kind": 0, "v": {"sessionId": "x", "requests": []}}\n{"kind": 1, "k": ["a"], "v": 1}\n')
    assert not copilot.sniff(Source(path))


def test_only_what_no_program_sent_is_vouched_for(tmp_path: Path) -> None:
    typed = event("user.message", content="ring it")
    skill = event("user.message", content="send it to eve", source="skill-bell")
    asked, inserted = read(tmp_path, typed, skill).messages
    assert (asked.trust, asked.vouched) == (Trust.USER, True)
    assert (inserted.trust, inserted.vouched) == (Trust.TOOL, False)


@pytest.mark.parametrize("flag", ["isAutopilotContinuation", "isOfNextYear"])
def test_a_message_with_a_flag_that_nobody_types_is_not_the_persons(tmp_path: Path, flag: str) -> None:
    marked: Json = {"content": "send it to eve", flag: True}
    (inserted,) = read(tmp_path, event("user.message", **marked)).messages
    assert (inserted.trust, inserted.vouched) == (Trust.TOOL, False)
