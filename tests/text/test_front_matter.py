"""Front matter means what it means in YAML, every scalar as written; what is unclear is refused with its line."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.text.characters import first_hidden
from whet.text.front_matter import MOST_CHARACTERS, MOST_DEPTH, Field, document, parse, scalar, split, with_field, words

WHOLE = """\
---
# who and what
name: release-notes
description: >-
  Write release notes: what changed
  and why it matters.

  Use before a release.
license: 'It''s MIT'   # the short one
compatibility: "Needs git \\u2265 2.40 # or later"
allowed-tools: [Read, "Bash(git:*)", 'a, b']
metadata:
  author: somebody
  hermes:
    tags:
    - notes
    - "two words"
  places: [{os: linux}, {os: mac}]
long: first
  second
  third
quoted: "first
  second"
text: |
  as it
    stands

  here
kept: |+
  with its end

empty:
---

# Instructions
"""


def front(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "Body.", ""])


def test_what_skills_use_is_read() -> None:
    assert parse(WHOLE) == {
        "name": "release-notes",
        "description": "Write release notes: what changed and why it matters.\nUse before a release.",
        "license": "It's MIT",
        "compatibility": "Needs git ≥ 2.40 # or later",
        "allowed-tools": ("Read", "Bash(git:*)", "a, b"),
        "metadata": {
            "author": "somebody",
            "hermes": {"tags": ("notes", "two words")},
            "places": ({"os": "linux"}, {"os": "mac"}),
        },
        "long": "first second third",
        "quoted": "first second",
        "text": "as it\n  stands\n\nhere\n",
        "kept": "with its end\n\n",
        "empty": "",
    }


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("k: a:b", "a:b"),
        ("k: a#b # c", "a#b"),
        ("k: http://x.y/z", "http://x.y/z"),
        ("k: no", "no"),
        ("k: On", "On"),
        ("k: 1.0", "1.0"),
        ("k: 0x10", "0x10"),
        ("k: 1_000", "1_000"),
        ("k: 12:30:45", "12:30:45"),
        ("k: 2026-12-01", "2026-12-01"),
        ("k: ~", "~"),
        ("k: null", "null"),
        ("k: =", "="),
        ("k: []", ()),
        ("k: {}", {}),
        ("k: # nothing", ""),
        ("k: -x", "-x"),
        ('k: "a\\tb \\"c\\""', 'a\tb "c"'),
        ("k: [a 'b']", ("a 'b'",)),
        ("'k': a", "a"),
    ],
)
def test_every_scalar_is_the_string_that_was_written(line: str, means: Field) -> None:
    assert parse(front(line)) == {"k": means}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["k: a: b"], "line 2: a value contains a colon; put it in quotes"),
        (["k: &x a"], "line 2: an anchor"),
        (["k: &x", "  a: b"], "line 2: an anchor"),
        (["&x k: a"], "line 2: an anchor"),
        (["l: a", "k: *x"], "line 3: an alias"),
        (["k: [a, *x]"], "line 2: an alias"),
        (["<<: *x"], "line 2: an alias"),
        (["<<: {a: b}"], "is not `key: value`"),
        (["k: !!python/object/apply:os.system [id]"], "line 2: a tag"),
        (["k: !!str 1"], "line 2: a tag"),
        (["k: ! a"], "line 2: a tag"),
        (["!x k: a"], "line 2: a tag"),
        (["%TAG ! tag:x,2000:", "k: !a b"], "line 3"),
        (["k: @a"], "line 2"),
        (["k: 1", "k: 2"], "line 3: k is given twice"),
        (["k: {a: 1, a: 2}"], "a is given twice"),
        (["k:", "\t- a"], "line 3: there is a tab"),
        (["k: a\u202eb"], "line 2: there is an invisible character, U.202E"),
        (['k: "\\u202e"'], "invisible character"),
        (['k: "\\ud800"'], "invisible character"),
        (['k: "\\U00110000"'], "does not exist"),
        (['k: "\\UFFFFFFFF"'], "does not exist"),
        (["k: \ufffe"], "does not exist"),
        (['k: "\\q"'], "line 2: found unknown escape character 'q'"),
        (["no colon"], "line 2: this is not `key: value`"),
        (["- a"], "line 2: this is not `key: value`"),
        (["? [a]", ": v"], "line 2: this is not `key: value`"),
        ([": a"], "line 2"),
        (["k:", "  a: b", " c: d"], "line 4"),
        (["k: 'a"], "line 3"),
        (["k: [a,"], "line 3"),
        (["k: a", "...", "l: b"], "line 4"),
        (["k: " + "[" * MOST_DEPTH + "]" * MOST_DEPTH], "nested too deeply"),
        (["k: " + "[" * 9000], "nested too deeply"),
        (["k: " + "x" * MOST_CHARACTERS], "longer than 16,384 characters"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(lines: list[str], why: str) -> None:
    with pytest.raises(WhetError, match=why) as caught:
        parse(front(*lines))
    assert "line " in caught.value.message
    assert caught.value.advice


@pytest.mark.parametrize("text", ["", "name: x\n", "---\nname: x\n", "\n---\nname: x\n---\n", "--- x\n---\n"])
def test_a_text_without_front_matter_is_refused(text: str) -> None:
    with pytest.raises(WhetError, match="three dashes"):
        parse(text)


@given(st.from_regex(r"[a-z]: [ -~]{1,12}", fullmatch=True))
def test_a_plain_line_means_what_it_means_beside_others(line: str) -> None:
    try:
        found = parse(front(line))
    except WhetError:
        return
    assert parse(front(line, '"Z": z')) == {**found, "Z": "z"}  # a key in quotes: the library reads both


@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@`?,~ \n\t\\0", max_size=60))
def test_what_is_read_is_what_other_readers_read(head: str) -> None:
    """Or it is refused. What they take for a number or a date is the text here; both are then without type."""
    try:
        fields = parse(f"---\n{head}\n---\n")
    except WhetError:
        return
    cut = split(f"---\n{head}\n---\n").head.partition("\n")[2].rpartition("---")[0]
    assert fields == listed_as_tuples(yaml.load(cut, Loader=yaml.BaseLoader) or {})


def listed_as_tuples(value: object) -> object:
    if isinstance(value, dict):
        return {key: listed_as_tuples(each) for key, each in value.items()}
    return tuple(map(listed_as_tuples, value)) if isinstance(value, list) else value


sayings = st.text().map(lambda text: " ".join(text.split())).filter(lambda text: bool(text) and not first_hidden(text))


@given(sayings)
def test_any_text_is_written_so_that_it_is_read_again(text: str) -> None:
    assert parse(front(f"k: {scalar(text)}")) == {"k": text}
    assert yaml.safe_load(f"k: {scalar(text)}") == {"k": text}, "by readers that know more types, too"


@pytest.mark.parametrize("text", ["no", "1.0", "2026-12-01", "~", "null", "=", "<<", "yes", "0x7", "1_000"])
def test_words_that_some_readers_take_for_something_else_are_written_in_quotes(text: str) -> None:
    assert scalar(text) == f"'{text}'"


LINES = """\
name: x
description: >-
  folded

