"""A tree that is looked through again notices every change, and reads no folder twice without one."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.inspection.triggers import Tree, Triggers, is_repository_name


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
