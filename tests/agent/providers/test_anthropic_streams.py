"""Anthropic's streams become whole replies, with thoughts as they must go back."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from agent.loopback import JSON, Play, playing, streamed
from agent.prefixes import Watch
from agent.providers.vendor_streams import RUN, answered, anthropic_answer, asking_of, replied, result, user
from whet.agent.protocols import ProviderFailed, Reply, StopReason
from whet.own.runs.models import Model, Prices
from whet.own.runs.run import Fragment
from whet.sessions.transcripts import Text, Thought, ToolCall, Usage

CLAUDE = replace(RUN, model="claude-opus-5")
THINKING = (
    {"type": "thinking", "thinking": "", "signature": ""},
    [
        {"type": "thinking_delta", "thinking": "Ich "},
        {"type": "thinking_delta", "thinking": "prüfe."},
        {"type": "signature_delta", "signature": "c2ln"},
    ],
)
REDACTED: tuple[dict[str, Any], list[dict[str, Any]]] = ({"type": "redacted_thinking", "data": "b3BhcXVl"}, [])
WORDS = ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Größe "}, {"type": "text_delta", "text": "😀"}])


def call(call_id: str, *pieces: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    opening = {"type": "tool_use", "id": call_id, "name": "read_file", "input": {}}
    return opening, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


WHOLE = anthropic_answer(
    THINKING, REDACTED, WORDS, call("toolu_1", "", '{"path": ', '"ä"}'), call("toolu_2"), stop="tool_use"
)
PARTS = (
    Thought("Ich prüfe.", signature="c2ln"),
    Thought("", signature="b3BhcXVl", redacted=True),
    Text("Größe 😀"),
    ToolCall("toolu_1", "read_file", '{"path": "ä"}'),
    ToolCall("toolu_2", "read_file", "{}"),
)


def test_a_reply_is_put_together_and_shown_as_it_comes(watched: Watch) -> None:
    prices = Prices(1.0, 2.0, 0.1, 1.25)
    with playing(streamed(WHOLE)) as server:
        provider = asking_of(server, "anthropic", model=Model("claude", prices=prices))
        *pieces, reply = answered(watched(provider), CLAUDE)
        request = server.requests[0]
    assert isinstance(reply, Reply)
    assert (reply.message.parts, reply.stop, reply.message.model) == (PARTS, StopReason.CALLS, "claude-served")
    cost = (10 * 1.0 + 80 * 0.1 + 10 * 1.25 + 30 * 2.0) / 1e6
    assert reply.message.usage
    assert replace(reply.message.usage, cost_dollars=None) == Usage(100, 30, 80, 10)
    assert reply.message.usage.cost_dollars == pytest.approx(cost)
    kinds = ["thought", "thought", "text", "text", "call", "call"]
    assert [piece.kind for piece in pieces if isinstance(piece, Fragment)] == kinds
    assert request.line == "POST /v1/messages HTTP/1.1"


def test_thoughts_go_back_unchanged_in_their_place(watched: Watch) -> None:
    with playing(streamed(WHOLE), streamed(anthropic_answer(WORDS))) as server:
        provider = watched(asking_of(server, "anthropic"))
        reply = replied(provider, CLAUDE)
        grown = replace(
            CLAUDE, messages=(*CLAUDE.messages, reply.message, result("toolu_1", "x"), result("toolu_2", "y"))
        )
        replied(provider, grown)
        sent = server.requests[1].json["messages"]
    assert sent[1]["content"][:2] == [
        {"type": "thinking", "thinking": "Ich prüfe.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
    ]
    assert [block["tool_use_id"] for block in sent[2]["content"]] == ["toolu_1", "toolu_2"]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("refusal", StopReason.REFUSED),
        ("pause_turn", StopReason.OTHER),
        ("something_new", StopReason.OTHER),
    ],
)
def test_why_it_stopped_is_told(reason: str, stop: StopReason) -> None:
    with playing(streamed(anthropic_answer(WORDS, stop=reason))) as server:
        assert replied(asking_of(server, "anthropic"), CLAUDE).stop is stop


def test_a_refusal_without_a_word_is_an_empty_message_that_is_not_sent_again(watched: Watch) -> None:
    with playing(streamed(anthropic_answer(stop="refusal")), streamed(anthropic_answer(WORDS))) as server:
        provider = watched(asking_of(server, "anthropic"))
        reply = replied(provider, CLAUDE)
        assert reply.message.parts == ()
        replied(provider, replace(CLAUDE, messages=(*CLAUDE.messages, reply.message, user("Why?"))))
        assert [message["role"] for message in server.requests[1].json["messages"]] == ["user", "user"]


def test_arguments_that_are_cut_stay_as_they_came() -> None:
    with playing(streamed(anthropic_answer(call("toolu_1", '{"path": "a'), stop="max_tokens"))) as server:
        reply = replied(asking_of(server, "anthropic"), CLAUDE)
    assert (reply.stop, reply.message.calls[0].arguments) == (StopReason.LENGTH, '{"path": "a')


def test_an_input_that_comes_whole_at_the_opening_is_read() -> None:
    opening = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}}
    with playing(streamed(anthropic_answer((opening, []), stop="tool_use"))) as server:
        assert replied(asking_of(server, "anthropic"), CLAUDE).message.calls[0].arguments == '{"path":"a"}'


def test_a_server_that_does_not_stream_is_understood() -> None:
    whole = {
        "type": "message",
        "model": "claude-served",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    with playing(Play((json.dumps(whole).encode(),), headers=JSON, framing="length")) as server:
        assert replied(asking_of(server, "anthropic"), CLAUDE).message.text == "Hi"


def test_a_stream_that_breaks_off_anywhere_is_never_a_reply() -> None:
    ends = [end for end in range(len(WHOLE)) if WHOLE.startswith(b"\n\n", end)][:-1]
    for end in ends:
        with playing(streamed(WHOLE[:end])) as server:
            provider = asking_of(server, "anthropic", retries=0)
            with pytest.raises(ProviderFailed):
                replied(provider, CLAUDE)
