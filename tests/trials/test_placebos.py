"""Placebos: the same form and about the same length, and nothing of the words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.ledger.entries import State
from whet.ledger.patch_faults import faults
from whet.ledger.patches import Action, Form, Patch
from whet.own.examples import templates
from whet.own.examples.templates import Example, Template
from whet.own.told.skills import read as read_skill
from whet.sessions.tool_families import arguments_of
from whet.sessions.transcripts import ToolCall
from whet.sessions.trust import Trust
from whet.shipped.guidance import filler
from whet.trials.placebos import emptied, of_length, placebo_of

EXAMPLES = (
    Example("edit", '{"path":"a.py","old":"x","new":"y","all":true}', "Changed a.py.", "Replace x by y in a.py."),
    Example("terminal", '{"command":"pytest -q"}', "(12 lines)", "", session="s", message=3),
)
TEMPLATE = Template("small-edits", EXAMPLES)


@given(st.integers(20, 900))
def test_neutral_words_have_about_the_wanted_length(characters: int) -> None:
    assert abs(len(of_length(filler(), characters)) - characters) <= 45


@pytest.mark.parametrize("form", [Form.RULE, Form.NOTE])
def test_a_placebo_of_words_is_as_long_and_could_be_applied(form: Form) -> None:
    name = "a-rule" if form is Form.RULE else "memory/a-note"
    patch = Patch(
        form, Action.ADD, name, "Read a file before you edit it, and look at the error. " * 3, trust=Trust.USER
    )
    placebo = placebo_of(patch, filler())
    assert placebo is not None
    assert abs(len(placebo.text) - len(patch.text)) < 40
    assert not {"read", "edit", "error"} & set(placebo.text.lower().split())
    assert faults(placebo, State()) == ()


@given(st.integers(1, 200))
def test_a_placebo_of_a_rule_with_an_example_has_one_that_is_no_longer(characters: int) -> None:
    patch = Patch(Form.RULE, Action.ADD, "a-rule", "Read it first.", trust=Trust.USER, example="x" * characters)
    placebo = placebo_of(patch, filler())
    assert placebo is not None
    assert 0 < len(placebo.example) <= characters
    assert faults(placebo, State()) == ()


def test_a_placebo_of_a_skill_is_a_skill() -> None:
    text = "---\nname: tidy-code\ndescription: How to tidy code.\n---\n\n" + "Remove what nobody uses.\n" * 20
    placebo = placebo_of(Patch(Form.SKILL, Action.ADD, "tidy-code", text, trust=Trust.USER), filler())
    assert placebo is not None
    assert read_skill(placebo.text).name == "tidy-code"
    assert abs(len(placebo.text) - len(text)) < 60


def test_examples_keep_their_tools_and_arguments_and_lose_their_words() -> None:
    empty = emptied(TEMPLATE, filler())
    assert templates.check(empty) is empty
    assert [example.tool for example in empty.examples] == ["edit", "terminal"]
    for old, new in zip(TEMPLATE.examples, empty.examples, strict=True):
        before, after = (arguments_of(ToolCall("", each.tool, each.arguments)) for each in (old, new))
        assert list(before) == list(after)
        assert not {value for value in before.values() if isinstance(value, str)} & {*after.values()}
        assert abs(len(new.intent) - len(old.intent)) < 12
        assert (new.session, new.message) == ("", None)
    assert arguments_of(ToolCall("", "edit", empty.examples[0].arguments))["all"] is True


def test_there_is_no_placebo_for_taking_something_away() -> None:
    assert placebo_of(Patch(Form.RULE, Action.REMOVE, "a-rule", trust=Trust.USER), filler()) is None
