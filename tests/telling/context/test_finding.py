"""The context files of a repository, found from the working folder upwards."""

import os
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.sessions.trust import Trust
from whet.telling.context.finding import MOST_BYTES, MOST_RULES, find_files
from whet.telling.targets.project_names import repository_root


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "api" / "routes").mkdir(parents=True)
    return root


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_files_are_found_up_to_the_root_the_outermost_first(repository: Path) -> None:
    put(repository.parent / "AGENTS.md", "Not of this repository.")
    put(repository / "AGENTS.md", "Root.")
    put(repository / "GEMINI.md", "Gemini.")
    put(repository / "api" / "CLAUDE.md", "Api.")
    put(repository / "api" / "routes" / ".cursorrules", "Routes.")
    put(repository / "web" / "AGENTS.md", "Elsewhere.")
    found = find_files(repository / "api" / "routes")
    assert [(file.path, file.text) for file in found] == [
        ("AGENTS.md", "Root."),
        ("GEMINI.md", "Gemini."),
        ("api/CLAUDE.md", "Api."),
        ("api/routes/.cursorrules", "Routes."),
    ]
    assert {file.trust for file in found} == {Trust.EXTERNAL}


def test_outside_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    put(tmp_path / "AGENTS.md", "Above.")
    put(tmp_path / "work" / "AGENTS.md", "Here.")
    assert [file.text for file in find_files(tmp_path / "work")] == ["Here."]


def test_a_worktree_is_a_repository_too(repository: Path) -> None:
    put(repository / "tree" / ".git", "gitdir: elsewhere")
    assert repository_root(repository / "tree") == repository / "tree"
    assert repository_root(repository / "api") == repository


def test_cursors_rules_are_found_in_the_order_of_their_names(repository: Path) -> None:
    put(repository / ".cursor" / "rules" / "b.mdc", "B")
    put(repository / ".cursor" / "rules" / "a.mdc", "A")
    put(repository / ".cursor" / "rules" / "notes.txt", "no rule")
    assert [file.path for file in find_files(repository)] == [".cursor/rules/a.mdc", ".cursor/rules/b.mdc"]


def test_too_many_rules_are_told_and_not_passed_over(repository: Path) -> None:
    for number in range(MOST_RULES + 5):
        put(repository / ".cursor" / "rules" / f"{number:03}.mdc", str(number))
    found = find_files(repository)
    assert len(found) == MOST_RULES + 1
    assert f"of its {MOST_RULES + 5} files" in found[-1].fault


def test_a_link_within_the_repository_is_followed(repository: Path) -> None:
    put(repository / "AGENTS.md", "Root.")
    (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    assert [file.text for file in find_files(repository)] == ["Root.", "Root."]


def test_a_link_out_of_the_repository_is_told_and_not_read(repository: Path, tmp_path: Path) -> None:
    put(tmp_path / "private.txt", "my diary")
    (repository / "AGENTS.md").symlink_to(tmp_path / "private.txt")
    (repository / ".cursor").mkdir()
    put(tmp_path / "elsewhere" / "x.mdc", "my diary")
    (repository / ".cursor" / "rules").symlink_to(tmp_path / "elsewhere")
    found = find_files(repository)
    assert len(found) == 2
    assert all("leaves the repository" in file.fault and not file.text for file in found)


def test_what_cannot_be_read_is_told(repository: Path) -> None:
    (repository / "AGENTS.md").symlink_to("nowhere.md")
    (repository / "CLAUDE.md").symlink_to("CLAUDE.md")
    (repository / "GEMINI.md").mkdir()
    os.mkfifo(repository / ".cursorrules")
    put(repository / "api" / "AGENTS.md", "a\0b")
    faults = {file.path: file.fault for file in find_files(repository / "api")}
    assert set(faults) == {"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", "api/AGENTS.md"}
    assert all(faults.values())
    assert faults[".cursorrules"] == "it is not an ordinary file"
    assert faults["api/AGENTS.md"] == "it is not text"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(repository: Path) -> None:
    put(repository / "AGENTS.md", "Root.")
    (repository / "AGENTS.md").chmod(0)
    assert [file.fault for file in find_files(repository)] == ["Permission denied"]


def test_of_a_very_large_file_the_head_and_the_tail_are_read(repository: Path) -> None:
    put(repository / "AGENTS.md", "FIRST" + "x" * 3 * MOST_BYTES + "LAST")
    (file,) = find_files(repository)
    assert file.text.startswith("FIRST")
    assert file.text.endswith("LAST")
    assert len(file.text) == MOST_BYTES
    assert len(file.text) + file.unread == 3 * MOST_BYTES + len("FIRSTLAST")


def test_bytes_that_are_no_text_are_replaced(repository: Path) -> None:
    (repository / "AGENTS.md").write_bytes(b"caf\xe9")
    assert [file.text for file in find_files(repository)] == ["caf\ufffd"]


def test_secrets_do_not_leave_the_machine_in_a_context_file(repository: Path) -> None:
    put(repository / "AGENTS.md", "Use ghp_0123456789abcdefghijABCDEFGHIJ012345 and hunter2hunter2.")
    (file,) = find_files(repository, secrets=("hunter2hunter2",))
    assert "ghp_" not in file.text
    assert "hunter2" not in file.text


def test_a_folder_that_is_not_there_gives_advice(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="There is no folder"):
        find_files(tmp_path / "nowhere")
