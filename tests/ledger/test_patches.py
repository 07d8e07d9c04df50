"""A patch is known by what a person approves, and its scope holds names."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert
from msgspec.structs import replace

from whet.ledger.entries import Actor, Change, Entry, Item, Key, State, Step
from whet.ledger.folding import fold
from whet.ledger.holding import CompiledScope, WorkLocation, holds, lies_in
from whet.ledger.patch_faults import TextLimits
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


RULE = Patch(Form.RULE, Action.ADD, "a", "Run the tests.", trust=Trust.USER)


def entry(number: int, step: Step, **more: object) -> Entry:
    return Entry(number, step, RULE, Actor.PERSON, float(number), **more)  # type: ignore[arg-type]


def test_a_new_entry_claims_nothing_that_was_not_said() -> None:
    made = entry(1, Step.APPLIED)
    assert (made.about, made.begun, made.batch, made.share) == (0, 0, 0, 0.0)
    assert (made.before, made.after, made.note, made.verdict, made.home) == ("", "", "", "", "")
    assert (made.replaced, made.intends) == (None, None)


def test_a_new_item_change_and_state_claim_nothing_either() -> None:
    item = Item(Form.RULE, "a", "text")
    assert (item.since, item.number, item.canary, item.share, item.home) == (0.0, 0, False, 0.0, "")
    assert Change(1, Key(Form.RULE, "a"), None, item).batch == 0
    assert State().number == 0


def test_promotion_makes_a_canary_a_rule_for_all_and_forgets_its_share() -> None:
    entries = [entry(1, Step.CANARY, share=0.5, after=digest(RULE.text)), entry(2, Step.PROMOTED, about=1)]
    (before,) = fold(entries[:1]).rules
    assert (before.canary, before.share) == (True, 0.5)
    state = fold(entries)
    (rule,) = state.rules
    assert (rule.canary, rule.share) == (False, 0.0)
    assert state.done[-1].after == rule


def test_a_digest_has_the_length_that_stored_ones_have() -> None:
    assert len(digest("text")) == 32


def test_as_many_changes_wait_as_a_person_can_look_through() -> None:
    assert TextLimits().pending == 100


PARTS = st.text(st.sampled_from("ab-."), min_size=1, max_size=4).filter(lambda part: part not in (".", ".."))
FOLDERS = st.lists(PARTS, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
SLASHES = st.sampled_from(["", "/", "//"])


@given(FOLDERS, FOLDERS, SLASHES)
def test_a_rule_of_a_folder_holds_there_and_below_by_the_parts_of_the_path(place: str, project: str, end: str) -> None:
    is_below = PurePosixPath(place).is_relative_to(project)
    assert holds(Scope(project=project + end), WorkLocation(place)) is is_below
    assert holds(CompiledScope(project=project), WorkLocation(place + end)) is is_below


@given(FOLDERS, PARTS, st.sampled_from(["/.claude/worktrees/", "/.codex/worktrees/", "/"]))
def test_it_holds_in_its_worktrees_and_in_no_folder_that_only_begins_like_it(
    project: str, part: str, between: str
) -> None:
    assert holds(Scope(project=project), WorkLocation(f"{project}{between}{part}"))
    assert not holds(Scope(project=project), WorkLocation(f"{project}{part}"))
    assert not holds(Scope(project=project), WorkLocation(""))


@given(st.lists(PARTS, min_size=2, max_size=4), PARTS)
def test_the_name_of_a_repository_is_compared_whole(parts: list[str], part: str) -> None:
    name = "/".join(parts)
    assert lies_in(name, name)
    assert not lies_in(f"{name}/{part}", name)
    assert not lies_in(f"/{name}", name)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(), True),
        (Scope(models=("GPT",)), True),
        (Scope(models=("claude", "gpt-5")), True),
        (Scope(models=("claude",)), False),
        (Scope(tools=("Bash",)), True),
        (Scope(tools=("browser",)), False),
        (Scope(purposes=("interactive",)), True),
        (Scope(purposes=("unattended",)), False),
        (Scope(models=("gpt",), tools=("browser",)), False),
        (Scope(project="example.org/shop"), True),
        (Scope(project="example.org/other"), False),
    ],
)
def test_a_rule_holds_where_its_scope_says(scope: Scope, expected: bool) -> None:
    there = WorkLocation("example.org/shop", "gpt-5", tools=("bash", "memory"), purpose="interactive")
    assert holds(scope, there) is expected
    assert holds(scope, WorkLocation()), "what is not known rules nothing out"


@pytest.mark.parametrize(("model", "expected"), [("claude-opus-5", True), ("Sonnet", True), ("gpt-5", False)])
def test_an_agent_may_run_any_model_of_its_families(model: str, expected: bool) -> None:
    assert holds(Scope(models=(model,)), WorkLocation(families=("claude", "sonnet"))) is expected


@given(FOLDERS)
def test_a_rule_of_a_folder_still_holds_there_when_its_repository_has_a_name(folder: str) -> None:
    there = WorkLocation("example.org/shop", folder=f"{folder}/till")
    assert holds(Scope(project=folder), there)
    assert holds(Scope(project="example.org/shop"), there)
    assert not holds(Scope(project=f"{folder}-legacy"), there)
    assert not holds(Scope(project=f"{folder}/till/deeper"), there)
