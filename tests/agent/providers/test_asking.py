"""What a provider does when an endpoint fails: it tries again where that makes sense, and says what is wrong."""

import json
from email.utils import formatdate
from threading import Event

import pytest

from agent.loopback import Play, events, playing, refused, streamed
from agent.prefixes import Watch
from agent.providers.vendor_streams import (
    KEY,
    RUN,
    Pauses,
    answered,
    anthropic_answer,
    anthropic_events,
    asking_of,
    call_piece,
    chunk,
    hurried_clock,
    openai_answer,
    replied,
)
from whet.agent.protocols import ProviderFailed, ProviderFault, Reply, StopReason
from whet.net.wire import Interrupted
from whet.own.runs.run import Fragment

GOOD = openai_answer(
    {"content": "Hello"}, {"tool_calls": [call_piece(0, "{}", call_id="c1", name="f")]}, finish="tool_calls"
)
HTML = Play((b"<html>Log in</html>",), headers={"Content-Type": "text/html"}, framing="length")


def failure(*plays: Play, kind: str = "openai", retries: int = 3) -> tuple[ProviderFailed, int]:
    """How asking ends that ends badly, and how many requests were made."""
    with playing(*plays) as server:
        steady = hurried_clock(server.stalled)
        provider = asking_of(server, kind, retries=retries, steady=steady)
        with pytest.raises(ProviderFailed) as raised:
            replied(provider)
        return raised.value, len(server.requests)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_failure_is_tried_again_later_each_time(status: int, watched: Watch) -> None:
    pauses = Pauses()
    with playing(refused(status), refused(status), streamed(GOOD)) as server:
        reply = replied(watched(asking_of(server, pauses=pauses)))
        bodies = {request.body for request in server.requests}
    assert reply.message.text == "Hello"
    assert pauses.seconds == [0.25, 0.5]
    assert len(bodies) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": formatdate(1_800_000_060, usegmt=True)}, 60),
    ],
)
def test_the_wait_that_the_endpoint_asks_for_is_kept(headers: dict[str, str], seconds: float) -> None:
    pauses = Pauses()
    with playing(refused(429, headers=headers), streamed(GOOD)) as server:
        replied(asking_of(server, pauses=pauses))
    assert pauses.seconds == [seconds]


def test_a_wait_of_an_hour_is_not_waited_for_but_told() -> None:
    failed, requests = failure(refused(429, headers={"Retry-After": "3600"}))
    assert (failed.fault, requests) == (ProviderFault.LIMIT, 1)
    assert "3600 seconds" in failed.message


@pytest.mark.parametrize(("wish", "requests"), [("true", 4), ("false", 1)])
def test_the_endpoint_may_say_whether_to_try_again(wish: str, requests: int) -> None:
    status = 400 if wish == "true" else 500
    assert failure(refused(status, headers={"x-should-retry": wish}))[1] == requests


@pytest.mark.parametrize(
    ("play", "fault", "tries"),
    [
        (refused(429), ProviderFault.LIMIT, 4),
        (refused(503), ProviderFault.ENDPOINT, 4),
        (refused(400), ProviderFault.REQUEST, 1),
        (refused(400, {"error": {"code": "context_length_exceeded", "message": "long"}}), ProviderFault.CONTEXT, 1),
        (refused(429, {"error": {"code": "insufficient_quota", "message": "none"}}), ProviderFault.MONEY, 1),
        (refused(401), ProviderFault.KEY, 1),
        (refused(307, headers={"Location": "https://elsewhere.org/v1"}), ProviderFault.REQUEST, 1),
        (HTML, ProviderFault.ENDPOINT, 1),
        (Play((b"nonsense\r\n\r\n",), framing="raw", ending="cut"), ProviderFault.NETWORK, 4),
        (
            Play((b"{broken",), headers={"Content-Type": "application/json"}, framing="length"),
            ProviderFault.ENDPOINT,
            4,
        ),
        (streamed(b"data: {broken\n\n"), ProviderFault.ENDPOINT, 4),
        (streamed(b"data: [1, 2]\n\n"), ProviderFault.ENDPOINT, 4),
        (streamed(b"data: \xff\xfe\n\n"), ProviderFault.ENDPOINT, 4),
        (streamed(b""), ProviderFault.ENDPOINT, 4),
        (streamed(events({"error": {"message": "boom", "code": 502}})), ProviderFault.ENDPOINT, 4),
        (streamed(events({"error": {"message": "x", "code": "context_length_exceeded"}})), ProviderFault.CONTEXT, 1),
        (streamed(events(chunk({"content": "x"}, "error"))), ProviderFault.ENDPOINT, 4),
        (streamed(GOOD[:400], ending="cut"), ProviderFault.NETWORK, 4),
        (streamed(GOOD[:400], ending="reset"), ProviderFault.NETWORK, 4),
        (streamed(GOOD[:400]), ProviderFault.ENDPOINT, 4),
        (Play((GOOD[:400],), framing="length", ending="cut"), ProviderFault.NETWORK, 4),
        (Play((GOOD[:400],), framing="close"), ProviderFault.ENDPOINT, 4),
        (Play(ending="cut", framing="raw"), ProviderFault.NETWORK, 4),
    ],
)
def test_every_failure_is_told_as_what_it_is(play: Play, fault: ProviderFault, tries: int) -> None:
    failed, requests = failure(play)
    assert (failed.fault, requests) == (fault, tries)
    assert failed.message.startswith("mine")
    assert KEY not in f"{failed.message} {failed.advice} {failed!r}"


