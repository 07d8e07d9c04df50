"""A run becomes the same bytes of Anthropic's form each time, and a longer run begins with those of the shorter one."""

import itertools
import json
from typing import Any

from hypothesis import given
from msgspec.structs import replace

from agent.providers.conversations_on_the_wire import FULL, conversations
from agent.providers.vendor_streams import RUN, calls, result, user
from whet.agent.providers.anthropic import AnthropicCodec
from whet.own.runs.models import Model, model_of
from whet.own.runs.run import Run, Sampling
from whet.sessions.transcripts import Message, Origin
from whet.shipped.data import models


def body(run: Run, model: Model | None = None) -> Any:
    return json.loads(AnthropicCodec(model or Model("claude")).request(run))


def marks(value: object) -> int:
    """How many cache breakpoints stand in a request."""
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(marks(inner) for inner in value.values())
    return sum(marks(inner) for inner in value) if isinstance(value, list) else 0


@given(messages=conversations())
def test_there_are_never_more_than_four_breakpoints_and_none_in_messages(messages: tuple[Message, ...]) -> None:
    sent = body(replace(FULL, messages=messages))
    assert marks(sent) == 2
    assert marks(sent["messages"]) == 0


@given(messages=conversations())
def test_results_of_one_turn_are_one_message_and_no_content_is_empty(messages: tuple[Message, ...]) -> None:
    sent = body(replace(FULL, messages=messages))["messages"]
    for earlier, later in itertools.pairwise(sent):
        asked = {block["id"] for block in earlier["content"] if block["type"] == "tool_use"}
        answered = {block["tool_use_id"] for block in later["content"] if block["type"] == "tool_result"}
        assert asked == answered
    assert all(message["content"] for message in sent)
    assert all(block["text"].strip() for message in sent for block in message["content"] if block["type"] == "text")


def test_thoughts_of_another_model_stay_behind() -> None:
    sent = body(replace(FULL, model="kimi-k3"))["messages"]
    assert not [block for block in sent[1]["content"] if "thinking" in block["type"]]


def test_thoughts_of_before_a_compaction_stay_behind() -> None:
    carried = tuple(replace(message, origin=Origin.SUMMARY) for message in FULL.messages)
    sent = body(replace(FULL, messages=carried))["messages"]
    assert [block["type"] for block in sent[1]["content"]] == ["text", "tool_use", "tool_use"]


def test_output_is_limited_by_the_run_then_by_what_is_known_of_the_model() -> None:
    assert body(replace(RUN, sampling=Sampling(output_tokens=77)))["max_tokens"] == 77
    assert body(RUN)["max_tokens"] == 8192
    assert body(RUN, model_of("claude-opus-5", models()))["max_tokens"] == 32000


def test_ids_that_the_endpoint_would_refuse_are_reshaped_in_pairs() -> None:
    sent = body(replace(RUN, messages=(user("x"), calls("functions.read:0"), result("functions.read:0", "y"))))
    asked, answered = sent["messages"][1]["content"][0]["id"], sent["messages"][2]["content"][0]["tool_use_id"]
    assert asked == answered
    assert asked.isalnum()
