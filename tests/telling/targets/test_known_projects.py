"""One repository is one project, also where its worktrees are gone, and people read its folder and no hash."""

import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import agent, conversation, user
from whet.store import sessions
from whet.store.database import Database
from whet.store.rows import Provenance, prepare
from whet.telling.targets.known_projects import KnownProjects, remember_projects
from whet.telling.targets.project_names import name_of_project


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *author, *words], check=True, capture_output=True)


def worked(database: Database, folder: str | Path, branch: str = "main") -> str:
    """A session that worked in a folder."""
    name = f"{folder} {branch}"
    made = replace(conversation(user(name), agent("Done."), native_id=name), folder=str(folder), branch=branch)
    sessions.keep(database, prepare(made), Provenance(f"/{name}", 1.0, 2.0))
    return str(folder)


def projects(database: Database, *folders: str) -> list[str]:
    known = KnownProjects(database)
    return [known.identity(folder) for folder in folders]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


def worktree(repository: Path, folder: Path) -> Path:
    git(repository, "worktree", "add", "-q", str(folder))
    return folder


def test_fifteen_worktrees_that_are_gone_are_one_project(database: Database, repository: Path, tmp_path: Path) -> None:
    folders = [worktree(repository, tmp_path / f"elsewhere-{number}") for number in range(15)]
    for each in (repository, *folders):
        worked(database, each)
    remember_projects(database)
    for each in folders:
        shutil.rmtree(each)
    git(repository, "worktree", "prune")
    assert set(projects(database, str(repository), *map(str, folders))) == {name_of_project(repository)}
    assert projects(database, str(folders[0] / "src")) == [name_of_project(repository)]


def test_a_project_is_remembered_when_the_repository_is_gone_too(database: Database, repository: Path) -> None:
    git(repository, "remote", "add", "origin", "git@github.com:owner/shop.git")
    beside = worktree(repository, repository.parent / "feature")
    worked(database, repository), worked(database, beside)
    remember_projects(database)
    for each in (repository, beside):
        shutil.rmtree(each)
    assert projects(database, str(repository), str(beside)) == ["github.com/owner/shop"] * 2


def test_the_list_of_a_repository_names_a_worktree_that_was_never_seen_standing(
    database: Database, repository: Path, tmp_path: Path
) -> None:
    gone = worktree(repository, tmp_path / "far" / "away")
    shutil.rmtree(gone)
    worked(database, repository), worked(database, gone)
    assert projects(database, str(gone), str(gone / "src")) == [name_of_project(repository)] * 2


@pytest.mark.parametrize(
    ("folder", "branch"),
    [
        ("/srv/shop/.claude/worktrees/agent-1", "next"),
        ("/srv/shop/.worktrees/fix", "main"),
        ("/srv/shop/.any-tool/worktrees/fix/src", "main"),
        ("/srv/shop/worktrees/fix", "main"),
        ("/srv/shop.worktrees/fix", "main"),
        ("/srv/shop-worktrees/fix", "main"),
        ("/Users/noor/.codex/worktrees/ab12/shop", "main"),
        ("/Users/noor/.cursor/worktrees/shop/xyz", "main"),
    ],
)
def test_the_place_of_a_gone_worktree_tells_its_repository(database: Database, folder: str, branch: str) -> None:
    main = worked(database, "/srv/shop")
    assert projects(database, worked(database, folder, branch), main) == [main, main]


@pytest.mark.parametrize(
    ("folder", "branch"),
    [
        ("/srv/shop-legacy", "main"),
        ("/srv/shop-legacy", "shop"),
        ("/srv/shopping", "ping"),
        ("/srv/my-worktrees/fix", "main"),
        ("/home/noor/worktrees/fix", "main"),
        ("/home/noor/.tool/worktrees/fix", "main"),
        ("/elsewhere/shop", "main"),
    ],
)
def test_folders_whose_names_only_look_alike_are_never_joined(database: Database, folder: str, branch: str) -> None:
    main, person = worked(database, "/srv/shop"), worked(database, "/home/noor")
    assert projects(database, main, person, worked(database, folder, branch)) == [main, person, folder]


def test_worktrees_of_a_name_that_two_projects_have_are_of_neither(database: Database) -> None:
    worked(database, "/srv/shop"), worked(database, "/home/noor/shop")
    gone = worked(database, "/home/noor/.codex/worktrees/ab12/shop")
    assert projects(database, gone) == [gone]


def test_a_windows_worktree_is_of_its_repository(database: Database) -> None:
    worked(database, "D:\\shop")
    found = projects(database, "D:\\shop\\.claude\\worktrees\\one\\src", "D:\\shop")
    assert found == ["D:\\shop"] * 2


def test_a_repository_without_a_remote_goes_by_its_folder(database: Database, repository: Path) -> None:
    beside = worktree(repository, repository.parent / "a")
    worked(database, beside)
    known = KnownProjects(database)
    project = known.identity(str(beside))
    assert project.startswith("commit:")
    assert (known.shown(project), known.short(project)) == (str(repository), "shop")
    assert known.is_named(project, "shop")
    assert known.is_named(project, project)
    assert not known.is_named(project, "bank")
    remember_projects(database)
    worked(database, repository / "src")
    shutil.rmtree(repository)
    assert KnownProjects(database).shown(project) == str(beside), "of those that are on record"


def test_projects_of_one_short_name_are_told_apart(database: Database) -> None:
    worked(database, "/srv/shop"), worked(database, "/home/noor/shop"), worked(database, "/srv/bank")
    known = KnownProjects(database)
    assert [known.short(each) for each in ("/srv/shop", "/home/noor/shop", "/srv/bank", "/srv/unseen")] == [
        "srv/shop",
        "noor/shop",
        "bank",
        "unseen",
    ]
