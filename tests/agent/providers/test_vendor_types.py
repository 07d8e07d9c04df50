"""Our requests are what the vendors' own libraries take and send, and our loopback's streams what they understand."""

import json
from collections.abc import Iterable
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming as AnthropicParams
from hypothesis import given, settings
from msgspec.structs import replace
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as OpenAIParams
from pydantic import BaseModel, TypeAdapter, ValidationError

from agent.loopback import Loopback, playing, streamed
from agent.providers.conversations_on_the_wire import FULL, conversations
from agent.providers.vendor_streams import KEY, anthropic_answer, asking_of, call_piece, openai_answer, replied
from whet.agent.providers.anthropic import AnthropicCodec
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.vendors import dialect_of
from whet.own.runs.models import Model
from whet.sessions.transcripts import Message

OPENAI = OpenAICodec(Model("m"), dialect_of("openai", "https://api.openai.com/v1"))
ANTHROPIC = AnthropicCodec(Model("claude"))
OPENAI_TYPE: TypeAdapter[Any] = TypeAdapter(OpenAIParams)
ANTHROPIC_TYPE: TypeAdapter[Any] = TypeAdapter(AnthropicParams)
OPENAI_STREAM = openai_answer(
    {"role": "assistant", "content": "Größe "},
    {"content": "😀"},
    {"tool_calls": [call_piece(0, '{"path": ', call_id="c1", name="read_file")]},
    {"tool_calls": [call_piece(1, '{"path": "b"}', call_id="c2", name="read_file")]},
    {"tool_calls": [call_piece(0, '"a"}')]},
    finish="tool_calls",
)
ANTHROPIC_STREAM = anthropic_answer(
    (
        {"type": "thinking", "thinking": "", "signature": ""},
        [{"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": "c2ln"}],
    ),
    ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Größe 😀"}]),
    (
        {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}},
        [
            {"type": "input_json_delta", "partial_json": '{"path"'},
            {"type": "input_json_delta", "partial_json": ': "a"}'},
        ],
    ),
    stop="tool_use",
)


def plain(value: Any) -> Any:
    """What a vendor's type made of a value, as JSON would have it: fields that the type does not know are gone."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump(exclude_unset=True))
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    return value


@settings(max_examples=40)
@given(conversations())
def test_openai_requests_conform(messages: tuple[Message, ...]) -> None:
    for run in (FULL, replace(FULL, messages=messages)):
        body = json.loads(OPENAI.request(run))
        assert plain(OPENAI_TYPE.validate_python(body)) == body


@settings(max_examples=40)
@given(conversations())
def test_anthropic_requests_conform(messages: tuple[Message, ...]) -> None:
    for run in (FULL, replace(FULL, messages=messages)):
        body = json.loads(ANTHROPIC.request(run))
        assert plain(ANTHROPIC_TYPE.validate_python(body)) == body


def test_the_check_itself_finds_what_does_not_conform() -> None:
    body = json.loads(OPENAI.request(FULL))
    assert plain(OPENAI_TYPE.validate_python({**body, "invented": 1})) != {**body, "invented": 1}
    with pytest.raises(ValidationError):
        plain(OPENAI_TYPE.validate_python({**body, "messages": [{"role": "assistant", "tool_calls": [{"id": 3}]}]}))


def test_the_openai_library_sends_the_same_and_reads_the_same() -> None:
    with playing(streamed(OPENAI_STREAM)) as server:
        body = json.loads(OPENAI.request(FULL))
        with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
            texts, calls, usage = [], dict[int, list[str]](), None
            for chunk in client.chat.completions.create(**body):
                usage = chunk.usage or usage
                for choice in chunk.choices:
                    texts.append(choice.delta.content or "")
                    for call in choice.delta.tool_calls or ():
                        assert call.function
                        calls.setdefault(call.index, []).append(call.function.arguments or "")
        own = ours(server, "openai")
    assert server.requests[0].json == body
    assert own.text == "".join(texts) == "Größe 😀"
    assert [call.arguments for call in own.calls] == ["".join(calls[0]), "".join(calls[1])]
    assert own.usage
    assert usage
    assert usage.prompt_tokens_details
    assert (own.usage.input, own.usage.cached) == (usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens)


def test_the_anthropic_library_sends_the_same_and_reads_the_same() -> None:
    with playing(streamed(ANTHROPIC_STREAM)) as server:
        body = json.loads(ANTHROPIC.request(FULL))
        given = {key: value for key, value in body.items() if key != "stream"}
        base_url = server.base_url.removesuffix("/v1")
        client = anthropic.Anthropic(base_url=base_url, api_key=KEY, max_retries=0)
        with client, client.messages.stream(**given) as stream:
            final = stream.get_final_message()
        own = ours(server, "anthropic")
    assert server.requests[0].json == body
    assert server.requests[0].headers["anthropic-version"] == server.requests[1].headers["anthropic-version"]
    thinking, text, call = final.content
    assert thinking.type == "thinking"
    assert text.type == "text"
    assert call.type == "tool_use"
    assert [part.text for part in own.parts[:2]] == [thinking.thinking, text.text]  # type: ignore[union-attr]
    assert json.loads(own.calls[0].arguments) == call.input
    assert own.usage
    assert own.usage.cached == final.usage.cache_read_input_tokens


def ours(server: Loopback, kind: str) -> Message:
    """What our own provider reads from the same server."""
    return replied(asking_of(server, kind)).message
