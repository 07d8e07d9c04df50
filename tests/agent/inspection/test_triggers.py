"""Files that other programs run or obey are known by the end of their path."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.inspection.triggers import HIDDEN, SETTINGS, STAND_IN, TRIGGERS, Tree, Trigger, TriggerAction, Triggers

KNOWN = Triggers()


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.pattern)
def test_every_pattern_finds_its_file_at_any_depth(trigger: Trigger) -> None:
    path = trigger.pattern.replace("*", "x").rstrip("/")
    path = f"{path}/deep/file" if trigger.pattern.endswith("/") else path
    for above in ("", "a/", "a/b/"):
        found = KNOWN.of(f"{above}{path}".split("/"))
        assert found is not None
        assert found.care is not TriggerAction.REFUSED


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


@pytest.mark.parametrize("path", ["x/.envrcs", ".kakrc.local", "sub/.psqlrc", ".moon/toolchain.yml", "a/.unknown/b/c"])
def test_a_hidden_file_of_an_unknown_program_is_reported(path: str) -> None:
    assert KNOWN.of(path.split("/")) == HIDDEN
    assert HIDDEN.care is TriggerAction.REPORTED


@pytest.mark.parametrize("path", [".gitignore", ".dockerignore", ".editorconfig", "sub/.coverage", ".ruff_cache/x"])
def test_hidden_files_that_nobody_obeys_are_ordinary(path: str) -> None:
    assert KNOWN.of(path.split("/")) is None


@pytest.mark.parametrize("path", ["repo", "src", "workflows"])
def test_other_links_are_ordinary(path: str) -> None:
    assert KNOWN.of(path.split("/"), link=True) is None


def test_what_lies_among_dependencies_is_left_out() -> None:
    assert KNOWN.of(["node_modules", "x", "Makefile"]) is None


@pytest.mark.parametrize("name", ["pixi.toml", "Procfile", "guix.scm", "build.properties", "x.cmake", "Makefile"])
def test_settings_are_reported_wherever_they_lie(tmp_path: Path, name: str) -> None:
    tree = Tree((str(tmp_path),), (), KNOWN)
    assert tree.trigger_of([name]) == tree.trigger_of(["project", name]) == SETTINGS


def test_a_script_without_an_ending_is_reported_and_what_a_build_made_is_not(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for name, body in (("bazel", b"#!/bin/sh\n"), ("made", b"\x7fELF\0\0")):
        (tmp_path / "tools" / name).write_bytes(body)
        (tmp_path / "tools" / name).chmod(0o755)
    tree = Tree((str(tmp_path),), (), KNOWN)
    assert [tree.trigger_of(["tools", name]) for name in ("bazel", "made")] == [SETTINGS, None]


@pytest.mark.parametrize("name", ["aqua.yaml", "tsconfig.json"])
def test_settings_in_a_format_of_data_are_reported_at_the_top_of_a_project(tmp_path: Path, name: str) -> None:
    tree = Tree((str(tmp_path),), (), KNOWN)
    assert tree.trigger_of([name]) == SETTINGS
    assert tree.trigger_of(["docs", name]) is None
    (tmp_path / "docs" / ".git").mkdir(parents=True)
    assert tree.trigger_of(["docs", name]) == SETTINGS


@pytest.mark.parametrize("name", ["main.py", "README.md", "LICENSE", "f", "notes.txt", "index.html"])
def test_other_files_at_the_top_are_ordinary(tmp_path: Path, name: str) -> None:
    assert Tree((str(tmp_path),), (), KNOWN).trigger_of([name]) is None


@pytest.mark.parametrize("name", ["helper.abi3.so", "helper/__init__.py", "json.py"])
def test_what_python_loads_in_the_place_of_another_module_is_reported(tmp_path: Path, name: str) -> None:
    tree = Tree((str(tmp_path),), (), KNOWN)
    (tmp_path / "lib" / "helper").mkdir(parents=True)
    (tmp_path / "lib" / "helper.py").touch()
    assert tree.trigger_of(["lib", *name.split("/")]) == STAND_IN
    (tmp_path / "pkg" / "helper").mkdir(parents=True)
    (tmp_path / "pkg" / "__init__.py").touch()
    assert tree.trigger_of(["pkg", *name.split("/")]) is None


@given(st.lists(st.text(min_size=1).filter(lambda name: "/" not in name), min_size=1, max_size=4))
def test_any_path_has_an_answer(parts: list[str]) -> None:
    assert KNOWN.of(parts) == KNOWN.of([part.upper() for part in parts]) or not "".join(parts).isascii()
