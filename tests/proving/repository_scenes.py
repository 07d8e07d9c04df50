"""A real git repository with a handful of commits, for the tests of cases that come of it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PYTEST = f"{sys.executable} -m pytest -q -rA -p no:cacheprovider {{files}}"
PLAIN = f"for file in {{files}}; do {sys.executable} -S $file || exit 1; done"  # runs each as a program, and fast
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(repository: Path, *args: str, at: int = 0) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    dated = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"} if at else {}
    ran = subprocess.run(
        ["git", *who, "-C", str(repository), *args], check=True, capture_output=True, text=True,
        env={**os.environ, **QUIET, **dated},
    )  # fmt: skip
    return ran.stdout.strip()


def commit(repository: Path, message: str, files: Mapping[str, str | None], *, at: int = 0) -> str:
    """Write files, delete those that are None, and commit; gives the hash."""
    for path, text in files.items():
        place = repository / path
        if text is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", message, at=at)
    return git(repository, "rev-parse", "HEAD")


def new_repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    return folder


def adding(value: str) -> str:
    return f"def add(a, b):\n    return {value}\n"


def test_of(name: str, expected: int) -> str:
    body = f"from calc import {name}\n\ndef test_{name}():\n    assert {name}(2, 3) == {expected}\n"
    return f"{body}\nif __name__ == '__main__':\n    test_{name}()\n"


test_of.__test__ = False  # type: ignore[attr-defined]
