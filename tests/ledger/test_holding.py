"""Whereabouts a rule holds: by the parts of a folder and never by its letters; what is not known rules nothing out."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.ledger.holding import CompiledScope, WorkLocation, holds, lies_in
from whet.ledger.patches import Scope

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
