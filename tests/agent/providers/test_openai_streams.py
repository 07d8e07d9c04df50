"""Whatever way a server sends a reply in pieces, it comes out whole: words, thoughts, calls, usage."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.loopback import JSON, Play, events, playing, streamed
from agent.prefixes import Watch
from agent.providers.vendor_streams import (
    RUN,
    answered,
    asking_of,
    call_piece,
    calls,
    chunk,
    openai_answer,
    replied,
    result,
    usage_chunk,
)
from lengths import examples
from whet.agent.protocols import Reply, StopReason
from whet.agent.providers import vendors
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.vendors import Dialect
from whet.own.runs.models import Model, Prices
from whet.own.runs.run import Fragment, Run
from whet.sessions.transcripts import Text, Thought, ToolCall, Usage

PLAIN = Model("m")
WHOLE = openai_answer(
    {"role": "assistant", "content": ""},
    {"reasoning_content": "Ich prüfe 😀."},
    {"content": "Größe: "},
    {"content": "日本"},
    {"tool_calls": [call_piece(0, "", call_id="c1", name="read_file")]},
    {"tool_calls": [call_piece(1, '{"path": ', call_id="c2", name="read_file")]},
    {"tool_calls": [call_piece(0, '{"path": "ä'), call_piece(1, '"b"}')]},
    {"tool_calls": [call_piece(0, '"}')]},
    finish="tool_calls",
)


def read(*records: object, model: Model = PLAIN, run: Run = RUN) -> Reply:
    """The reply that these events make, without a server."""
    reading = OpenAICodec(model, Dialect()).read(run, vendors.events([events(*records)]))
    while True:
        try:
            next(reading)
        except StopIteration as ended:
            reply: Reply = ended.value
            return reply


def read_calls(*pieces: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The calls that these pieces make, each piece in a chunk of its own."""
    reply = read(*(chunk({"tool_calls": [piece]}) for piece in pieces), chunk({}, "tool_calls"), "[DONE]")
    return [(call.id, call.name, call.arguments) for call in reply.message.calls]


def test_a_reply_is_put_together_and_shown_as_it_comes(watched: Watch) -> None:
    with playing(streamed(WHOLE)) as server:
        provider = asking_of(server, model=Model("m", prices=Prices(1.0, 2.0, 0.5)))
        *pieces, reply = answered(watched(provider))
    assert isinstance(reply, Reply)
    assert reply.stop is StopReason.CALLS
    assert reply.message.parts == (
        Thought("Ich prüfe 😀."),
        Text("Größe: 日本"),
        ToolCall("c1", "read_file", '{"path": "ä"}'),
        ToolCall("c2", "read_file", '{"path": "b"}'),
    )
    assert reply.message.model == "m-1"
    assert reply.message.usage == Usage(100, 20, 64, cost_dollars=(36 * 1.0 + 64 * 0.5 + 20 * 2.0) / 1e6)
    kinds = ["thought", "text", "text", "call", "call"]
    assert [piece.kind for piece in pieces if isinstance(piece, Fragment)] == kinds


@settings(max_examples=25)
@given(st.lists(st.integers(0, len(WHOLE)), max_size=60))
def test_any_split_of_the_stream_gives_the_same_reply(cuts: list[int]) -> None:
    with playing(streamed(WHOLE, *cuts)) as server:
        provider = asking_of(server)
        reply = replied(provider)
        provider.close()
    assert reply.message.parts[2:] == (
        ToolCall("c1", "read_file", '{"path": "ä"}'),
        ToolCall("c2", "read_file", '{"path": "b"}'),
    )
    assert reply.message.text == "Größe: 日本"


def test_each_request_of_a_session_extends_the_one_before_on_the_wire(watched: Watch) -> None:
    with playing(streamed(WHOLE), streamed(openai_answer({"content": "Done."}))) as server:
        provider = watched(asking_of(server))
        reply = replied(provider)
        grown = replace(RUN, messages=(*RUN.messages, reply.message, result("c1", "x"), result("c2", "y")))
        assert replied(provider, grown).message.text == "Done."
        first, second = server.requests
    assert (first.body, second.body) == (provider.request(RUN), provider.request(grown))
    assert second.connection == first.connection


