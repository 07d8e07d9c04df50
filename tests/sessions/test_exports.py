"""What is exported can be read again, with nothing lost that the form can hold."""

from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.formats.source import Source
from whet.agents.recognising import format_named
from whet.sessions import transcripts
from whet.sessions.exports import as_atif, as_openai
from whet.sessions.transcripts import Message, Role, Text, Thought, ToolCall, ToolResult, Transcript, Usage, pair
from whet.sessions.trust import Trust

CALLS = (ToolCall("c1", "Read", '{"path":"a.py"}'), ToolCall("c2", "Bash", '{"command":"ls"}'))
SESSION = Transcript(
    source="openai",
    native_id="greenhouse",
    model="some-model",
    checks=(transcripts.RecordedCheck("success", passed=False, score=0.5),),
    messages=(
        Message(role=Role.SYSTEM, parts=(Text("Be brief."),), trust=Trust.OPERATOR),
        Message(role=Role.USER, parts=(Text("Water it."),), trust=Trust.USER, at=10.0),
        Message(
            role=Role.AGENT,
            parts=(Thought("Where is the valve?"), Text("I look."), *CALLS),
            trust=Trust.AGENT,
            at=11.0,
            model="some-model",
            usage=Usage(input=10, output=2, cached=8),
        ),
        Message(role=Role.TOOL, parts=(ToolResult("c2", (Text("b.py"),), "Bash", exit_code=2),), trust=Trust.TOOL),
        Message(
            role=Role.TOOL,
            parts=(ToolResult("c1", (), "Read", error=True, disposition=transcripts.Disposition.REJECTED),),
            trust=Trust.TOOL,
        ),
        Message(role=Role.USER, parts=(Text("A summary."),), trust=Trust.TOOL, origin=transcripts.Origin.SUMMARY),
    ),
)


def reread(folder: Path, form: str, document: dict[str, object]) -> Transcript:
    path = folder / "export.jsonl"
    path.write_bytes(msgspec.json.encode(document))
    source = Source(path)
    assert format_named(form).sniff(source)
    [transcript] = format_named(form).read(source)
    assert source.skipped == []
    return transcript


def test_openai_messages_come_back_with_calls_results_and_refusals(tmp_path: Path) -> None:
    back = reread(tmp_path, "openai", as_openai(SESSION))
    assert pair(back.messages).exchanges == pair(SESSION.messages).exchanges
    assert [message.text for message in back.messages] == [message.text for message in SESSION.messages]
    assert [message.origin for message in back.messages] == [message.origin for message in SESSION.messages]
    assert back.checks == SESSION.checks
    assert back.messages[2].at == 11.0


def test_atif_keeps_steps_calls_and_tokens(tmp_path: Path) -> None:
    back = reread(tmp_path, "atif", as_atif(SESSION))
    calls = {exchange.call.id: exchange.result for exchange in pair(back.messages).exchanges}
    assert set(calls) == {"c1", "c2"}
    assert calls["c2"] is not None
    assert calls["c2"].text == "b.py"
    usage = next(message.usage for message in back.messages if message.usage)
    assert (usage.input, usage.cached) == (10, 8)


def test_a_picture_leaves_a_line_in_its_place() -> None:
    picture = transcripts.Media(kind="image", media_type="image/png", size_bytes=12, name="valve.png")
    seen = Message(role=Role.USER, parts=(Text("Look:"), picture), trust=Trust.USER)
    exported = as_openai(Transcript(source="pi", native_id="p", messages=(seen,)))
    assert msgspec.to_builtins(exported)["messages"][0]["content"][1]["text"] == "[image image/png 12 bytes valve.png]"


def test_arguments_that_are_not_json_survive_atif() -> None:
    broken = Message(role=Role.AGENT, parts=(ToolCall("c1", "Bash", '{"command": '),), trust=Trust.AGENT)
    exported = as_atif(Transcript(source="pi", native_id="p", messages=(broken,)))
    assert msgspec.to_builtins(exported)["steps"][0]["tool_calls"][0]["arguments"] == {"unparsed": '{"command": '}


def test_a_result_without_its_call_is_kept_in_atif() -> None:
    lone = Message(role=Role.TOOL, parts=(ToolResult("c9", (Text("late"),)),), trust=Trust.TOOL)
    exported = as_atif(Transcript(source="pi", native_id="p", messages=(lone,)))
    assert msgspec.to_builtins(exported)["steps"][0]["observation"]["results"][0]["content"] == "late"


@given(st.lists(st.sampled_from(SESSION.messages), max_size=8))
def test_any_sequence_of_messages_can_be_written(messages: list[Message]) -> None:
    session = Transcript(source="pi", native_id="p", messages=tuple(messages))
    assert msgspec.json.encode(as_openai(session))
    assert msgspec.json.encode(as_atif(session))