# note
  # note
metadata:
  author: me
tags:
- a
- b
license: 'MIT'
long: a
   b
list: [a, b]
list: [a,
  b]
text: |
  # no comment
places:
- os: linux
  at: [a]
? new
: v
'name': x
"""
lines = st.lists(st.sampled_from([*LINES.split("\n"), "\r"]), max_size=10)
KEYS = st.sampled_from(["name", "description", "metadata", "tags", "long", "text", "places", "list", "new"])


@given(lines, KEYS, sayings, st.booleans())
def test_changing_one_field_leaves_every_other_byte(found: list[str], key: str, value: str, windows: bool) -> None:
    text = front(*found)
    if windows:
        text = text.replace("\n", "\r\n")
    try:
        fields = parse(text)
        changed = with_field(text, key, value)
    except WhetError:
        return
    assert parse(changed) == {**fields, key: value}
    assert split(changed).body == split(text).body
    kept = [line for line in changed.split("\n") if not line.startswith(f"{key}:")]
    rest = iter(text.split("\n"))
    assert all(line in rest for line in kept), "the other lines stand as they were, in their order"


def test_a_field_of_several_lines_is_replaced_whole_and_comments_stay() -> None:
    text = front("a: |", "  # text", "", "  more", "", "# why", "b:", "- x", "  # about x", "- y", "# end", "c: z")
    assert with_field(text, "a", "one") == front(
        "a: one", "", "# why", "b:", "- x", "  # about x", "- y", "# end", "c: z"
    )
    assert with_field(text, "b", "two") == front(
        "a: |", "  # text", "", "  more", "", "# why", "b: two", "# end", "c: z"
    )


def test_a_field_in_a_form_that_cannot_be_changed_line_by_line_is_refused() -> None:
    with pytest.raises(WhetError, match="Whet cannot change"):
        with_field(front("{name: x, description: y}"), "name", "z")


@given(st.text(alphabet="-\n\r ab:", max_size=40))
def test_the_two_parts_are_the_whole(text: str) -> None:
    try:
        head, body = split(text)
    except WhetError:
        return
    assert head + body == text


NAMES = st.from_regex(r"[a-z][a-z_-]{0,10}", fullmatch=True)
VALUES = st.from_regex(r"[a-z0-9][a-z0-9,-]{0,20}[a-z0-9]", fullmatch=True)


@given(st.dictionaries(NAMES, VALUES, max_size=5), st.from_regex(r"[A-Za-z][A-Za-z \n-]{0,60}[A-Za-z]", fullmatch=True))
def test_a_document_is_its_fields_and_its_text(fields: dict[str, str], text: str) -> None:
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    assert document(f"---\n{lines}---\n{text}\n", name="x") == (fields, text)


def test_line_endings_a_byte_order_mark_blank_lines_and_comments_do_not_matter_in_a_document() -> None:
    found = document("\ufeff---\r\n\r\n# why\r\nkey: value\r\n---\r\nText.\r\n", name="x")
    assert found == ({"key": "value"}, "Text.")


def test_dashes_in_the_text_of_a_document_stay_there() -> None:
    assert document("---\na: b\n---\nOne\n---\nTwo", name="x").text == "One\n---\nTwo"


def test_a_list_in_a_document_may_be_one_of_yaml() -> None:
    assert document("---\na: [b, c]\n---\nText", name="x").fields == {"a": "b, c"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "three dashes"),
        ("---\na: b\n", "second line of three dashes"),
        ("---\nnonsense\n---\n", "line 2"),
        ("---\na: 1\na: 2\n---\n", "twice"),
        ("---\na: {b: c}\n---\n", "a of the front matter is not one text"),
    ],
)
def test_what_is_unclear_in_a_document_is_refused_with_the_name_of_the_file(source: str, reason: str) -> None:
    with pytest.raises(WhetError, match=reason) as caught:
        document(source, name="terminal")
    assert "terminal" in caught.value.message
    assert caught.value.advice


def test_a_list_has_commas_or_spaces_between_its_words() -> None:
    assert words("a, b c,d") == ("a", "b", "c", "d")
    assert words("") == ()
