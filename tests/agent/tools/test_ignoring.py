"""What .gitignore leaves out is left out, as git does it."""

import subprocess
from pathlib import Path

import pytest

from whet.agent.tools.finding import Ignored, glob_pattern, is_ignored, read_rules

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
