"""Tools in trajectory format, and back through the reader of trajectories."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.importers import registry
from whet.importers.source import Source
from whet.runs.tools_in_text import system_text, tools_in, tools_text
from whet.sessions.definitions import Definition
from whet.sessions.transcripts import Role, pair
from whet.shipped.guidance import built_in
from whet.told.passages import Slot

(FRAME,) = [passage.text for passage in built_in() if passage.slot is Slot.TRAJECTORY]
WORDS = st.text(st.characters(codec="utf-8"), max_size=40)
SCHEMAS = st.dictionaries(WORDS, WORDS | st.integers(-9, 9) | st.lists(WORDS, max_size=2), max_size=3)
DEFINITIONS = st.builds(
    lambda name, description, schema: Definition(name, description, canonical(schema)), WORDS, WORDS, SCHEMAS
)
TERMINAL = Definition(
    "terminal",
    "Run a command. Not for </tools> or <tool_call> tags, 日本 & “quotes”.",
    '{"properties":{"command":{"type":"string"}},"required":["command"],"type":"object"}',
)


def canonical(schema: object) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@given(st.lists(DEFINITIONS, max_size=4))
def test_definitions_come_back_as_they_were(definitions: list[Definition]) -> None:
    text = system_text(definitions, FRAME)
    assert tools_in(text) == tuple(definitions)
    assert text.count("</tools>") == 1


def test_the_list_between_the_tags_is_json_that_other_readers_know() -> None:
    body = tools_text([TERMINAL]).removeprefix("<tools>\n").removesuffix("\n</tools>")
    (tool,) = json.loads(body)
    assert set(tool) == {"name", "description", "parameters", "required"}
    assert tool["description"] == TERMINAL.description
    assert tool["required"] is None
    assert "日本" in body


def test_the_order_of_keys_in_a_schema_does_not_matter() -> None:
    other = Definition("t", "", '{"type": "object", "properties": {}}')
    same = Definition("t", "", '{"properties": {}, "type": "object"}')
    assert tools_text([other]) == tools_text([same])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.lists(DEFINITIONS, max_size=3))
def test_a_trajectory_with_the_tools_is_read_by_the_importer(tmp_path: Path, definitions: list[Definition]) -> None:
    tools = [TERMINAL, *definitions]
    call = '<tool_call>\n{"name": "terminal", "arguments": {"command": "ls"}}\n</tool_call>'
    answer = '<tool_response>\n{"name": "terminal", "content": "a.txt"}\n</tool_response>'
    said = [
        {"from": "system", "value": system_text(tools, FRAME)},
        {"from": "human", "value": "What is here?"},
        {"from": "gpt", "value": call},
        {"from": "tool", "value": answer},
    ]
    path = tmp_path / "trajectory.jsonl"
    path.write_text(json.dumps({"conversations": said, "completed": True}) + "\n")
    source = Source(path)
    known = registry.recognise(source)
    assert known is not None
    (transcript,) = known.read(source)
    system = transcript.messages[0]
    assert system.role is Role.SYSTEM
    assert tools_in(system.text) == tuple(tools)
    assert [exchange.call.name for exchange in pair(transcript.messages).exchanges] == ["terminal"]


@pytest.mark.parametrize("text", ["", "No tools.", "<tools>", "<tools>nonsense</tools>", "<tools>[1]</tools>"])
def test_a_message_without_tools_has_none(text: str) -> None:
    assert tools_in(text) == ()


def test_parameters_that_are_no_json_give_advice() -> None:
    with pytest.raises(WhetError, match="The parameters of valve"):
        tools_text([Definition("valve", "", "{open")])
