"""Sessions written as Hermes' trajectories come back as the same conversation."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.formats.source import Source
from whet.agents.recognising import format_named, formats, recognise
from whet.sessions import transcripts
from whet.sessions.exports import as_trajectory
from whet.sessions.transcripts import Ending, Message, Role, Text, Thought, ToolCall, ToolResult, Transcript, pair
from whet.sessions.trust import Trust

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
CALLS = (ToolCall("c1", "Read", '{"path":"a.py"}'), ToolCall("c2", "Read", '{"path":"b.py"}'))
SESSION = Transcript(
    source="pi",
    native_id="greenhouse",
    model="some-model",
    ending=Ending.FINISHED,
    messages=(
        Message(role=Role.SYSTEM, parts=(Text("Be brief."),), trust=Trust.TOOL),
        Message(role=Role.USER, parts=(Text("Water it."),), trust=Trust.USER),
        Message(role=Role.AGENT, parts=(Thought("Where?"), Text("I look."), *CALLS), trust=Trust.AGENT),
        Message(role=Role.TOOL, parts=(ToolResult("c2", (Text('{"a": 1}'),), "Read"),), trust=Trust.TOOL),
        Message(
            role=Role.TOOL,
            parts=(
                ToolResult(
                    "c1",
                    (Text("print('</tool_response>')"),),
                    "Read",
                    error=True,
                    exit_code=2,
                    disposition=transcripts.Disposition.INTERRUPTED,
                ),
            ),
            trust=Trust.TOOL,
        ),
        Message(role=Role.AGENT, parts=(Text("Done."),), trust=Trust.AGENT),
    ),
)


def written(folder: Path, session: Transcript) -> Source:
    path = folder / "trajectory_samples.jsonl"
    path.write_bytes(msgspec.json.encode(as_trajectory(session)) + b"\n")
    return Source(path)


def reread(folder: Path, session: Transcript) -> Transcript:
    source = written(folder, session)
    known = recognise(source)
    assert known is format_named("hermes-trajectory")
    [back] = known.read(source)
    assert source.skipped == []
    return back


def told(session: Transcript) -> list[object]:
    """What was thought, said, asked and answered, whatever the ids of calls and the cut of messages."""
    exchanges = [
        (
            each.asked,
            each.call.name,
            json.loads(each.call.arguments),
            each.result and (each.result.text, each.result.error, each.result.exit_code, each.result.disposition),
        )
        for each in pair(session.messages).exchanges
    ]
    said = [
        (message.role, [part.text.strip() for part in message.parts if isinstance(part, Text | Thought)])
        for message in session.messages
        if message.role is not Role.TOOL
    ]
    return [said, [each[1:] for each in exchanges]]


def test_a_session_comes_back_as_it_was(tmp_path: Path) -> None:
    back = reread(tmp_path, SESSION)
    assert told(back) == told(SESSION)
    assert (back.native_id, back.model, back.ending) == ("greenhouse", "some-model", Ending.FINISHED)


def test_the_form_is_that_of_hermes() -> None:
    turns: Any = as_trajectory(SESSION)["conversations"]
    assert [turn["from"] for turn in turns] == ["system", "human", "gpt", "tool", "gpt"]
    call = '<tool_call>\n{"name":"Read","arguments":{"path":"a.py"}}\n</tool_call>'
    assert turns[2]["value"].startswith(f"<think>\nWhere?\n</think>\nI look.\n{call}")
    assert turns[3]["value"].count("<tool_response>") == 2
    assert turns[4]["value"] == "<think>\n</think>\nDone."


def test_a_trajectory_of_hermes_comes_back_word_for_word(tmp_path: Path) -> None:
    [original] = format_named("hermes-trajectory").read(
        Source(EXAMPLES / "hermes-trajectory" / "trajectory_samples.jsonl")
    )
    back = reread(tmp_path, original)
    assert told(back) == told(original)
    assert back.messages[:1] == original.messages[:1]


@pytest.mark.parametrize("known", formats(), ids=lambda known: known.name)
def test_the_calls_of_every_agent_come_back(tmp_path: Path, known: Any) -> None:
    for path in sorted(path for path in (EXAMPLES / known.name).rglob("*") if path.is_file())[:3]:
        if not known.sniff(Source(path)):
            continue
        for session in known.read(Source(path)):
            if not session.messages:
                continue
            [back] = format_named("hermes-trajectory").read(written(tmp_path, session))
            calls = [(each.call.name, each.result and each.result.text) for each in pair(session.messages).exchanges]
            assert [(e.call.name, e.result and e.result.text) for e in pair(back.messages).exchanges] == calls


@given(st.lists(st.sampled_from(SESSION.messages), max_size=8))
def test_any_sequence_of_messages_can_be_written(messages: list[Message]) -> None:
    assert msgspec.json.encode(as_trajectory(Transcript(source="pi", native_id="p", messages=tuple(messages))))