@pytest.mark.parametrize(
    ("body", "fault", "tries"),
    [
        (
            events({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, names=True),
            ProviderFault.ENDPOINT,
            4,
        ),
        (
            events({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}),
            ProviderFault.CONTEXT,
            1,
        ),
        (events(*anthropic_events()[:-1], names=True), ProviderFault.ENDPOINT, 4),
        (
            events({"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}}),
            ProviderFault.ENDPOINT,
            4,
        ),
    ],
)
def test_failures_in_streams_of_the_other_form(body: bytes, fault: ProviderFault, tries: int) -> None:
    failed, requests = failure(streamed(body), kind="anthropic")
    assert (failed.fault, requests) == (fault, tries)


def test_nothing_of_a_cut_answer_is_in_the_reply_and_eyes_are_told(watched: Watch) -> None:
    cut = openai_answer({"content": "Half of"}, {"tool_calls": [call_piece(0, '{"a', call_id="x", name="f")]})
    for end in range(60, len(cut) - 400, 97):
        with playing(streamed(cut[:end], ending="cut"), streamed(GOOD)) as server:
            *pieces, reply = answered(watched(asking_of(server)))
        assert isinstance(reply, Reply)
        assert (reply.message.text, [call.id for call in reply.message.calls]) == ("Hello", ["c1"])
        kinds = [piece.kind for piece in pieces if isinstance(piece, Fragment) and piece.kind != "wait"]
        shown = kinds.index("again") if "again" in kinds else 0
        assert kinds[shown:] in (["again", "text", "call"], ["text", "call"])


def test_an_answer_that_is_whole_is_taken_even_if_the_connection_is_cut_behind_it() -> None:
    with playing(streamed(GOOD, ending="cut")) as server:
        assert replied(asking_of(server)).message.text == "Hello"


def test_an_answer_that_says_why_it_stopped_needs_no_end_mark() -> None:
    without = GOOD.removesuffix(b"data: [DONE]\n\n")
    for play in (streamed(without), streamed(without.rstrip()), Play((without,), framing="close")):
        with playing(play) as server:
            assert replied(asking_of(server)).stop is StopReason.CALLS


@pytest.mark.parametrize("begun", [b"", GOOD[:200]])
def test_a_stream_in_which_nothing_comes_is_given_up_in_time(begun: bytes) -> None:
    failed, _ = failure(streamed(begun, ending="stall"), retries=0)
    assert failed.fault is ProviderFault.NETWORK
    assert "nothing came for 300 seconds" in failed.message


def test_a_head_that_never_comes_is_given_up_in_time() -> None:
    failed, _ = failure(Play(framing="raw", ending="stall"), retries=0)
    assert failed.fault is ProviderFault.NETWORK


@pytest.mark.parametrize("begun", [Play(framing="raw", ending="stall"), streamed(GOOD[:200], ending="stall")])
def test_an_interrupt_ends_a_stalled_answer(begun: Play) -> None:
    interrupt = Event()
    with playing(begun) as server:
        server.on_stall = interrupt
        provider = asking_of(server)
        with pytest.raises(Interrupted):
            answered(provider, interrupt=interrupt)
        assert len(server.requests) == 1


def test_an_interrupt_ends_the_wait_before_another_try() -> None:
    class Interrupting(Pauses):
        def wait(self, interrupt: Event, seconds: float) -> bool:
            interrupt.set()
            return super().wait(interrupt, seconds)

    with playing(refused(500)) as server:
        provider = asking_of(server, pauses=Interrupting())
        with pytest.raises(Interrupted):
            answered(provider)
        assert len(server.requests) == 1


def test_an_endpoint_that_is_not_there_is_told_at_once() -> None:
    pauses = Pauses()
    with playing(streamed(GOOD)) as server:
        provider = asking_of(server, pauses=pauses)
    with pytest.raises(ProviderFailed, match="cannot be reached") as raised:
        replied(provider)
    assert raised.value.fault is ProviderFault.NETWORK
    assert "No program listens there" in raised.value.advice
    assert pauses.seconds == []


def test_a_reply_that_nobody_reads_to_its_end_leaves_nothing_open() -> None:
    with playing(streamed(GOOD, ending="stall")) as server:
        replies = asking_of(server).reply(RUN, interrupt=Event())
        assert isinstance(next(replies), Fragment)
        replies.close()  # type: ignore[attr-defined]  # it is a generator


def test_what_is_sent_is_the_request_with_the_key_in_its_header_only() -> None:
    with playing(streamed(anthropic_answer())) as server:
        provider = asking_of(server, "anthropic")
        answered(provider)
        request = server.requests[0]
    assert request.headers["x-api-key"] == KEY
    assert request.body == provider.request(RUN)
    assert KEY not in json.dumps(request.json)


def test_who_waits_is_told_why_and_how_long() -> None:
    with playing(refused(429, headers={"Retry-After": "2"}), streamed(GOOD)) as server:
        said = answered(asking_of(server))
    waits = [piece.text for piece in said if isinstance(piece, Fragment) and piece.kind == "wait"]
    assert waits == ["rate limited, try 2 of 4 in 2 s"]