@pytest.mark.parametrize(
    "pieces",
    [
        # By index, as documented.
        [
            call_piece(0, "", call_id="a", name="f"),
            call_piece(0, '{"x": 1}'),
            call_piece(1, '{"x": 2}', call_id="b", name="g"),
        ],
        # No index: the id says where a piece belongs, or it belongs to the last call.
        [
            call_piece(None, '{"x"', call_id="a", name="f"),
            call_piece(None, ": 1}"),
            call_piece(None, '{"x": 2}', call_id="b", name="g"),
        ],
        # One index for all calls, each whole.
        [call_piece(0, '{"x": 1}', call_id="a", name="f"), call_piece(0, '{"x": 2}', call_id="b", name="g")],
        # The id comes late.
        [
            call_piece(0, '{"x"', name="f"),
            call_piece(0, ": 1}", call_id="a"),
            call_piece(1, '{"x": 2}', name="g"),
            call_piece(1, "", call_id="b"),
        ],
        # The id and the name come with every piece.
        [
            call_piece(0, '{"x"', call_id="a", name="f"),
            call_piece(0, ": 1}", call_id="a", name="f"),
            call_piece(1, '{"x": 2}', call_id="b", name="g"),
        ],
        # An index that begins at one, and pieces of two calls that alternate.
        [
            call_piece(1, '{"x"', call_id="a", name="f"),
            call_piece(2, '{"x": ', call_id="b", name="g"),
            call_piece(1, ": 1}"),
            call_piece(2, "2}"),
        ],
        # Arguments as an object, not as text.
        [
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
            call_piece(1, '{"x": 2}', call_id="b", name="g"),
        ],
    ],
)
def test_calls_are_told_apart_however_they_are_sent(pieces: list[dict[str, Any]]) -> None:
    found = read_calls(*pieces)
    assert [(call_id, name, json.loads(text)) for call_id, name, text in found] == [
        ("a", "f", {"x": 1}),
        ("b", "g", {"x": 2}),
    ]


@pytest.mark.parametrize("call_id", [None, "", "same"])
@pytest.mark.parametrize("indexes", [(0, 1, 2), (5, 6, 7)])
def test_ids_that_are_missing_or_repeated_are_made_unique(call_id: str | None, indexes: tuple[int, ...]) -> None:
    found = read_calls(*(call_piece(index, f'{{"x": {index}}}', call_id=call_id, name="f") for index in indexes))
    assert len({each for each, _, _ in found} - {""}) == 3
    assert [json.loads(text)["x"] for _, _, text in found] == list(indexes)


def test_whole_calls_without_index_and_id_are_two_calls() -> None:
    found = read_calls(call_piece(None, '{"x": 1}', name="f"), call_piece(None, '{"x": 2}', name="f"))
    assert [text for _, _, text in found] == ['{"x": 1}', '{"x": 2}']


def test_an_id_that_the_conversation_has_seen_is_made_new() -> None:
    run = replace(RUN, messages=(*RUN.messages, calls("call_0"), result("call_0", "x")))
    reply = read(chunk({"tool_calls": [call_piece(0, "{}", call_id="call_0", name="f")]}, "tool_calls"), run=run)
    assert reply.message.calls[0].id not in ("", "call_0")


@settings(max_examples=examples(300))
@given(st.lists(st.text(max_size=20), min_size=1, max_size=4), st.data())
def test_malformed_arguments_arrive_as_they_were_sent_with_their_own_call(
    texts: list[str], data: st.DataObject
) -> None:
    pieces: list[tuple[int, dict[str, Any]]] = []
    for index, text in enumerate(texts):
        cut = data.draw(st.integers(0, len(text)))
        pieces.append((index, call_piece(index, text[:cut], call_id=f"c{index}", name="read_file")))
        pieces.append((index, call_piece(index, text[cut:])))
    order = data.draw(st.permutations(range(len(texts))))
    alternating = sorted(pieces, key=lambda piece: order[piece[0]])
    found = read_calls(*(piece for _, piece in alternating))
    assert {call_id: text for call_id, _, text in found} == {f"c{index}": text for index, text in enumerate(texts)}


def test_no_arguments_are_an_empty_object_only_where_the_tool_needs_none() -> None:
    found = read_calls(
        call_piece(0, "", call_id="a", name="list_files"), call_piece(1, "", call_id="b", name="read_file")
    )
    assert [text for _, _, text in found] == ["{}", ""]


def test_a_character_that_was_cut_in_two_events_is_whole() -> None:
    halves = [json.dumps(chunk({"content": half})) for half in ("a\ud83d", "\ude00")]
    assert read(*halves, chunk({}, "stop")).message.text == "a😀"


@pytest.mark.parametrize(
    ("finish", "delta", "stop"),
    [
        ("stop", {"content": "x"}, StopReason.END),
        ("length", {"content": "x"}, StopReason.LENGTH),
        ("content_filter", {"content": ""}, StopReason.REFUSED),
        ("stop", {"refusal": "I will not."}, StopReason.REFUSED),
        ("stop", {"tool_calls": [call_piece(0, "{}", call_id="a", name="f")]}, StopReason.CALLS),
        ("tool_calls", {"content": "x"}, StopReason.END),
        ("something_new", {"content": "x"}, StopReason.OTHER),
    ],
)
def test_why_it_stopped_is_told(finish: str, delta: dict[str, Any], stop: StopReason) -> None:
    assert read(chunk(delta), chunk({}, finish), "[DONE]").stop is stop


