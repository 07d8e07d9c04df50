"""Words, and the promise that no pattern of the project is slow on anything."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickness import is_linear
from test_purity import PACKAGES
from whet.secrets.looks import LONGEST_VALUE
from whet.text.words import PARAGRAPH_REACH, last_paragraph, own_words, shortened

LENGTH = 1 << 16
# What judges single values sees no longer ones than these.
BOUNDED = {"looks": LONGEST_VALUE}
# These are only ever asked whether a text begins with them or is one.
ANCHORED = {
    "redactor._COLON",
    "looks._CODE",
    "patches.NAMES",
    "job.NAMES",
    "templates.NAMES",
    "note_pages._MARKER",
}
PUMPS = (
    "a",
    "a ",
    " ",
    "\n",
    "```",
    "<thinking>",
    '"',
    "“",
    "'",
    "/",
    "no ",
    "has been ",
    "0",
    "x.y@",
    "error: ",
    "$(",
)


def test_a_speakers_own_words_leave_out_what_is_shown() -> None:
    text = 'Yes.\n```\nyou forgot\n```\n> that is wrong\nHe said "not what I wanted". `stop that` Fine.'
    assert own_words(text).split() == ["Yes.", "He", "said", ".", "Fine."]


def test_thinking_is_not_said_aloud_unless_nothing_else_is() -> None:
    assert own_words("<thinking>I give up</thinking>Here it is.").strip() == "Here it is."
    assert "give up" in own_words("<thinking>I give up</thinking>")


def test_the_last_paragraph_is_the_end_of_what_was_said() -> None:
    assert last_paragraph("It is done.\n\n1. Shall I push?\n2. Or wait.\n") == "1. Shall I push?\n2. Or wait."
    assert last_paragraph("") == ""


@given(st.text())
def test_any_text_can_be_listened_to(text: str) -> None:
    assert len(last_paragraph(own_words(text))) <= PARAGRAPH_REACH
    assert len(shortened(text, 160)) <= 160
    assert "\n" not in shortened(text)


def module_patterns() -> Iterator[tuple[str, object]]:
    """Every compiled pattern that a pure module holds, alone or in a collection."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(importlib.import_module(f"whet.{package}").__path__, f"whet.{package}."):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                yield from ((f"{found.name.rpartition('.')[2]}.{name}", pattern) for pattern in _patterns(value))


def _patterns(value: object) -> Iterator[object]:
    if isinstance(value, re.Pattern) or (type(value).__module__.startswith("re2") and hasattr(value, "search")):
        yield value
    elif isinstance(value, tuple | list | frozenset | set):
        for item in value:
            yield from _patterns(item)
    elif isinstance(value, dict):
        yield from _patterns(tuple(value.values()))
    elif getattr(value, "__qualname__", "").startswith("on_demand.") and callable(value):
        yield value()


def test_the_patterns_of_the_project_are_found() -> None:
    names = {name.partition(".")[0] for name, _ in module_patterns()}
    assert {"words", "fingerprints", "verdicts", "envelopes", "showing"} <= names


@pytest.mark.parametrize("pump", PUMPS)
def test_no_pattern_is_slow_on_a_pumped_text(pump: str) -> None:
    found = module_patterns()
    # One search by RE2 is linear, whatever the pattern.
    slow = {name for name, each in found if isinstance(each, re.Pattern) and not searches_fast(name, each, pump)}
    assert not slow


def searches_fast(name: str, pattern: "re.Pattern[Any]", pump: str) -> bool:
    look = pattern.match if name in ANCHORED else pattern.search
    is_bytes = isinstance(pattern.pattern, bytes)
    length = BOUNDED.get(name.partition(".")[0], LENGTH)
    return is_linear(lambda text: look(text.encode() if is_bytes else text), pump, length)


@pytest.mark.parametrize("pump", PUMPS)
def test_no_text_is_slow_to_listen_to(pump: str) -> None:
    assert is_linear(own_words, pump, LENGTH)
