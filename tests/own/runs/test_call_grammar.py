"""The grammar of replies with calls in plain text: what it lets through can be carried out."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.own.runs.text_calls import UNREADABLE, grammar_of, parsed
from whet.sessions.tool_families import Definition

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "mode": {"enum": ["add", 'say "x"', "ä"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 5000},
        "all": {"type": "boolean"},
        "steps": {"type": "array", "items": {"type": "string"}},
        "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["path", "mode"],
}
FREE = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}}
TOOLS = (
    Definition("notes", "", json.dumps(SCHEMA)),
    Definition("find", "", json.dumps(FREE)),
    Definition("now", "", "{}"),
)
printable = st.text(st.characters(exclude_categories=["C"]))
arguments = st.fixed_dictionaries(
    {"path": printable, "mode": st.sampled_from(["add", 'say "x"', "ä"])},
    optional={
        "limit": st.integers(1, 5000),
        "all": st.booleans(),
        "steps": st.lists(printable, max_size=3),
        "count": st.none() | st.integers(-99, 99),
    },
)


def pattern(grammar: str, name: str = "root") -> re.Pattern[str]:
    """A grammar without recursion as the regular expression that it is."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines() if line)
    token = re.compile(r'"((?:[^"\\]|\\.)*)"|(\[(?:[^\]\\]|\\.)*\])|([a-z][a-z0-9-]*)|(\s+)|(.)')

    def expanded(text: str) -> str:
        out = []
        for literal, characters, rule, space, other in token.findall(text):
            if rule:
                out.append(f"(?:{expanded(rules[rule])})")
            elif not space:
                out.append(characters or other or f"(?:{re.escape(unescaped(literal))})")
        return "".join(out)

    return re.compile(expanded(rules[name]))


def unescaped(literal: str) -> str:
    text = re.sub(r"\\U([0-9A-F]{8})", lambda found: chr(int(found[1], 16)), literal)
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


ACTION = pattern(grammar_of(TOOLS, always=True))
REPLY = pattern(grammar_of(TOOLS))


def action(name: str, fields: dict[str, Any]) -> str:
    return json.dumps({"tool": name, "arguments": fields}, ensure_ascii=False)


@given(arguments)
def test_every_fitting_call_can_be_written(fields: dict[str, Any]) -> None:
    ordered = {name: fields[name] for name in SCHEMA["properties"] if name in fields}
    assert ACTION.fullmatch(action("notes", ordered))
    assert REPLY.fullmatch(action("notes", ordered))
    assert REPLY.fullmatch("I write it down.\n" + action("notes", ordered))


@given(st.sets(st.sampled_from("abc")), printable)
def test_fields_that_can_be_left_out_are_left_out_in_any_choice(names: set[str], text: str) -> None:
    assert ACTION.fullmatch(action("find", dict.fromkeys(sorted(names), text)))


def test_no_other_call_can_be_written() -> None:
    fits = {"path": "a", "mode": "add"}
    for wrong in (
        action("delete", {}),
        action("notes", {"path": "a"}),
        action("notes", {**fits, "mode": "other"}),
        action("notes", {**fits, "limit": 5001}),
        action("notes", {**fits, "limit": 0}),
        action("notes", {**fits, "other": 1}),
        action("notes", {**fits, "path": 3}),
        action("now", {"x": 1}),
        action("now", {}) + " and more",
        action("now", {}) + "\n" + action("now", {}),
    ):
        assert not REPLY.fullmatch(wrong), wrong
    assert ACTION.fullmatch(action("now", {}))
    assert not ACTION.fullmatch("Words.")


@settings(max_examples=40)
@given(st.from_regex(REPLY, fullmatch=True))
def test_what_can_be_written_is_never_an_unreadable_call(reply: str) -> None:
    assert not any(call.name == UNREADABLE for call in parsed(reply, position=0).calls)


@given(printable)
def test_words_of_other_kinds_can_be_written(text: str) -> None:
    line = text.lstrip(' {"')
    assert REPLY.fullmatch(line)
    assert REPLY.fullmatch(f'{line}\n- a list\n\n```c\n{{\n  return;\n}}\n```\n{{ x }}\n"So" it is.')


@pytest.mark.parametrize("reply", ['{"tool": 1}', '{\n"tool": 1}', 'Words.\n { "arguments": 1}', '```\n{"tool" : "x"'])
def test_an_action_that_is_none_cannot_be_written_as_words(reply: str) -> None:
    assert parsed(reply, position=0).fault
    assert not REPLY.fullmatch(reply)


def test_without_tools_there_is_no_grammar() -> None:
    assert grammar_of(()) == ""
