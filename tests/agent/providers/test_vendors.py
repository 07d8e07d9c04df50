"""Events come out the same wherever the bytes are cut, and failures are told in the vendors' own codes."""

import contextlib
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.providers.vendor_streams import KEY, KEY_VARIABLE
from whet.agent.protocols import ProviderFault
from whet.agent.providers.vendors import (
    Asked,
    Malformed,
    events,
    failure_in_stream,
    failure_of,
    joined_halves,
    record_of,
    redirected,
)

STREAM = (
    '\ufeff: hello\r\nevent: one\r\ndata: {"text": "größe 😀"}\r\n\r\n'
    "data:first\ndata: second\n\nretry: 5\nid: 7\n\nevent: empty\n\ndata\n\rdata: after\r\r"
    "data: [DONE]"
).encode()
EXPECTED = ['{"text": "größe 😀"}'.encode(), b"first\nsecond", b"", b"after", b"[DONE]"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_any_split_gives_the_same_events(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert list(events([STREAM[start:end] for start, end in itertools.pairwise(places)])) == EXPECTED


def test_every_single_byte_alone_gives_the_same_events() -> None:
    assert list(events([bytes([byte]) for byte in STREAM])) == EXPECTED


def test_an_event_without_end_is_refused_before_memory_is_full() -> None:
    with pytest.raises(Malformed):
        list(events([b"x" * (1 << 20)] * 40))


@given(st.binary())
def test_any_bytes_are_a_record_or_malformed(body: bytes) -> None:
    with contextlib.suppress(Malformed):
        assert isinstance(record_of(body), dict)


def test_halves_of_a_character_that_came_apart_become_one() -> None:
    first, second = record_of(rb'{"t": "a\ud83d"}')["t"], record_of(rb'{"t": "\ude00b"}')["t"]
    assert joined_halves(first + second) == "a😀b"
    assert joined_halves(first) == "a\ufffd"


ASKED = Asked("mine", KEY_VARIABLE, KEY)


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def google(message: str) -> list[dict[str, Any]]:
    return [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


MISTRAL = "Prompt contains 9 tokens, too large for model with 5 maximum context length"
CASES: tuple[tuple[int, Any, ProviderFault, bool], ...] = (
    (400, openai("Too long", "context_length_exceeded"), ProviderFault.CONTEXT, False),
    (400, openai("This model's maximum context length is 4096 tokens."), ProviderFault.CONTEXT, False),
    (400, anthropic("invalid_request_error", "prompt is too long: 9 tokens > 5 maximum"), ProviderFault.CONTEXT, False),
    (413, anthropic("request_too_large", "Request exceeds the maximum size"), ProviderFault.CONTEXT, False),
    (400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}}, ProviderFault.CONTEXT, False),
    (400, google("The input token count (9) exceeds the maximum"), ProviderFault.CONTEXT, False),
    (400, {"object": "error", "message": MISTRAL, "type": "invalid_request_prompt"}, ProviderFault.CONTEXT, False),
    (429, openai("You exceeded your quota", "insufficient_quota", "insufficient_quota"), ProviderFault.MONEY, False),
    (402, {"error": {"message": "Insufficient Balance"}}, ProviderFault.MONEY, False),
    (400, anthropic("invalid_request_error", "Your credit balance is too low"), ProviderFault.MONEY, False),
    (401, openai(f"Incorrect API key provided: {KEY}", "invalid_api_key"), ProviderFault.KEY, False),
    (403, anthropic("permission_error", "no"), ProviderFault.KEY, False),
    (400, google("API key not valid. Please pass a valid API key."), ProviderFault.KEY, False),
    (429, openai("Limit 30000 tokens, context window", "rate_limit_exceeded", "tokens"), ProviderFault.LIMIT, True),
    (429, b"slow down", ProviderFault.LIMIT, True),
    (529, anthropic("overloaded_error", "Overloaded"), ProviderFault.ENDPOINT, True),
    (500, anthropic("api_error", "Internal"), ProviderFault.ENDPOINT, True),
    (503, b"<html>", ProviderFault.ENDPOINT, True),
    (408, b"", ProviderFault.ENDPOINT, True),
    (409, b"", ProviderFault.ENDPOINT, True),
    (404, openai("The model `m` does not exist", "model_not_found"), ProviderFault.REQUEST, False),
    (422, {"detail": [{"loc": ["body"], "msg": "bad"}]}, ProviderFault.REQUEST, False),
    (400, {"error": "registry.example/m does not support tools"}, ProviderFault.REQUEST, False),
)


@pytest.mark.parametrize(("status", "body", "fault", "is_passing"), CASES)
def test_an_error_is_understood(status: int, body: Any, fault: ProviderFault, is_passing: bool) -> None:
    failure = failure_of(status, body if isinstance(body, bytes) else json.dumps(body).encode(), ASKED)
    assert (failure.fault, failure.is_passing) == (fault, is_passing)
    assert failure.message.startswith("mine")
    assert KEY not in f"{failure.message}{failure.advice}"


def test_advice_for_a_wrong_key_names_its_variable_and_repeats_nothing_of_it() -> None:
    failure = failure_of(401, json.dumps(openai(f"Incorrect API key provided: {KEY[:8]}***")).encode(), ASKED)
    assert KEY_VARIABLE in failure.advice
    assert KEY[:8] not in failure.message


def test_a_key_in_any_other_error_is_left_out() -> None:
    failure = failure_of(400, json.dumps(openai(f"header {KEY} is odd")).encode(), ASKED)
    assert "header … is odd" in failure.message


@pytest.mark.parametrize(
    ("error", "fault", "is_passing"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, ProviderFault.ENDPOINT, True),
        ({"code": 502, "message": "Provider returned error"}, ProviderFault.ENDPOINT, True),
        ({"code": 429, "message": "slow"}, ProviderFault.LIMIT, True),
        ({"code": "context_length_exceeded", "message": "x"}, ProviderFault.CONTEXT, False),
        ({"type": "invalid_request_error", "message": "x"}, ProviderFault.REQUEST, False),
        ("it broke", ProviderFault.ENDPOINT, True),
        (None, ProviderFault.ENDPOINT, True),
    ],
)
def test_an_error_inside_a_stream_is_understood(error: object, fault: ProviderFault, is_passing: bool) -> None:
    failure = failure_in_stream(error, ASKED)
    assert (failure.fault, failure.is_passing) == (fault, is_passing)


def test_a_redirect_is_named_without_what_may_be_secret_in_it() -> None:
    failure = redirected(307, "https://me:secret@elsewhere.org/v1?token=secret", ASKED)
    assert "elsewhere.org/v1" in failure.advice
    assert "secret" not in failure.advice
