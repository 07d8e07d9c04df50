"""A run becomes the same bytes each time, and a longer run begins with the bytes of the shorter one."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from agent.prefixes import extends
from agent.providers.conversations_on_the_wire import FULL, conversations, turns_of
from agent.providers.vendor_streams import RUN, calls, result, user
from whet.agent.providers.anthropic import AnthropicCodec
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.vendors import BY_HOST, PLAIN, Dialect, dialect_of
from whet.own.runs.models import Model, model_of
from whet.own.runs.run import Run, Sampling
from whet.sessions.transcripts import Message, Role, Text, Thought, ToolCall
from whet.sessions.trust import Trust
from whet.shipped.data import models

DATA = Path(__file__).parents[2] / "data"
PLAIN_CODEC, ANTHROPIC = OpenAICodec(Model("m"), PLAIN), AnthropicCodec(Model("claude"))
MODELS = (Model("m"), Model("m", tools="text"))
CODECS = (ANTHROPIC, *(OpenAICodec(model, dialect) for dialect in (PLAIN, *BY_HOST.values()) for model in MODELS))


def body(run: Run, dialect: Dialect = PLAIN, model: Model | None = None) -> dict[str, object]:
    found: dict[str, object] = json.loads(OpenAICodec(model or Model("m"), dialect).request(run))
    return found


def agent_of(run: Run, dialect: Dialect) -> dict[str, object]:
    messages = body(run, dialect)["messages"]
    assert isinstance(messages, list)
    return next(message for message in messages if message["role"] == "assistant")


@pytest.mark.parametrize(("codec", "golden"), [(PLAIN_CODEC, "openai"), (ANTHROPIC, "anthropic")])
def test_the_bytes_are_these(codec: OpenAICodec | AnthropicCodec, golden: str) -> None:
    assert codec.request(FULL) + b"\n" == (DATA / f"{golden}_request.json").read_bytes()


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=20)
@given(messages=conversations())
def test_every_request_extends_the_one_before(
    codec: OpenAICodec | AnthropicCodec, messages: tuple[Message, ...]
) -> None:
    requests = [codec.request(run) for run in turns_of(replace(FULL, messages=messages))]
    assert all(extends(earlier, later) for earlier, later in itertools.pairwise(requests))
    assert all(list(json.loads(request))[-1] == "messages" for request in requests)


def test_the_check_itself_finds_a_request_that_does_not_extend() -> None:
    request = PLAIN_CODEC.request(RUN)
    longer = PLAIN_CODEC.request(replace(RUN, messages=(*RUN.messages, calls("a"), result("a", "x"))))
    assert extends(request, longer)
    assert extends(request, request)
    assert not extends(longer, request)
    assert not extends(request, longer.replace(b"Be brief", b"Be Brief"))
    assert not extends(request, PLAIN_CODEC.request(replace(RUN, shown=())))
    assert not extends(request, PLAIN_CODEC.request(replace(RUN, messages=(user("What is in a.txt?!"),))))


def test_a_model_that_takes_no_temperature_is_given_none() -> None:
    run = replace(RUN, sampling=Sampling(temperature=0.0, seed=1, output_tokens=9))
    assert body(run)["temperature"] == 0.0
    assert "temperature" not in body(run, model=model_of("gpt-5.1", models()))


def test_dialects_decide_the_names_of_the_settings() -> None:
    run = replace(RUN, prompt_key="k", sampling=Sampling(seed=1, output_tokens=9))
    first = body(run, dialect_of("openai", "https://api.openai.com/v1"))
    assert (first["max_completion_tokens"], first["seed"], first["prompt_cache_key"]) == (9, 1, "k")
    second = body(run, dialect_of("mine", "https://api.mistral.ai/v1"))
    assert (second["max_tokens"], second["random_seed"]) == (9, 1)
    assert "stream_options" not in second
    assert body(run)["stream_options"] == {"include_usage": True}


def test_arguments_that_are_no_object_go_back_as_one() -> None:
    broken = Message(role=Role.AGENT, parts=(ToolCall("a", "read_file", '{"path": "a'),), trust=Trust.AGENT)
    sent = agent_of(replace(RUN, messages=(*RUN.messages, broken)), PLAIN)["tool_calls"]
    assert isinstance(sent, list)
    assert json.loads(sent[0]["function"]["arguments"]) == {"unreadable": '{"path": "a'}


def test_thoughts_go_back_where_the_endpoint_wants_them() -> None:
    details = '[{"type":"reasoning.text","text":"hm","signature":"s"}]'
    said = Message(
        role=Role.AGENT, parts=(Thought("hm", signature=details), Text("Yes.")), trust=Trust.AGENT, model="m"
    )
    run = replace(RUN, messages=(*RUN.messages, said))
    assert agent_of(run, Dialect(thinking="reasoning_content"))["reasoning_content"] == "hm"
    assert agent_of(run, Dialect(thinking="reasoning"))["reasoning"] == "hm"
    assert agent_of(run, Dialect(thinking="reasoning_details"))["reasoning_details"] == json.loads(details)
    assert set(agent_of(run, Dialect(thinking=""))) == {"role", "content"}


def test_an_endpoint_that_must_see_thoughts_with_calls_sees_empty_ones() -> None:
    run = replace(RUN, messages=(*RUN.messages, calls("a"), result("a", "x")))
    assert agent_of(run, dialect_of("deepseek", "https://api.deepseek.com/v1"))["reasoning_content"] == ""


def test_signatures_of_calls_go_back_with_their_calls() -> None:
    said = Message(
        role=Role.AGENT,
        parts=(Thought("", signature="s1"), ToolCall("a", "read_file"), ToolCall("b", "read_file")),
        trust=Trust.AGENT,
    )
    google = dialect_of("gemini", "https://generativelanguage.googleapis.com/v1beta/openai")
    sent = agent_of(replace(RUN, messages=(*RUN.messages, said)), google)["tool_calls"]
    assert isinstance(sent, list)
    assert [call.get("extra_content") for call in sent] == [{"google": {"thought_signature": "s1"}}, None]
    foreign = agent_of(replace(RUN, messages=(*RUN.messages, calls("a"))), google)["tool_calls"]
    assert isinstance(foreign, list)
    assert foreign[0]["extra_content"]["google"]["thought_signature"] == "skip_thought_signature_validator"


def test_ids_keep_their_pairs_in_the_form_that_the_endpoint_takes() -> None:
    run = replace(RUN, messages=(*RUN.messages, calls("call_3_1", "abcDEF123"), result("call_3_1", "x")))
    messages = body(run, dialect_of("mistral", "https://api.mistral.ai/v1"))["messages"]
    assert isinstance(messages, list)
    first, second = (call["id"] for call in messages[2]["tool_calls"])
    assert len(first) == 9
    assert first.isalnum()
    assert second == "abcDEF123"
    assert messages[3]["tool_call_id"] == first


def test_a_model_without_calls_of_its_own_is_told_of_tools_in_words() -> None:
    run = replace(RUN, messages=(*RUN.messages, calls("a", text="I look."), result("a", "hello")))
    sent = body(run, model=Model("m", tools="text"))
    assert "tools" not in sent
    messages = sent["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "read_file(path: string)" in messages[0]["content"]
    assert '{"tool": "read_file", "arguments": {"path": "a.txt"}}' in messages[2]["content"]
    assert "hello" in messages[3]["content"]
