"""What code looks up for a reader: quotes, absences, counts, and the pieces of a repository that it asks to see."""

import subprocess
from pathlib import Path

import pytest

from whet.lessons.statements.reader_claims import AbsentName, ClaimEvidence, FileCount, FileQuote, WantedLook
from whet.telling.context.auditing import repository_facts
from whet.telling.context.looking import WHOLE_LINES, RepositoryText

FILES = {
    "CLAUDE.md": "- It uses Redis.\n",
    "README.md": "Redis is fast.\n",
    ".gitignore": "out/\n",
    "src/app.py": "RETRIES = 5\n\n\nclass Client:\n    retries = RETRIES\n",
    "src/b.py": "from app import Client\n",
    "src/deep/c.py": "x = 1\n",
    "package.json": '{"scripts": {"lint": "x"}}\n',
}
HIDDEN = frozenset({"CLAUDE.md"})


@pytest.fixture(params=["a repository", "a plain folder"])
def code(request: pytest.FixtureRequest, tmp_path: Path) -> RepositoryText:
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "src/link.py").symlink_to("/etc/passwd")
    if request.param == "a repository":
        subprocess.run(["git", "init", "-q", root], check=True)
    return RepositoryText(root, repository_facts(root))


@pytest.mark.parametrize(
    "evidence",
    [
        FileQuote("src/app.py", "RETRIES  = 5"),
        AbsentName("Redis"),
        AbsentName("test:ci", "package.json"),
        AbsentName("Client", "src/deep"),
        AbsentName("src/none.py"),
        FileCount(3, "src/*.py"),
        FileCount(4, "src/**/*.py"),
        FileCount(5, "src/app.py", is_lines=True),
        FileCount(2, "src/*.py", is_lines=True, words="Client"),
    ],
    ids=str,
)
def test_evidence_that_holds_has_no_fault(code: RepositoryText, evidence: ClaimEvidence) -> None:
    assert code.fault(evidence, HIDDEN) == ""


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        (FileQuote("src/app.py", "RETRIES = 3"), "src/app.py does not say “RETRIES = 3”"),
        (FileQuote("src/none.py", "RETRIES"), "there is no text file src/none.py"),
        (FileQuote("../other", "RETRIES"), "there is no text file ../other"),
        (FileQuote("src/link.py", "root:"), "there is no text file src/link.py"),
        (AbsentName("client"), "`client` is there: src/app.py:4"),
        (AbsentName("src/app.py"), "`src/app.py` is there"),
        (AbsentName("lint", "package.json"), "`lint` is there: package.json:1"),
        (AbsentName("lint", "none.json"), "there is no none.json"),
        (FileCount(7, "src/app.py", is_lines=True), "there are 5, not 7: src/app.py"),
        (FileCount(1, "*/*/*/*/*/*/*/*"), "there are 0, not 1: */*/*/*/*/*/*/*"),
    ],
    ids=str,
)
def test_evidence_that_does_not_hold_says_why(code: RepositoryText, evidence: ClaimEvidence, why: str) -> None:
    assert code.fault(evidence, HIDDEN) == why


def test_what_git_ignores_is_not_absent(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("out/\n")
    code = RepositoryText(tmp_path, repository_facts(tmp_path))
    assert code.fault(AbsentName("out/made.py"), HIDDEN) == "git ignores `out/made.py`: it may be there at times"


@pytest.mark.parametrize(
    ("look", "shown"),
    [
        (WantedLook("src/b.py"), "1| from app import Client"),
        (WantedLook("", "class Client"), "src/app.py:4: class Client:"),
        (WantedLook("src", "class Client"), "src/app.py:4: class Client:"),
        (WantedLook("src/deep", "class Client"), "nowhere"),
        (WantedLook("src"), "deep/ (1)\napp.py\nb.py\nlink.py"),
        (WantedLook("src/app.py", "none"), "src/app.py (5 lines) does not say “none”"),
        (WantedLook("lib/app.js"), "there is no text file lib/app.js; near it: src/app.py"),
        (WantedLook("src/link.py"), "there is no text file src/link.py; near it: src/link.py"),
    ],
    ids=str,
)
def test_a_reader_sees_files_folders_and_where_words_stand(code: RepositoryText, look: WantedLook, shown: str) -> None:
    assert code.looked(look) == shown


def test_of_a_long_file_its_beginning_and_what_it_defines_is_shown(tmp_path: Path) -> None:
    body = "".join(f"def work{number}():\n    return {number}\n" for number in range(WHOLE_LINES))
    (tmp_path / "long.py").write_text(body)
    shown = RepositoryText(tmp_path, repository_facts(tmp_path)).looked(WantedLook("long.py"))
    assert f"{2 * WHOLE_LINES - 1}| def work{WHOLE_LINES - 1}():" in shown
    assert f"return {WHOLE_LINES - 1}" not in shown
    assert "return 3" in shown
