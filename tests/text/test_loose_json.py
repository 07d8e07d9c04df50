"""Foreign bytes become JSON values or a reason, within bounds."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import peak
from whet.text.fields import DEPTH_LIMIT, Unreadable, parse


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert parse(rb'{"a\ud83d": ["\ude00", "\ud83d\ude00"]}') == {"a\ufffd": ["\ufffd", "😀"]}


def test_numbers_that_json_does_not_know_are_taken() -> None:
    value = parse(b"[NaN, -Infinity, 1e999]")
    assert isinstance(value, list)
    assert str(value) == "[nan, -inf, inf]"


@pytest.mark.parametrize("depth", [DEPTH_LIMIT + 2, 900, 5_000, 1_000_000])
@pytest.mark.parametrize("lenient", [False, True])
def test_deep_nesting_is_refused(depth: int, lenient: bool) -> None:
    core = b"NaN" if lenient else b"1"
    with pytest.raises(Unreadable, match="nested too deeply"):
        parse(b"[" * depth + core + b"]" * depth)
    with pytest.raises(Unreadable, match="nested too deeply"):
        parse(b'{"a":' * depth + core + b"}" * depth)


def test_nesting_within_the_limit_is_read() -> None:
    assert parse(b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT)
    assert parse(b"[" + b"[]," * 1000 + b"[]]")


def test_brackets_in_text_are_not_nesting() -> None:
    assert parse(json.dumps("[" * 10_000).encode()) == "[" * 10_000


def test_millions_of_empty_values_are_refused_before_they_fill_the_memory() -> None:
    body = b"[" + b"{}," * (5 << 20) + b"{}]"
    with peak() as used, pytest.raises(Unreadable, match="too many values"):
        parse(body)
    assert used[0] < 1 << 20


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_unreadable(body: bytes) -> None:
    for candidate in (body, b'{"a":' + body, b'"' + body + b'"'):
        with contextlib.suppress(Unreadable):
            json.dumps(parse(candidate)).encode("utf-8")
