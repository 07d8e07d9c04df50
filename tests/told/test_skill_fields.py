"""Front matter of skills: the part of YAML that they use means what it means in YAML; the rest is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.text.quoting import visible
from whet.told.skill_fields import Field, parse, scalar, split, with_field

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
long: first
  second
  third
text: |
  as it
    stands

  here
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
        "metadata": {"author": "somebody", "hermes": {"tags": ("notes", "two words")}},
        "long": "first second third",
        "text": "as it\n  stands\n\nhere\n",
        "empty": "",
    }


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("k: a:b", "a:b"),
        ("k: a#b # c", "a#b"),
        ("k: http://x.y/z", "http://x.y/z"),
        ("k: no", "no"),
        ("k: 1.0", "1.0"),
        ("k: []", ()),
        ("k: # nothing", ""),
        ("k: -x", "-x"),
        ('k: "a\\tb \\"c\\""', 'a\tb "c"'),
    ],
)
def test_every_scalar_is_the_string_that_was_written(line: str, means: Field) -> None:
    assert parse(front(line)) == {"k": means}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["k: a: b"], "a colon"),
        (["k: {a: b}"], "a mapping in braces"),
        (["k: &x a"], "an anchor"),
        (["k: *x"], "an alias"),
        (["k: !!python/object a"], "a tag"),
        (["k: @a"], "a reserved sign"),
        (["k: |+", "  a"], "a block"),
        (["k: 'a", "  b'"], "end on its line"),
        (["k: [a,", "  b]"], "end on its line"),
        (["k: [a, [b]]"], "a list within a list"),
        (["k: [a 'b']"], None),
        (["k:", "  - a: b"], "a colon"),
        (["k:", "  - [a]"], "no lists or blocks"),
        (["k: 1", "k: 2"], "given twice"),
        (["k:", "\t- a"], "a tab"),
        (["k: a\u202eb"], "cannot see"),
        (['k: "\\u202e"'], "is not understood"),
        (['k: "\\q"'], "is not understood"),
        (["no colon"], "is not `key: value`"),
        ([" k: a"], "not where it belongs"),
        (["k: a", "  b: c"], "a colon"),
        (["k: a # c", "  b"], "a comment stands within"),
        (["k:", "  a: b", " c: d"], "not where it belongs"),
        (["k: >", "    a", "  b"], "unevenly"),
        (["? k", ": v"], "is not `key: value`"),
        (["<<: *x"], "is not `key: value`"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(lines: list[str], why: str | None) -> None:
    if why is None:
        assert parse(front(*lines)) == {"k": ("a 'b'",)}
        return
    with pytest.raises(WhetError, match=why) as caught:
        parse(front(*lines))
    assert "line " in caught.value.message


@pytest.mark.parametrize("text", ["", "name: x\n", "---\nname: x\n", "\n---\nname: x\n---\n", "--- x\n---\n"])
def test_a_text_without_front_matter_is_refused(text: str) -> None:
    with pytest.raises(WhetError, match="three dashes"):
        parse(text)


sayings = st.text().map(lambda text: " ".join(text.split())).filter(lambda text: bool(text) and visible(text) == text)


@given(sayings)
def test_any_text_is_written_so_that_it_is_read_again(text: str) -> None:
    assert parse(front(f"k: {scalar(text)}")) == {"k": text}


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
"""
lines = st.lists(st.sampled_from([*LINES.split("\n"), "\r"]), max_size=10)


@given(lines, st.sampled_from(["name", "description", "metadata", "tags", "long", "new"]), sayings, st.booleans())
def test_changing_one_field_leaves_every_other_byte(found: list[str], key: str, value: str, windows: bool) -> None:
    text = front(*found)
    if windows:
        text = text.replace("\n", "\r\n")
    try:
        fields = parse(text)
    except WhetError:
        return
    changed = with_field(text, key, value)
    assert parse(changed) == {**fields, key: value}
    assert split(changed).body == split(text).body
    kept = [line for line in changed.split("\n") if not line.startswith(f"{key}:")]
    rest = iter(text.split("\n"))
    assert all(line in rest for line in kept), "the other lines stand as they were, in their order"


@given(st.text(alphabet="-\n\r ab:", max_size=40))
def test_the_two_parts_are_the_whole(text: str) -> None:
    try:
        head, body = split(text)
    except WhetError:
        return
    assert head + body == text
