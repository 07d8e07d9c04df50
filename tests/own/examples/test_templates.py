"""Templates as values and as files' texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples_of_templates import LOOK, RUN, TEMPLATE
from whet.errors import WhetError
from whet.own.examples.templates import Example, Template, check, described, read, written
from whet.sessions.activity import Activity

texts = st.text(max_size=30)
example = st.builds(
    Example, st.from_regex(r"[a-z_]{1,20}", fullmatch=True), st.sampled_from(['{"a":1}', '{"b":"ü"}']), texts, texts
)
template = st.builds(
    Template,
    st.just("any-name"),
    st.lists(example, min_size=1, max_size=4).map(tuple),
    st.sampled_from(Activity),
    texts,
)


@given(template)
def test_a_template_is_read_as_it_was_written(one: Template) -> None:
    assert read(written(one), name=one.name) == one


def test_the_key_is_of_the_examples_alone() -> None:
    renamed = Template("other", TEMPLATE.examples, tags=("x",))
    assert renamed.key == TEMPLATE.key
    assert Template("garden-work", (RUN, LOOK)).key != TEMPLATE.key


def test_it_knows_its_tools_sessions_and_cost() -> None:
    assert TEMPLATE.tools == ("read_file", "terminal")
    assert TEMPLATE.sessions == ("s1", "s2")
    assert TEMPLATE.tokens == LOOK.tokens + RUN.tokens > 20
    assert described(TEMPLATE.examples) == "2 examples of read_file, terminal from 2 sessions"


@pytest.mark.parametrize("name", ["../evil", "Evil", "a/b", "", ".", "x" * 80, "a--", "evil.json", "a\nb"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(WhetError, match="not a valid template name"):
        check(Template(name, (LOOK,)))


@pytest.mark.parametrize(
    ("one", "wrong"),
    [
        (Template("x", ()), "0 examples"),
        (Template("x", (LOOK,) * 101), "101 examples"),
        (Template("x", (Example("no tool", "{}", ""),)), "no tool"),
        (Template("x", (Example("tool", "[1]", ""),)), "no JSON object"),
        (Template("x", (LOOK,), tags=("Not A Tag",)), "not a valid tag"),
    ],
)
def test_what_is_wrong_is_said(one: Template, wrong: str) -> None:
    with pytest.raises(WhetError, match=re.escape(wrong)):
        check(one)


def test_a_file_that_is_no_template_or_another_ones_is_refused() -> None:
    for text in ("", "[]", '{"name": "x"}', '{"name": "x", "examples": [{"tool": 3}]}', written(TEMPLATE)):
        with pytest.raises(WhetError):
            read(text, name="x")
