"""Files are found by text and by name; what .gitignore leaves out is left out, as git does it."""

import subprocess
from pathlib import Path

import pytest

from agent.tools.rooms import Room, ask_for
from whet.agent.tools.finding import Ignored, glob_pattern, is_ignored, read_rules


@pytest.fixture
def searched(room: Room) -> Room:
    """A small project."""
    files = {
        "src/main.py": "import os\n\ndef main():\n    return os.getcwd()\n",
        "src/deep/er/x.ts": "export const OS = 1\n",
        "build/out.py": "import os\n",
        "notes.md": "os\n",
        ".hidden/config.py": "import os\n",
        ".gitignore": "build/\n*.log\n",
        "x.log": "import os\n",
    }
    for name, text in files.items():
        (room.work / name).parent.mkdir(parents=True, exist_ok=True)
        (room.work / name).write_text(text)
    (room.work / "binary.bin").write_bytes(b"import os\0\1")
    return room


def test_lines_are_found_with_their_numbers(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern=r"^import\s+os").result.text
    assert text.splitlines() == [".hidden/config.py:1: import os", "src/main.py:1: import os"]


def test_a_secret_file_is_left_out_by_every_name_that_it_has(searched: Room) -> None:
    kept = searched.work / "kept" / "login.json"
    kept.parent.mkdir()
    kept.write_text("import os\n")
    (searched.work / "src" / "other.json").hardlink_to(kept)
    searched.environment["GOOGLE_APPLICATION_CREDENTIALS"] = str(kept)
    for asked in ({"pattern": "import"}, {"glob": "*.json"}, {"pattern": "import", "path": "kept", "glob": "login.*"}):
        assert ".json" not in ask_for(searched.box(), "search_files", **asked).result.text


def test_a_glob_narrows_the_search(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern="(?i)os", glob="src/**/*.ts").result.text
    assert text == "src/deep/er/x.ts:1: export const OS = 1"


def test_names_are_listed(searched: Room) -> None:
    box = searched.box()
    assert ask_for(box, "search_files", glob="*.py").result.text.splitlines() == [".hidden/config.py", "src/main.py"]
    everything = ask_for(box, "search_files").result.text.splitlines()
    assert "notes.md" in everything
    assert "x.log" not in everything


def test_a_folder_that_is_named_is_searched_though_it_is_ignored(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern="import", path="build").result.text
    assert text == "build/out.py:1: import os"


def test_one_file_can_be_searched(searched: Room) -> None:
    text = ask_for(searched.box(), "search_files", pattern="getcwd", path="src/main.py").result.text
    assert text == "src/main.py:4: return os.getcwd()"


def test_nothing_found_is_no_error(searched: Room) -> None:
    answer = ask_for(searched.box(), "search_files", pattern="nowhere to be found")
    assert answer.result.error is False
    assert answer.result.text == "[nothing found]"


@pytest.mark.parametrize("pattern", ["(", "[", "*", r"(?=x)"])
def test_a_wrong_pattern_is_told(searched: Room, pattern: str) -> None:
    answer = ask_for(searched.box(), "search_files", pattern=pattern)
    assert answer.result.error is True
    assert "not a valid regex" in answer.result.text


def test_what_is_over_the_limit_is_counted(searched: Room) -> None:
    (searched.work / "many").write_text("line\n" * 50)
    text = ask_for(searched.box(), "search_files", pattern="line", path="many", limit=10).result.text
    assert len(text.splitlines()) == 11
    assert "40 more" in text


def test_a_missing_folder_is_told(searched: Room) -> None:
    assert ask_for(searched.box(), "search_files", path="nowhere").result.error is True


RULES = """
# a comment
*.pyc
build/
/top
docs/**/draft.md
!keep.pyc
a/b
**/cache
file[0-9].txt
logs/**
"""
PATHS: tuple[str, ...] = (
    "x.pyc",
    "keep.pyc",
    "deep/x.pyc",
    "build/x",
    "src/build/x",
    "top",
    "deep/top",
    "docs/draft.md",
)
PATHS += (
    "docs/a/b/draft.md",
    "a/b",
    "x/a/b",
    "cache/y",
    "deep/er/cache/y",
    "file1.txt",
    "filex.txt",
    "logs/a/b",
    "plain",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_left_out_where_git_leaves_it_out(path: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text(RULES)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("x")
    done = subprocess.run(["git", "check-ignore", "-q", path], cwd=tmp_path, check=False)
    parts = path.split("/")
    ignored = [Ignored("", read_rules(RULES))]
    ours = any(is_ignored("/".join(parts[:end]), ignored, folder=end < len(parts)) for end in range(1, len(parts) + 1))
    assert ours == (done.returncode == 0)


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.py", "a/b/c.py", True),
        ("*.py", "a/b/c.pyc", False),
        ("src/**/*.ts", "src/x.ts", True),
        ("src/**/*.ts", "src/a/b/x.ts", True),
        ("src/**/*.ts", "lib/src/x.ts", False),
        ("a?.txt", "ab.txt", True),
        ("./x.md", "x.md", True),
        ("src/*", "src/a/b", False),
    ],
)
def test_a_glob_means_paths(glob: str, path: str, fits: bool) -> None:
    assert bool(glob_pattern(glob).fullmatch(path)) is fits
