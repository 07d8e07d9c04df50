"""Editing TOML: the value changes, everything else stays as the person wrote it."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.own.runs.settings import parse
from whet.text.toml_edits import assigned, removed

FILE = """\
# Mine.
model = "local"  # for the train

# What a turn may take.
[budget]
tokens = 5_000   # enough
model_calls = 60

[providers."my server"]
base_url = "http://127.0.0.1:1/v1"
"""

VALUES: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("model",), 'a "quoted" = # name\x7f'),
    (("prompt", "parts"), ["memory"]),
    (("tools",), ["files", "[x]"]),
    (("budget", "tokens"), 7),
    (("budget", "dollars"), 0.5),
    (("sandbox", "network"), True),
    (("providers", "my server", "timeout_seconds"), 2),
    (("providers", "other", "base_url"), "http://other"),
)


def test_a_changed_value_keeps_its_comment_and_every_other_line() -> None:
    changed = assigned(FILE, ("model",), "openai:x")
    assert changed == FILE.replace('"local"', '"openai:x"')
    assert assigned(FILE, ("budget", "tokens"), 7) == FILE.replace("5_000   # enough", "7   # enough")


def test_a_new_value_stands_in_its_table() -> None:
    changed = assigned(FILE, ("budget", "dollars"), 0.5)
    assert changed == FILE.replace("model_calls = 60\n", "model_calls = 60\ndollars = 0.5\n")


def test_a_first_value_does_not_fall_into_a_table() -> None:
    text = "# About the budget.\n[budget]\ntokens = 5\n"
    assert assigned(text, ("model",), "local") == 'model = "local"\n\n' + text


def test_unsetting_takes_the_line_and_an_empty_header_away() -> None:
    assert removed(FILE, ("budget", "tokens")) == FILE.replace("tokens = 5_000   # enough\n", "")
    gone = removed(FILE, ("providers", "my server", "base_url"))
    assert not parse(gone).providers
    assert removed(FILE, ("providers", "my server")) == gone


def test_taking_away_what_is_not_there_changes_nothing() -> None:
    assert removed(FILE, ("chat", "thoughts")) == FILE
    assert removed(FILE, ("model", "thoughts")) == FILE


def test_the_comment_above_a_table_stays_with_it() -> None:
    text = "[a]\nx = 1\n\n# about b\n[b]\ny = 1\n"
    assert assigned(text, ("a", "z"), 2) == text.replace("x = 1\n", "x = 1\nz = 2\n")
    assert removed(text, ("a",)) == "# about b\n[b]\ny = 1\n"
    assert removed(text, ("a", "x")) == "# about b\n[b]\ny = 1\n"
    nested = "[p.one]\nx = 1\n# about two\n[p.two]\ny = 1\n"
    assert "# about two\n[p.two]" in removed(nested, ("p", "one"))
    assert removed(nested, ("p",)) == "# about two\n"


def test_a_value_over_several_lines_is_replaced_whole() -> None:
    text = 'tools = [\n  "files", # [budget]\n  "terminal",\n]\nmodel = """\nlocal"""\n'
    assert assigned(text, ("tools",), ["files"]) == 'tools = ["files"]\nmodel = """\nlocal"""\n'


def test_a_table_on_one_line_and_dotted_names_are_changed_too() -> None:
    assert (
        assigned("budget = { tokens = 5 }\n", ("budget", "seconds"), 5.0) == "budget = { tokens = 5, seconds = 5.0 }\n"
    )
    assert assigned("budget.tokens = 5\n", ("budget", "seconds"), 5.0) == "budget.tokens = 5\nbudget.seconds = 5.0\n"
    assert removed("budget = { tokens = 5 }\nmodel = 1\n", ("budget", "tokens")) == "model = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "[a.b]\nx = 1\n[c]\n[a.d]\ny = 1\n",  # one table in two places
        "a = 1\n",
        "a = [1]\n",
        "[[a]]\nx = 1\n",
    ],
)
def test_a_form_in_which_there_is_no_place_is_left_to_the_person(text: str) -> None:
    with pytest.raises(WhetError, match="cannot edit"):
        assigned(text, ("a", "e", "z"), 5)


def test_a_whole_table_is_neither_written_over_nor_taken_away_from_two_places() -> None:
    with pytest.raises(WhetError, match="cannot edit"):
        assigned(FILE, ("budget",), 5)
    with pytest.raises(WhetError, match="cannot edit"):
        removed("[a.b]\n[a]\n# mine\n", ("a",))


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


NAMES = st.sampled_from(["a", "b", "c d", "e.f"])
PLAIN = st.builds(
    "{} = {}{}".format, NAMES.map(lambda name: f'"{name}"'), st.integers(0, 9), st.sampled_from(["", " # x"])
)
HEADERS = st.lists(NAMES, min_size=1, max_size=2).map(lambda names: "[" + ".".join(f'"{name}"' for name in names) + "]")
LINES = st.lists(st.one_of(PLAIN, HEADERS, st.sampled_from(["", "# one", "# two", "  # three"])), max_size=12)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)


@given(LINES, PATHS, st.one_of(st.integers(0, 9), st.just("t\nu"), st.just([1, "x"])), st.booleans())
def test_whatever_the_file_looks_like_one_value_changes_and_no_comment_is_lost(
    lines: list[str], path: tuple[str, ...], value: Any, removing: bool
) -> None:
    text = "\n".join(lines)
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    try:
        changed = removed(text, path) if removing else assigned(text, path, value)
    except WhetError:
        return
    after = tomllib.loads(changed)
    assert values(after) == {
        **{place: each for place, each in values(before).items() if place[: len(path)] != path},
        **({} if removing else {path: value}),
    }
    assert [line.strip() for line in changed.splitlines() if line.strip().startswith("#")] == [
        line.strip() for line in lines if line.strip().startswith("#")
    ]
    if before == after:
        assert changed in (text, f"{text}\n")


def values(node: Any, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every value by its path; tables without any count for nothing."""
    if not isinstance(node, dict):
        return {above: node}
    return {place: each for key, inner in node.items() for place, each in values(inner, (*above, key)).items()}
