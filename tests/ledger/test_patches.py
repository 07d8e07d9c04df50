"""A patch is known by what a person approves, and its scope holds names."""

import pytest
from msgspec import convert
from msgspec.structs import replace

from whet.ledger.patches import PROJECT_LETTERS, Action, Form, Patch, Scope, digest, is_named, is_scoped
from whet.sessions.trust import Trust

PATCH = Patch(Form.RULE, Action.CHANGE, "a", "Run the tests.", trust=Trust.USER, before=digest("Run."))


def scoped(project: str) -> bool:
    return is_scoped(Patch(Form.RULE, Action.ADD, "a", scope=Scope(project=project)))


def test_the_name_of_a_project_has_an_end() -> None:
    assert PROJECT_LETTERS == 400
    assert scoped("p" * PROJECT_LETTERS)
    assert not scoped("p" * (PROJECT_LETTERS + 1))


@pytest.mark.parametrize("project", ["a\nb", "a\x1b[2J", "a\u202eb"])
def test_the_name_of_a_project_is_one_line_that_can_be_read(project: str) -> None:
    assert scoped("github.com/someone/Some Project ü")
    assert not scoped(project)


@pytest.mark.parametrize("part", ["models", "tools", "purposes"])
def test_every_word_of_a_scope_is_a_name(part: str) -> None:
    for words, scoped in ((("bash", "x" * 100), True), (("bash", "two words"), False), (("two words", "bash"), False)):
        assert is_scoped(Patch(Form.RULE, Action.ADD, "a", scope=convert({part: words}, Scope))) is scoped


def test_the_id_of_a_patch_is_as_it_was_stored() -> None:
    assert PATCH.id == "3009261319aa84817f33cb9e7b3377f5"
    assert Patch(Form.NOTE, Action.ADD, "memory/a").trust is Trust.EXTERNAL


def test_what_stands_there_after_a_removal_is_nothing() -> None:
    assert Patch(Form.RULE, Action.REMOVE, "a", "text").after == ""
    assert PATCH.after == digest("Run the tests.")


@pytest.mark.parametrize(("trust", "foreign"), [(Trust.EXTERNAL, True), (Trust.AGENT, False), (Trust.OPERATOR, False)])
def test_what_is_trusted_less_than_the_agent_is_foreign(trust: Trust, foreign: bool) -> None:
    assert Patch(Form.RULE, Action.ADD, "a", trust=trust).is_foreign is foreign


@pytest.mark.parametrize("name", ["a", "a1", "a" * 64])
def test_a_word_is_a_name_up_to_its_longest(name: str) -> None:
    assert is_named(Patch(Form.RULE, Action.ADD, name))
    assert not is_named(Patch(Form.RULE, Action.ADD, f"{name}{'a' * 64}"))


def test_who_approves_a_rule_approves_its_example_too() -> None:
    plain = Patch(Form.RULE, Action.ADD, "r", "Run it.")
    assert replace(plain, example="`a` works.").id != plain.id
    assert replace(plain, example="`a` works.").id != replace(plain, example="`b` works.").id
