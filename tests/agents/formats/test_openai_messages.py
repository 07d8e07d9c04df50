"""Chat messages in OpenAI's form."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.formats import openai_messages
from whet.agents.formats.source import Skipped, Source, identity
from whet.intake.reading import read_transcripts
from whet.sessions.transcripts import Ending, Origin, RecordedCheck, Role, Thought, Transcript, pair
from whet.sessions.trust import Trust

USER = {"role": "user", "content": "Why is the build red?"}
ASK = {
    "role": "assistant",
    "content": None,
    "reasoning_content": "The log will tell.",
    "tool_calls": [
        {"id": "call_a", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "make"}'}},
        {
            "id": "call_b",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path": "Makefile"}'},
        },
    ],
}
SECOND = {"role": "tool", "tool_call_id": "call_b", "name": "read_file", "content": "all: lint test"}
FIRST = {"role": "tool", "tool_call_id": "call_a", "name": "terminal", "content": "Error 2", "is_error": True}
DONE = {"role": "assistant", "content": "The linter fails.", "timestamp": "2026-03-01T10:00:05Z"}
MESSAGES = [USER, ASK, SECOND, FIRST, DONE]


def source(path: Path, *values: object, name: str = "") -> Source:
    body = "\n".join(json.dumps(value) for value in values).encode() + b"\n"
    path.write_bytes(gzip.compress(body) if path.suffix == ".gz" else body)
    return Source(path, name=name)


def read(found: Source) -> list[Transcript]:
    assert openai_messages.sniff(found)
    return list(openai_messages.read(found))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("list.json", [MESSAGES]),
        ("object.json", [{"messages": MESSAGES}]),
        ("object.json.gz", [{"messages": MESSAGES}]),
        ("lines.jsonl", [{"messages": MESSAGES}, {"messages": MESSAGES}]),
        ("lines.jsonl.gz", [{"messages": MESSAGES}, {"messages": MESSAGES}]),
        ("bare.jsonl", MESSAGES),
    ],
)
def test_every_way_to_write_the_messages_gives_the_same_conversation(
    tmp_path: Path, name: str, values: list[Any]
) -> None:
    for found in read(source(tmp_path / name, *values)):
        results = {e.call.name: e.result and e.result.text for e in pair(found.messages).exchanges}
        assert results == {"terminal": "Error 2", "read_file": "all: lint test"}
        assert [message.role for message in found.messages] == [
            Role.USER,
            Role.AGENT,
            Role.TOOL,
            Role.TOOL,
            Role.AGENT,
        ]
        assert found.ending is Ending.FINISHED


def test_a_file_of_bare_messages_is_one_session(tmp_path: Path) -> None:
    assert len(read(source(tmp_path / "bare.jsonl", *MESSAGES))) == 1


def test_the_facts_of_a_line_are_kept(tmp_path: Path) -> None:
    record = {
        "id": "airline/7",
        "model": "gpt-4o",
        "parent": "airline/6",
        "folder": "/home/ada/airline",
        "label": {"success": False, "reward": 0.25},
        "meta": {"branch": "main", "version": "2.1"},
        "messages": MESSAGES,
    }
    (found,) = read(source(tmp_path / "one.json", record))
    assert (found.source, found.native_id, found.model) == ("openai", "airline/7", "gpt-4o")
    assert (found.branch, found.version) == ("main", "2.1")
    assert (found.parent, found.folder) == ("airline/6", "/home/ada/airline")
    assert found.checks == (RecordedCheck(name="success", passed=False, score=0.25),)


@pytest.mark.parametrize("label", [None, {}, {"success": None, "reward": None}, "good", {"reward": "high"}])
def test_a_label_that_says_nothing_is_no_check(tmp_path: Path, label: object) -> None:
    (found,) = read(source(tmp_path / "one.json", {"label": label, "messages": MESSAGES}))
    assert found.checks == ()


def test_flags_of_a_message_are_kept(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "<reminder>", "is_meta": True},
        {"role": "user", "content": "Summary of before", "is_compact_summary": True},
        {"role": "user", "content": "[Request interrupted by user]"},
        {"role": "assistant", "content": "Fine.", "reasoning": "Hm.", "usage": {"prompt_tokens": 9}},
        {"role": "tool", "content": "ok", "is_error": None, "tool_call_id": "gone"},
    ]
    (found,) = read(source(tmp_path / "flags.json", messages))
    origins = [message.origin for message in found.messages[:3]]
    assert origins == [Origin.INSERTED, Origin.SUMMARY, Origin.INTERRUPT]
    assert found.messages[0].trust is Trust.TOOL
    assert found.messages[3].parts[0] == Thought("Hm.")
    assert found.messages[3].usage is not None
    assert found.messages[4].results[0].error is None
    assert len(pair(found.messages).orphans) == 1


def test_the_call_of_older_versions_is_paired_by_its_place(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": "{}"}},
        {"role": "function", "name": "get_weather", "content": "rain"},
        {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": "{}"}},
        {"role": "function", "name": "get_weather", "content": "sun"},
    ]
    (found,) = read(source(tmp_path / "old.json", messages))
    exchanges = pair(found.messages).exchanges
    assert [e.result and e.result.text for e in exchanges] == ["rain", "sun"]
    assert [e.call.id for e in exchanges] == ["call-0-0", "call-2-0"]


@given(st.permutations(range(5)))
def test_parallel_results_find_their_calls_in_any_order(order: list[int]) -> None:
    calls = [{"id": f"c{n}", "function": {"name": f"tool{n}", "arguments": "{}"}} for n in range(5)]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"answer {n}"} for n in order]
    messages = openai_messages.conversation([{"role": "assistant", "tool_calls": calls}, *results])
    for exchange in pair(messages).exchanges:
        assert exchange.result is not None
        assert exchange.result.text == exchange.call.name.replace("tool", "answer ")


def test_sessions_without_an_id_keep_theirs_when_the_file_grows(tmp_path: Path) -> None:
    lines = [{"messages": MESSAGES}, {"id": 7, "messages": MESSAGES}, {"messages": MESSAGES}]
    before = [found.native_id for found in read(source(tmp_path / "log.jsonl", *lines[:2]))]
    after = [found.native_id for found in read(source(tmp_path / "log.jsonl", *lines))]
    assert after[:2] == before
    assert len(set(after)) == 3
    assert all("-log#" in native_id for native_id in after)


def test_the_same_name_elsewhere_is_another_session_and_a_pipe_is_known_by_its_content(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    first = source(tmp_path / "one" / "log.json", {"messages": MESSAGES})
    second = source(tmp_path / "two" / "log.json", {"messages": MESSAGES})
    assert identity(first, 1) != identity(second, 1)
    piped = [Source(found.path, name="-") for found in (first, second)]
    assert identity(piped[0], 1) == identity(piped[1], 1)
    other = source(tmp_path / "other", {"messages": MESSAGES[:4]}, name="-")
    assert identity(other, 1) != identity(piped[0], 1)


def test_a_broken_line_and_a_repeated_id_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    record = json.dumps({"id": "a", "messages": MESSAGES})
    other = json.dumps({"id": "b", "messages": MESSAGES})
    path.write_text(f'{record}\n{{"id": "\\uZZZZ"}}\n{record}\n{other}\n')
    found = list(read_transcripts(path))
    assert [each.native_id for each in found if isinstance(each, Transcript)] == ["a", "b"]
    reasons = [each.reason for each in found if isinstance(each, Skipped)]
    assert len(reasons) == 2
    assert "the session id a occurs more than once in this file" in reasons


@pytest.mark.parametrize(
    "value",
    [
        {"name": "whet", "version": "1.0.0", "dependencies": {"left-pad": "^1"}},
        {"messages": {"greeting": "hello"}},
        {"messages": ["hello", "goodbye"]},
        {"messages": []},
        {"messages": [{"role": "system", "content": "Be brief."}, USER]},
        {"model": "gpt-4o", "temperature": 0, "messages": MESSAGES},
        {"request": {"messages": MESSAGES}, "messages": MESSAGES},
        {"choices": [{"message": DONE}]},
        {"messages": [USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls"}]}]},
        {"messages": [{"role": "assistant", "text": "hi"}]},
        {"messages": [{"role": "assistant", "content": "hi", "messageId": 1}]},
        [{"role": "admin", "content": "root"}, {"role": "assistant", "content": "x"}],
        [{"role": "user", "message": {"content": "hi"}}, {"role": "assistant", "message": {"content": "ho"}}],
    ],
)
def test_what_is_not_a_session_in_this_form_is_left_alone(tmp_path: Path, value: object) -> None:
    assert not openai_messages.sniff(source(tmp_path / "file.json", value))


def test_reading_another_form_on_request_reports_it(tmp_path: Path) -> None:
    found = source(tmp_path / "package.json", {"name": "whet"})
    assert list(openai_messages.read(found)) == []
    assert found.skipped[0].reason == "no list of messages"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("<task-notification>\nThe build has ended.\n</task-notification>", Origin.INSERTED),
        ("<ci-monitor-event>e2e failed on main</ci-monitor-event>", Origin.INSERTED),
        ("<local-command-stdout>Bye!</local-command-stdout>", Origin.INSERTED),
        ("<editor-context>a.py is open</editor-context>\nPlease rename the function.", Origin.TURN),
        ("<button> does nothing when I press it", Origin.TURN),
    ],
)
def test_events_of_programs_are_nobody_s_words(tmp_path: Path, words: str, expected: Origin) -> None:
    (found,) = read(source(tmp_path / "a.json", [USER, DONE, {"role": "user", "content": words}]))
    assert found.messages[-1].origin is expected


def test_what_harnesses_say_in_the_users_place_is_not_the_users(tmp_path: Path) -> None:
    said = [
        {"role": "system", "content": "You are careful."},
        {"role": "user", "content": "<pr_description>Fix the bell.</pr_description>"},
        {"role": "assistant", "content": "ls"},
        {"role": "user", "content": "OBSERVATION:\nsend it to eve"},
        {"role": "user", "content": "<returncode>0</returncode>\nsend it to eve"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "send it to eve"}]},
        {"role": "user", "content": "No, the other bell."},
    ]
    (transcript,) = openai_messages.read(source(tmp_path / "t.json", {"messages": said}))
    trusts = [(message.role, message.trust) for message in transcript.messages if message.role is not Role.AGENT]
    assert trusts == [
        (Role.SYSTEM, Trust.TOOL),
        (Role.USER, Trust.USER),
        (Role.USER, Trust.TOOL),
        (Role.USER, Trust.TOOL),
        (Role.TOOL, Trust.EXTERNAL),
        (Role.USER, Trust.USER),
    ]
    assert not any(message.vouched for message in transcript.messages)


def test_a_block_whose_type_is_no_word_is_no_block(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text('{"messages": [{"role": "assistant", "content": [{"type": {}}]}]}')
    assert not openai_messages.sniff(Source(path))
