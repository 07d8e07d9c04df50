"""A repository without a remote is read by its folder, wherever a person reads of it, and its worktrees are it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from command import Whet
from taught_sessions import claude_rows, proposed
from whet.store.home import Home
from whet.telling.targets.project_names import name_of_project


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *author, *words], check=True, capture_output=True)


@pytest.fixture
def shop(whet: Whet, tmp_path: Path) -> Path:
    """A repository whose sessions ran in worktrees; one of these is gone since."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    for name in ("one", "two"):
        worktree = tmp_path / f"tree-{name}"
        git(folder, "worktree", "add", "-q", str(worktree))
        lines = "\n".join(json.dumps(each) for each in claude_rows(name, worktree))
        (tmp_path / f"{name}.jsonl").write_text(f"{lines}\n")
        assert whet("import", f"{name}.jsonl").code == 0
    shutil.rmtree(tmp_path / "tree-one")
    git(folder, "worktree", "prune")
    return folder


def test_no_screen_names_a_project_by_a_hash(whet: Whet, shop: Path, tmp_path: Path) -> None:
    project = name_of_project(shop)
    lessons = whet("lessons", "--json").json["lessons"]
    assert {each["project"] for each in lessons} == {project}, "what is stored stays"
    assert proposed(Home(tmp_path / "home"), lessons[0]["id"])
    added = whet("rules", "add", "tests", "Run ./dev test.", "--project", str(shop))
    assert added.code == 0
    number = whet("rules", "--json").json["rules"][0]["entry"]
    page = tmp_path / "page.html"
    whet("page", "--export", str(page))
    screens = {
        words: whet(*words.split()).out
        for words in (
            "lessons",
            "lessons --dropped",
            "lessons show 1",
            "rules",
            "rules show",
            "lessons --waiting",
            "report --temporary",
            "status",
            "sync --dry-run",
            "sessions --temporary",
            "try --dry-run",
            f"ledger show {number}",
            "ledger show test",
        )
    }
    screens |= {"add": added.out, "page": page.read_text()}
    assert [words for words, said in screens.items() if project[:12] in said] == []
    for words in ("lessons", "rules show", "lessons --waiting"):
        assert "/shop\n" in screens[words], words
    assert " shop " in screens["sessions --temporary"]
    assert "tree-" not in screens["sessions --temporary"]


def test_a_project_is_found_by_the_name_that_a_person_reads(whet: Whet, shop: Path) -> None:
    every = len(whet("lessons", "--json").json["lessons"])
    for asked in ("shop", str(shop), name_of_project(shop)):
        assert len(whet("lessons", "--project", asked, "--json").json["lessons"]) == every > 0, asked
    assert whet("lessons", "--project", "tree-one", "--json").json["lessons"] == []
