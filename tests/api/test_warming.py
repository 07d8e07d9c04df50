"""A warm start for a program that sends chat messages: examples before its own, which stay as they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet
from samples_of_templates import TEMPLATE

OTHER = whet.Template("other", TEMPLATE.examples[:1])
SYSTEM = [{"role": "developer", "content": "Be kind."}, {"role": "system", "content": "Be short."}]
TURNS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}], "name": "mara"}],
    [{"role": "assistant", "content": "Good morning.", "refusal": None}],
    [
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a garden"},
    ],
]
turns = st.lists(st.sampled_from(TURNS)).map(lambda found: [message for turn in found for message in turn])
conversations = st.builds(lambda system, rest: [*SYSTEM[:system], *rest], st.integers(0, 2), turns)


@given(conversations)
def test_own_messages_are_passed_on_and_examples_stand_after_the_system(messages: list[dict[str, Any]]) -> None:
    system = [message for message in messages if message in SYSTEM]
    warm = whet.warm_start(TEMPLATE, messages)
    added = len(warm) - len(messages)
    assert [*warm[: len(system)], *warm[len(system) + added :]] == messages
    assert [message["role"] for message in warm[len(system) : len(system) + 3]] == ["user", "assistant", "tool"]


@given(conversations)
def test_it_is_done_once_and_another_template_takes_the_place(messages: list[dict[str, Any]]) -> None:
    warm = whet.warm_start(TEMPLATE, messages)
    assert whet.warm_start(TEMPLATE, warm) == warm
    assert whet.warm_start(OTHER, warm) == whet.warm_start(OTHER, messages)


def test_no_call_of_the_examples_has_the_id_of_an_own_one() -> None:
    own: list[dict[str, Any]] = []
    first = whet.warm_start(TEMPLATE, own)
    taken = [call["id"] for message in first for call in message.get("tool_calls", ())]
    own = [{"role": "assistant", "tool_calls": [{"id": taken[0], "function": {"name": "look", "arguments": "{}"}}]}]
    warm = whet.warm_start(TEMPLATE, own)
    ids = [call["id"] for message in warm for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids)


def test_a_template_is_mined_without_secrets_and_past_what_was_skipped(tmp_path: Path) -> None:
    secret = "tulip7garden9gate"
    talk: list[dict[str, object]] = [
        {"role": "user", "content": f"Keep in mind: GATE_PASSWORD={secret}"},
        {"role": "assistant", "content": "I do."},
        {"role": "user", "content": "Fetch the open orders of this week and count them."},
    ]
    for number, (tool, query) in enumerate([("fetch", f"orders {secret}"), ("count", "orders that are open")]):
        function = {"name": tool, "arguments": json.dumps({"query": query})}
        talk += (
            {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": '{"items": 3}', "is_error": False},
        )
    talk.append({"role": "assistant", "content": "There are three."})
    (tmp_path / "a.json").write_text(json.dumps({"messages": talk, "label": {"success": True}}))
    (tmp_path / "b.txt").write_text("Buy bread.")
    template = whet.mine(whet.read(tmp_path), "fetching")
    assert "orders that are open" in repr(template)
    assert secret not in repr(template)


def test_sessions_without_an_example_are_refused_with_the_reason(examples: Path) -> None:
    with pytest.raises(whet.WhetError, match="no example to begin with") as caught:
        whet.mine(whet.read(examples / "sharegpt"))
    assert "in which calls worked" in caught.value.advice
    with pytest.raises(whet.WhetError, match="not a valid template name"):
        whet.mine(whet.read(examples / "openai"), "No Name")
