"""A project is one wherever it is cloned, and in all its worktrees."""

import os
import subprocess
from pathlib import Path

import pytest

from whet.ledger.entries import Item
from whet.ledger.patches import Form, Scope
from whet.telling.targets.project_names import name_of_project
from whet.telling.targets.settings import Target, reader_of, reads


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *author, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/owner/shop.git",
        "https://person:secret@github.com/owner/shop",
        "git@github.com:owner/shop.git",
        "ssh://git@GitHub.com:22/owner/shop/",
    ],
)
def test_a_remote_names_the_project_however_it_is_spelled(repository: Path, url: str) -> None:
    git(repository, "remote", "add", "origin", url)
    assert name_of_project(repository) == "github.com/owner/shop"


def test_without_a_remote_the_first_commit_names_it(repository: Path) -> None:
    assert name_of_project(repository).startswith("commit:")


def test_a_folder_inside_and_a_worktree_are_the_same_project(repository: Path, tmp_path: Path) -> None:
    (repository / "src").mkdir()
    git(repository, "worktree", "add", "-q", str(tmp_path / "beside"))
    assert name_of_project(repository / "src") == name_of_project(tmp_path / "beside") == name_of_project(repository)


@pytest.mark.parametrize("name", ["logs/HEAD", "config", "commondir"])
def test_a_pipe_in_a_repository_is_not_waited_for(repository: Path, name: str) -> None:
    path = repository / ".git" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert name_of_project(repository)


def test_a_folder_of_another_machine_is_its_own_project() -> None:
    assert name_of_project("/nowhere/Code/shop/") == "/nowhere/Code/shop"
    assert name_of_project("/nowhere/Code/shop/.claude/worktrees/agent-1") == "/nowhere/Code/shop"
    assert name_of_project("") == ""


def test_a_rule_of_a_project_goes_to_the_targets_of_that_project(repository: Path, tmp_path: Path) -> None:
    rule = Item(Form.RULE, "tests", "Run ./dev test.", scope=Scope(project=name_of_project(repository)))
    here = Target("a", "claude-code", project=str(repository))
    elsewhere = Target("b", "claude-code", project=str(tmp_path))
    everywhere = Target("c", "claude-code")
    assert [reads(reader_of(target), rule) for target in (here, elsewhere, everywhere)] == [True, False, False]
