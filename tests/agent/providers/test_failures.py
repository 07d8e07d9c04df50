"""Errors of the vendors, as they document them, become faults with advice."""

import json
from typing import Any

import pytest

from agent.providers.vendor_streams import KEY, KEY_VARIABLE
from whet.agent.protocols import Fault
from whet.agent.providers.failures import Asked, failure_in_stream, failure_of, redirected

ASKED = Asked("mine", KEY_VARIABLE, KEY)


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


CASES: tuple[tuple[int, Any, Fault, bool], ...] = (
    (400, openai("Too long", "context_length_exceeded"), Fault.CONTEXT, False),
    (400, openai("This model's maximum context length is 4096 tokens."), Fault.CONTEXT, False),
    (
        400,
        anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        Fault.CONTEXT,
        False,
    ),
    (413, anthropic("request_too_large", "Request exceeds the maximum size"), Fault.CONTEXT, False),
    (400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}}, Fault.CONTEXT, False),
    (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (9) exceeds the maximum",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        Fault.CONTEXT,
        False,
    ),
    (
        400,
        {
            "object": "error",
            "message": "Prompt contains 9 tokens, too large for model with 5 maximum context length",
            "type": "invalid_request_prompt",
        },
        Fault.CONTEXT,
        False,
    ),
    (429, openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), Fault.MONEY, False),
    (402, {"error": {"message": "Insufficient Balance"}}, Fault.MONEY, False),
    (400, anthropic("invalid_request_error", "Your credit balance is too low"), Fault.MONEY, False),
    (401, openai(f"Incorrect API key provided: {KEY}", "invalid_api_key"), Fault.KEY, False),
    (403, anthropic("permission_error", "no"), Fault.KEY, False),
    (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "API key not valid. Please pass a valid API key.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        Fault.KEY,
        False,
    ),
    (
        429,
        openai("Rate limit reached: limit 30000 tokens, context window", "rate_limit_exceeded", "tokens"),
        Fault.LIMIT,
        True,
    ),
    (429, b"slow down", Fault.LIMIT, True),
    (529, anthropic("overloaded_error", "Overloaded"), Fault.ENDPOINT, True),
    (500, anthropic("api_error", "Internal"), Fault.ENDPOINT, True),
    (503, b"<html>", Fault.ENDPOINT, True),
    (408, b"", Fault.ENDPOINT, True),
    (409, b"", Fault.ENDPOINT, True),
    (404, openai("The model `m` does not exist", "model_not_found"), Fault.REQUEST, False),
    (422, {"detail": [{"loc": ["body"], "msg": "bad"}]}, Fault.REQUEST, False),
    (400, {"error": "registry.example/m does not support tools"}, Fault.REQUEST, False),
)


@pytest.mark.parametrize(("status", "body", "fault", "is_passing"), CASES)
def test_an_error_is_understood(status: int, body: Any, fault: Fault, is_passing: bool) -> None:
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
        ({"type": "overloaded_error", "message": "Overloaded"}, Fault.ENDPOINT, True),
        ({"code": 502, "message": "Provider returned error"}, Fault.ENDPOINT, True),
        ({"code": 429, "message": "slow"}, Fault.LIMIT, True),
        ({"code": "context_length_exceeded", "message": "x"}, Fault.CONTEXT, False),
        ({"type": "invalid_request_error", "message": "x"}, Fault.REQUEST, False),
        ("it broke", Fault.ENDPOINT, True),
        (None, Fault.ENDPOINT, True),
    ],
)
def test_an_error_inside_a_stream_is_understood(error: object, fault: Fault, is_passing: bool) -> None:
    failure = failure_in_stream(error, ASKED)
    assert (failure.fault, failure.is_passing) == (fault, is_passing)


def test_a_redirect_is_named_without_what_may_be_secret_in_it() -> None:
    failure = redirected(307, "https://me:secret@elsewhere.org/v1?token=secret", ASKED)
    assert "elsewhere.org/v1" in failure.advice
    assert "secret" not in failure.advice
