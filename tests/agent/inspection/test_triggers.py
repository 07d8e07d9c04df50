"""Files that other programs run or obey are known by the end of their path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.inspection.triggers import HIDDEN, TRIGGERS, Care, Trigger, Triggers

KNOWN = Triggers()


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.pattern)
def test_every_pattern_finds_its_file_at_any_depth(trigger: Trigger) -> None:
    path = trigger.pattern.replace("*", "x").rstrip("/")
    path = f"{path}/deep/file" if trigger.pattern.endswith("/") else path
    for above in ("", "a/", "a/b/"):
        found = KNOWN.of(f"{above}{path}".split("/"))
        assert found is not None
        assert found.care is not Care.REFUSED


@pytest.mark.parametrize(
    "path",
    ["src/main.py", "envrc", "vscode/tasks.json", "tasks.json", "docs/settings.json", ".gitkeep", "README.md"],
)
def test_other_files_are_ordinary(path: str) -> None:
    assert KNOWN.of(path.split("/")) is None


@pytest.mark.parametrize("path", [".vscode", ".github", ".config", "sub/.claude", ".jj/repo"])
def test_a_link_may_stand_for_a_folder_on_the_way(path: str) -> None:
    assert KNOWN.of(path.split("/")) in (None, HIDDEN)
    assert KNOWN.of(path.split("/"), link=True) not in (None, HIDDEN)


@pytest.mark.parametrize("path", ["x/.envrcs", ".kakrc.local", "sub/.psqlrc"])
def test_a_hidden_file_of_an_unknown_program_is_reported(path: str) -> None:
    assert KNOWN.of(path.split("/")) == HIDDEN
    assert HIDDEN.care is Care.REPORTED


@pytest.mark.parametrize("path", [".gitignore", ".dockerignore", ".editorconfig", "sub/.coverage"])
def test_hidden_files_that_nobody_obeys_are_ordinary(path: str) -> None:
    assert KNOWN.of(path.split("/")) is None


@pytest.mark.parametrize("path", ["repo", "src", "workflows"])
def test_other_links_are_ordinary(path: str) -> None:
    assert KNOWN.of(path.split("/"), link=True) is None


def test_what_lies_among_dependencies_is_left_out() -> None:
    assert KNOWN.of(["node_modules", "x", "Makefile"]) is None


@given(st.lists(st.text(min_size=1).filter(lambda name: "/" not in name), min_size=1, max_size=4))
def test_any_path_has_an_answer(parts: list[str]) -> None:
    assert KNOWN.of(parts) == KNOWN.of([part.upper() for part in parts]) or not "".join(parts).isascii()