def test_a_refusal_is_said() -> None:
    assert read(chunk({"refusal": "I will not."}, "stop")).message.text == "I will not."


def test_an_empty_answer_is_an_empty_message() -> None:
    reply = read(chunk({"content": ""}), chunk({}, "stop"), "[DONE]")
    assert (reply.message.parts, reply.stop) == ((), StopReason.END)


@pytest.mark.parametrize(
    ("last", "usage"),
    [
        (usage_chunk(prompt_tokens_details={"cached_tokens": 64}), Usage(100, 20, 64)),
        (usage_chunk(prompt_cache_hit_tokens=64, prompt_cache_miss_tokens=36), Usage(100, 20, 64)),
        (usage_chunk(cached_tokens=64), Usage(100, 20, 64)),
        (
            usage_chunk(cost=0.25, prompt_tokens_details={"cached_tokens": 4, "cache_write_tokens": 5}),
            Usage(100, 20, 4, 5, 0.25),
        ),
        (usage_chunk(prompt_tokens_details=None), Usage(100, 20)),
        ({"choices": [], "timings": {"prompt_n": 36, "cache_n": 64, "predicted_n": 20}}, Usage(100, 20, 64)),
        ({"choices": [], "x_groq": {"usage": {"prompt_tokens": 100, "completion_tokens": 20}}}, Usage(100, 20)),
        ({"choices": []}, None),
    ],
)
def test_usage_is_read_in_every_form(last: dict[str, Any], usage: Usage | None) -> None:
    assert read(chunk({"content": "x"}, "stop"), last, "[DONE]").message.usage == usage


def test_pieces_of_thinking_that_must_go_back_are_kept_as_they_were() -> None:
    pieces = [
        {"type": "reasoning.text", "text": "I ", "index": 0, "format": "f", "signature": None},
        {"type": "reasoning.text", "text": "think", "index": 0},
        {"type": "reasoning.text", "signature": "sig", "index": 0},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 1, "id": "r1"},
    ]
    reply = read(*(chunk({"reasoning_details": [piece]}) for piece in pieces), chunk({"content": "x"}, "stop"))
    thought = reply.message.parts[0]
    assert isinstance(thought, Thought)
    assert thought.text == "I think"
    assert json.loads(thought.signature) == [
        {"type": "reasoning.text", "text": "I think", "index": 0, "format": "f", "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 1, "id": "r1"},
    ]


def test_words_and_thoughts_in_blocks_are_read() -> None:
    blocks = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Yes"}]
    assert read(chunk({"content": blocks}, "stop")).message.parts == (Thought("hm"), Text("Yes"))


def test_the_signature_of_a_call_is_kept_before_it() -> None:
    piece = {**call_piece(0, "{}", call_id="a", name="f"), "extra_content": {"google": {"thought_signature": "s"}}}
    parts = read(chunk({"tool_calls": [piece]}, "tool_calls")).message.parts
    assert parts == (Thought("", signature="s"), ToolCall("a", "f", "{}"))


def test_a_server_that_does_not_stream_is_understood() -> None:
    whole = {"model": "m-1", "choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    with playing(Play((json.dumps(whole).encode(),), headers=JSON, framing="length")) as server:
        assert replied(asking_of(server)).message.text == "Hi"


def test_a_model_that_calls_in_words_is_read_strictly_and_shows_no_half_of_a_call() -> None:
    action = 'I look.\n{"tool": "read_file", "arguments": {"path": "a"}}'
    body = openai_answer(*({"content": action[at : at + 3]} for at in range(0, len(action), 3)))
    with playing(streamed(body)) as server:
        *pieces, reply = answered(asking_of(server, model=Model("m", tools="text")))
    assert isinstance(reply, Reply)
    assert reply.stop is StopReason.CALLS
    assert [(call.name, call.arguments) for call in reply.message.calls] == [("read_file", '{"path": "a"}')]
    assert "".join(piece.text for piece in pieces if isinstance(piece, Fragment)).strip() == "I look."


def test_words_that_only_look_like_a_call_are_shown_in_the_end() -> None:
    body = openai_answer({"content": 'As JSON:\n{"tool'}, {"content": '"'})
    with playing(streamed(body)) as server:
        *pieces, reply = answered(asking_of(server, model=Model("m", tools="text")))
    assert isinstance(reply, Reply)
    assert "".join(piece.text for piece in pieces if isinstance(piece, Fragment)) == reply.message.text
