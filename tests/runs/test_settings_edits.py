"""Editing the settings file: the value changes, everything else stays as the person wrote it."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.runs.settings import parse
from whet.runs.settings_edits import assigned, encoded, path_of, removed

FILE = """\
# Mine.
model = "local"  # for the train

# What a turn may take.
[budget]
tokens = 5_000   # enough
seconds = 60.0

[providers."my server"]
base_url = "http://127.0.0.1:1/v1"
"""

VALUES: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("model",), 'a "quoted" = # name\x7f'),
    (("context_files",), False),
    (("tools",), ["files", "[x]"]),
    (("budget", "tokens"), 7),
    (("budget", "dollars"), 0.5),
    (("sandbox", "network"), True),
    (("providers", "my server", "retries"), 2),
    (("providers", "other", "base_url"), "http://other"),
)


def test_a_changed_value_keeps_its_comment_and_every_other_line() -> None:
    changed = assigned(FILE, ("model",), "openai:x")
    assert changed == FILE.replace('"local"', '"openai:x"')
    assert assigned(FILE, ("budget", "tokens"), 7) == FILE.replace("5_000   # enough", "7  # enough")


def test_a_new_value_stands_in_its_table() -> None:
    changed = assigned(FILE, ("budget", "dollars"), 0.5)
    assert changed == FILE.replace("seconds = 60.0\n", "seconds = 60.0\ndollars = 0.5\n")


def test_a_first_value_does_not_fall_into_a_table() -> None:
    text = "# About the budget.\n[budget]\ntokens = 5\n"
    assert assigned(text, ("model",), "local") == 'model = "local"\n\n' + text


def test_unsetting_takes_the_line_and_an_empty_header_away() -> None:
    assert removed(FILE, ("budget", "tokens")) == FILE.replace("tokens = 5_000   # enough\n", "")
    gone = removed(FILE, ("providers", "my server", "base_url"))
    assert not parse(gone).providers
    assert removed(FILE, ("providers", "my server")) == gone


def test_what_is_not_set_cannot_be_unset() -> None:
    with pytest.raises(WhetError, match="is not set"):
        removed(FILE, ("chat", "thoughts"))


def test_a_value_over_several_lines_is_replaced_whole() -> None:
    text = 'tools = [\n  "files", # [budget]\n  "terminal",\n]\nmodel = """\nlocal"""\n'
    assert assigned(text, ("tools",), ["files"]) == 'tools = ["files"]\nmodel = """\nlocal"""\n'


def test_a_form_that_lines_cannot_change_is_left_to_the_person() -> None:
    text = "budget = { tokens = 5 }\n"
    with pytest.raises(WhetError, match="only you can change"):
        assigned(text, ("budget", "seconds"), 5.0)


def test_names_with_dots_and_slashes_need_no_quotes() -> None:
    assert path_of("models.openai/gpt-5.1.window") == ("models", "openai/gpt-5.1", "window")
    assert path_of('models."a.b".window') == ("models", "a.b", "window")
    assert path_of("budget.tokens") == ("budget", "tokens")
    with pytest.raises(WhetError):
        path_of("budget tokens")


@given(st.lists(st.sampled_from(VALUES), max_size=6), st.sampled_from(["", FILE, FILE.rstrip("\n")]))
def test_any_order_of_changes_gives_the_values_and_back(changes: list[tuple[tuple[str, ...], Any]], text: str) -> None:
    comments = [line for line in text.splitlines() if line.startswith("#")]
    for path, value in changes:
        text = assigned(text, path, value)
        node: Any = tomllib.loads(text)
        for name in path:
            node = node[name]
        assert node == value
        parse(text)
    for path in {path for path, _ in changes}:
        text = removed(text, path)
    assert [line for line in text.splitlines() if line.startswith("#")] == comments


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_written_so_that_it_reads_the_same(value: str) -> None:
    assert tomllib.loads(f"a = {encoded(value)}")["a"] == value
