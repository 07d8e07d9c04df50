"""Server-sent events come out the same wherever the bytes are cut."""

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.providers.events import Event, EventReader, Malformed, joined_halves, record_of

STREAM = (
    '\ufeff: hello\r\nevent: one\r\ndata: {"text": "größe 😀"}\r\n\r\n'
    "data:first\ndata: second\n\nretry: 5\nid: 7\n\nevent: empty\n\ndata\n\rdata: after\r\r"
    "data: [DONE]"
).encode()
EXPECTED = [
    Event("one", '{"text": "größe 😀"}'.encode()),
    Event("", b"first\nsecond"),
    Event("", b""),
    Event("", b"after"),
    Event("", b"[DONE]"),
]


def taken(chunks: list[bytes]) -> list[Event]:
    events = EventReader()
    found = [event for chunk in chunks for event in events.take(chunk)]
    return [*found, *events.finish()]


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_any_split_gives_the_same_events(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert taken([STREAM[start:end] for start, end in itertools.pairwise(places)]) == EXPECTED


def test_every_single_byte_alone_gives_the_same_events() -> None:
    assert taken([bytes([byte]) for byte in STREAM]) == EXPECTED


def test_an_event_without_end_is_refused_before_memory_is_full() -> None:
    with pytest.raises(Malformed):
        taken([b"x" * (1 << 20)] * 40)


@given(st.binary())
def test_any_bytes_are_a_record_or_malformed(body: bytes) -> None:
    with contextlib.suppress(Malformed):
        assert isinstance(record_of(body), dict)


def test_halves_of_a_character_that_came_apart_become_one() -> None:
    first, second = record_of(rb'{"t": "a\ud83d"}')["t"], record_of(rb'{"t": "\ude00b"}')["t"]
    assert joined_halves(first + second) == "a😀b"
    assert joined_halves(first) == "a\ufffd"
