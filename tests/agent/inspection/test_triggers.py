"""Files that other programs run are known by their path, and the walk that finds them notices every change."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.inspection.triggers import (
    HIDDEN,
    SETTINGS,
    STAND_IN,
    TRIGGERS,
    Tree,
    Trigger,
    TriggerAction,
    Triggers,
    is_repository_name,
)

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


@pytest.mark.parametrize("name", ["pixi.toml", "Procfile", "guix.scm", "x.cmake", "Makefile", "Shop.csproj"])
def test_settings_are_reported_wherever_they_lie(tmp_path: Path, name: str) -> None:
    tree = Tree((str(tmp_path),), (), KNOWN)
    assert tree.trigger_of([name]) == tree.trigger_of(["project", name]) == SETTINGS


def test_a_script_without_an_ending_is_reported_and_what_a_build_made_is_not(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for name, body in (
        ("bazel", b"#!/bin/sh\n"),
        ("made", b"\x7fELF\0\0"),
        ("made.o2", b"\x7fELF\0\0"),
        ("lib.so.1", b"x"),
    ):
        (tmp_path / "tools" / name).write_bytes(body)
        (tmp_path / "tools" / name).chmod(0o755)
    tree = Tree((str(tmp_path),), (), KNOWN)
    found = [tree.trigger_of(["tools", name]) for name in ("bazel", "made", "made.o2", "lib.so.1")]
    assert found == [SETTINGS, None, None, None]


@pytest.mark.parametrize("name", ["aqua.yaml", "tsconfig.json"])
def test_settings_in_a_format_of_data_are_reported_at_the_top_of_a_project(tmp_path: Path, name: str) -> None:
    tree = Tree((str(tmp_path),), (), KNOWN)
    assert tree.trigger_of([name]) == SETTINGS
    assert tree.trigger_of(["docs", name]) is None
    (tmp_path / "docs" / ".git").mkdir(parents=True)
    assert tree.trigger_of(["docs", name]) == SETTINGS


@pytest.mark.parametrize("name", ["main.py", "README.md", "LICENSE", "f", "notes.txt", "index.html", "main.zig"])
def test_other_files_at_the_top_are_ordinary(tmp_path: Path, name: str) -> None:
    assert Tree((str(tmp_path),), (), KNOWN).trigger_of([name]) is None


@pytest.mark.parametrize("name", ["helper.abi3.so", "helper/__init__.py", "json.py", "json/__init__.py"])
def test_what_python_loads_in_the_place_of_another_module_is_reported(tmp_path: Path, name: str) -> None:
    tree = Tree((str(tmp_path),), (), KNOWN)
    (tmp_path / "lib" / "helper").mkdir(parents=True)
    (tmp_path / "lib" / "json").mkdir()
    (tmp_path / "lib" / "helper.py").touch()
    assert tree.trigger_of(["lib", *name.split("/")]) == STAND_IN
    (tmp_path / "pkg" / "helper").mkdir(parents=True)
    (tmp_path / "pkg" / "json").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    assert tree.trigger_of(["pkg", *name.split("/")]) != STAND_IN


@given(st.lists(st.text(min_size=1).filter(lambda name: "/" not in name), min_size=1, max_size=4))
def test_any_path_has_an_answer(parts: list[str]) -> None:
    assert KNOWN.of(parts) == KNOWN.of([part.upper() for part in parts]) or not "".join(parts).isascii()


def tree_of(folder: Path, *left_out: Path) -> Tree:
    return Tree((str(folder),), map(str, left_out), Triggers())


def triggers(tree: Tree) -> set[str]:
    return {f"{path}/{name}" for path, listing in tree.folders() for name, _ in listing.triggers}


def test_a_new_file_in_an_old_folder_is_noticed_though_its_times_are_set_back(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    tree = tree_of(tmp_path)
    assert triggers(tree) == set()
    (tmp_path / "a" / "b" / ".envrc").touch()
    os.utime(tmp_path / "a" / "b", (1, 1))
    assert triggers(tree) == {f"{tmp_path}/a/b/.envrc"}
    (tmp_path / "a" / "b" / ".envrc").unlink()
    assert triggers(tree) == set()


def test_links_are_not_followed_and_what_is_left_out_is_not_entered(tmp_path: Path) -> None:
    for name in ("seen", "hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".envrc").touch()
    (tmp_path / "seen" / "link").symlink_to(tmp_path)
    tree = tree_of(tmp_path, tmp_path / "hidden")
    assert triggers(tree) == {f"{tmp_path}/seen/.envrc"}
    assert tree.holds(f"{tmp_path}/seen/x")
    assert not tree.holds(f"{tmp_path}/hidden/x")
    assert not tree.holds(f"{tmp_path}x")


def test_a_repository_is_known_by_its_name_or_by_its_shape(tmp_path: Path) -> None:
    for path in ("a/.git", "b/objects", "b/refs", "c", "d/objects"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "b" / "HEAD").touch()
    (tmp_path / "c" / "HEAD").touch()
    (tmp_path / "c" / "commondir").touch()
    (tmp_path / "d" / "HEAD").touch()
    found = {path for path, listing in tree_of(tmp_path).folders() if listing.is_repository}
    assert found == {f"{tmp_path}/{name}" for name in ("a/.git", "b", "c")}


def test_what_is_dull_in_a_repository_is_passed_over_only_there(tmp_path: Path) -> None:
    for path in (".git/objects/aa", ".git/modules/x/objects/y", "objects/z"):
        (tmp_path / path).mkdir(parents=True)
    found = {path.removeprefix(f"{tmp_path}/") for path, _ in tree_of(tmp_path).folders()}
    assert {".git/modules/x/objects/y", "objects/z"} <= found
    assert ".git/objects" not in found


@pytest.mark.parametrize(
    "name", [".git", ".GIT", ".Git", "git~1", "GIT~1", ".g\u200cit", ".git\u200d", ".git ", ".git."]
)
def test_every_spelling_of_a_repositorys_folder_is_known(name: str) -> None:
    assert is_repository_name(name)


@given(st.text())
def test_other_names_are_ordinary(name: str) -> None:
    assert not is_repository_name(f"x{name}")


def test_there_is_an_end_to_looking_and_the_nearest_folders_come_first(tmp_path: Path) -> None:
    for path in ("a/deep/er", "b/deep/er"):
        (tmp_path / path).mkdir(parents=True)
    tree = Tree((str(tmp_path),), (), Triggers(), most=4)
    assert [path.removeprefix(str(tmp_path)).count("/") for path, _ in tree.folders()] == [0, 1, 1, 2]
    assert tree.is_cut
    whole = tree_of(tmp_path)
    assert len(list(whole.folders())) == 7
    assert not whole.is_cut
