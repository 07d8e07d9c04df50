"""Audits of real folders and repositories: what agents read there, and what cannot be read."""

import os
import subprocess
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.lessons.statements.audit import Audit, StatementMark
from whet.telling.context.auditing import audit_folder
from whet.telling.context.instruction_files import PersonFolder

COMMITTED = 1_790_000_000


def git(folder: Path, *args: str, at: int = COMMITTED) -> None:
    names = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{at} +0000")
    subprocess.run(["git", "-C", folder, *names, *args], check=True, capture_output=True, env=os.environ | dates)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def faults(audit: Audit) -> dict[str, str]:
    return {file.path: file.fault for file in audit.files if file.fault}


def test_a_removed_file_is_wrong_with_its_commit_and_an_ignored_one_is_not(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, CLAUDE_md="- See `src/old.py`.\n- See `out/made.py`.\n", src__old_py="", src__new="")
    (tmp_path / "src/old.py").write_text("")
    (tmp_path / ".gitignore").write_text("out/\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "rm", "-q", "src/old.py")
    git(tmp_path, "commit", "-qm", "two")
    found = audit_folder(tmp_path)
    assert [(each.statement.line, each.words) for each in found.statements] == [(1, "wrong"), (2, "cannot be told")]
    finding = found.statements[0].marked(StatementMark.WRONG)
    assert finding is not None
    assert finding.where.startswith("commit ")
    changed = found.statements[0].changed
    assert changed is not None
    assert changed.at == COMMITTED


def test_blank_lines_of_windows_in_what_git_ignores_hide_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("")
    (tmp_path / ".gitignore").write_bytes(b"\r\n\r\nsrc/made.py\n!src/none.py\n")
    write(tmp_path, CLAUDE_md="- Start it: `python src/none.py`\n- Then: `python src/made.py`\n")
    git(tmp_path, "add", "-A")
    assert [each.statement.line for each in audit_folder(tmp_path).faulty] == [1]


def test_a_line_that_is_changed_or_moved_still_names_what_was_removed_before(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, CLAUDE_md="- Benchmarks: run `pytest bench/slow.py`.\n", bench__fast="")
    (tmp_path / "bench/slow.py").write_text("")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "rm", "-q", "bench/slow.py")
    git(tmp_path, "commit", "-qm", "two", at=COMMITTED + 1)
    (tmp_path / "CLAUDE.md").unlink()
    write(tmp_path, AGENTS_md="- For benchmarks run `pytest bench/slow.py -v`.\n- Never make `bench/slow.py` anew.\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "three", at=COMMITTED + 2)
    write(tmp_path, docs__AGENTS_md="- `bench/slow.py` is what it was called once.\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "four", at=COMMITTED + 3)
    wrong = [each.statement.place for each in audit_folder(tmp_path).faulty]
    assert wrong == ["AGENTS.md:1"]


def test_files_come_in_the_order_of_the_agents_with_what_they_import(tmp_path: Path) -> None:
    person, root = tmp_path / "person", tmp_path / "person/work"
    write(
        root,
        CLAUDE_md="Read @docs/more.md\n",
        docs__more_md="More. @even.md\n",
        docs__even_md="And back: @../CLAUDE.md\n",
        a__CLAUDE_md="Inner.\n",
        AGENTS_md="For others.\n",
        **{".claude__skills__x__SKILL_md": "A skill.\n", ".claude__rules__r_md": "A rule.\n"},
    )
    write(person, **{".claude__CLAUDE_md": "Mine.\n"})
    found = audit_folder(root, person=PersonFolder(person, {}))
    assert [(each.path, each.is_on_demand, each.imported_by) for each in found.files] == [
        ("~/.claude/CLAUDE.md", False, ""),
        ("AGENTS.md", False, ""),
        ("CLAUDE.md", False, ""),
        ("docs/more.md", False, "CLAUDE.md"),
        ("docs/even.md", False, "docs/more.md"),
        ("a/CLAUDE.md", False, ""),
        (".claude/rules/r.md", False, ""),
        (".claude/skills/x/SKILL.md", True, ""),
    ]


def test_a_link_or_a_copy_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, AGENTS_md="Run the tests.\n", GEMINI_md="Run the tests.\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    found = audit_folder(tmp_path)
    assert [(each.path, each.same_as) for each in found.files] == [
        ("AGENTS.md", ""), ("CLAUDE.md", "AGENTS.md"), ("GEMINI.md", "AGENTS.md"),
    ]  # fmt: skip
    assert len(found.statements) == 1


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"\xff\xfeA\0", "it is UTF-16: agents read UTF-8"),
        (b"a\0b", "it is not text"),
        (b"caf\xe9 is nice here\n", "it is not UTF-8: letters are lost"),
        (b"- word\n" * 720_000, "only its first 2 MB were read, of 5.0"),
    ],
    ids=["wide", "binary", "latin", "large"],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, body: bytes, fault: str) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(body)
    assert faults(audit_folder(tmp_path)) == {"CLAUDE.md": fault}


def test_pipes_folders_and_links_out_of_the_project_are_never_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "secret.md"
    root.mkdir()
    outside.write_text("secret")
    os.mkfifo(root / "AGENTS.md")
    (root / "CLAUDE.md").symlink_to(outside)
    (root / "GEMINI.md").mkdir()
    found = audit_folder(root)
    assert faults(found)["AGENTS.md"] == "it is not an ordinary file"
    assert "leads out of the project" in faults(found)["CLAUDE.md"]
    assert not found.statements


def test_a_folder_that_is_not_there_is_a_mistake_of_the_person(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="There is no folder"):
        audit_folder(tmp_path / "none")


def test_ten_thousand_statements_are_audited(tmp_path: Path) -> None:
    lines = "".join(f"- Rule number {n}: never use `src/f{n}.py` for the purpose {n * 7}.\n" for n in range(10_000))
    (tmp_path / "CLAUDE.md").write_text(lines)
    assert len(audit_folder(tmp_path).statements) == 10_000
