"""TOML that Whet writes: read again it is the same, and people can read it too."""

import datetime
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.text.toml import encoded, table

TEXTS = st.text(st.characters(codec="utf-8"))
PLAIN = st.one_of(TEXTS, st.booleans(), st.integers(), st.floats(allow_nan=False))
VALUES = st.recursive(
    PLAIN, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)), max_leaves=8
)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_whatever_is_written_is_read_again(fields: dict[str, Any]) -> None:
    assert tomllib.loads(table(fields)) == fields


@given(VALUES)
def test_a_single_value_is_read_again(value: Any) -> None:
    assert tomllib.loads(f"a = {encoded(value)}")["a"] == value


def test_a_text_of_several_lines_stands_as_it_is_where_it_can() -> None:
    assert encoded("one\n  'two'\n") == "'''\none\n  'two'\n'''"
    assert encoded("ends with a quote\n'") == '"ends with a quote\\n\'"'
    assert encoded("a\r\nb") == '"a\\r\\nb"'


def test_tables_stand_below_plain_values() -> None:
    fields = {"inner": {"x": 1, "deep": {"y y": [1, {"z": 2}]}}, "a": True, "none": {}}
    assert table(fields) == 'a = true\n\n[inner]\nx = 1\n\n[inner.deep]\n"y y" = [1, {z = 2}]\n\n[none]\n'


def test_a_moment_is_written_as_one() -> None:
    moment = datetime.datetime(2026, 12, 1, 9, tzinfo=datetime.UTC)
    assert encoded(moment) == "2026-12-01T09:00:00Z"


def test_what_no_file_can_hold_is_refused() -> None:
    with pytest.raises(WhetError, match="UTF-8"):
        encoded("\udcff")
