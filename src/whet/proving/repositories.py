"""Repositories, read by git: commits, trees and files. Nothing that a repository configures is run."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.telling.context.git import QUIET, surroundings

SECONDS = 120.0
NOT_COMMITTED = "0" * 40
LINK, SUBMODULE, PROGRAM = "120000", "160000", "100755"


class Commit(NamedTuple):
    """A commit, its parents, when it was committed, and what it says."""

    id: str
    parents: tuple[str, ...]
    at: float
    message: str


class TreeFile(NamedTuple):
    """A file of a tree: its mode as git writes it, the hash of its content, its path."""

    mode: str
    hash: str
    path: str


def root_of(folder: Path) -> Path:
    """The repository's top folder; raises WhetError for a folder that is in none."""
    if not folder.is_dir():
        raise WhetError(f"{folder} is not a folder.", advice="Name the folder of a git repository.")
    found = _run(folder, "rev-parse", "--show-toplevel", expected=False)
    if found is None or not found.strip():
        raise WhetError(f"{folder} is not in a git repository.", advice="Name the folder of a git repository.")
    return Path(os.fsdecode(found).rstrip("\n")).resolve()


def commits(repository: Path, *options: str) -> Iterator[Commit]:
    """Commits as `git log` orders them, the newest first."""
    text = _run(repository, "log", "-z", "--format=%H%x1f%P%x1f%ct%x1f%B", *options, "--") or b""
    for record in text.decode("utf-8", "replace").split("\0"):
        if record.strip():
            id, parents, at, message = record.strip("\n").split("\x1f", 3)
            yield Commit(id, tuple(parents.split()), float(at), message)


def listed_files(repository: Path) -> tuple[str, ...]:
    """The paths that git knows in a repository, and those that are new in it; none where there is no repository."""
    options = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name")
    text = _run(repository, *options, expected=False) or b""
    return tuple(path for path in os.fsdecode(text).split("\0") if path)


def has_word(repository: Path, word: str) -> bool:
    """Whether a word stands in one of the files that git knows."""
    options = ("--no-textconv", "-I", "--quiet", "--fixed-strings", "--word-regexp", "-e", word, "--")
    return _run(repository, "grep", *options, expected=False) is not None


def line_times(repository: Path, path: str) -> dict[str, float]:
    """Since when each line of a file stands there, without the space around it; nothing of what is not committed."""
    text = _run(repository, "blame", "--no-textconv", "--line-porcelain", "--", path, expected=False) or b""
    times: dict[str, float] = {}
    at: float | None = None
    is_new = False
    for line in text.decode("utf-8", "replace").split("\n"):
        if line.startswith("committer-time "):
            at = None if is_new else float(line.removeprefix("committer-time "))
        elif line.startswith("\t"):
            if at is not None:
                times[line.strip()] = min(times.get(line.strip(), at), at)
        elif line.startswith(NOT_COMMITTED):
            is_new = True
        elif len(line.split(" ", 1)[0]) == len(NOT_COMMITTED):
            is_new = False
    return times


def resolved(repository: Path, name: str) -> str:
    """The hash of a commit or tree that is named; empty where there is none."""
    if name.startswith("-"):
        return ""
    found = _run(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", name, expected=False)
    return found.decode().strip() if found else ""


def changed(repository: Path, old: str, new: str) -> tuple[str, ...]:
    """The files in which two commits differ."""
    listed = _run(repository, "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new) or b""
    return tuple(path for path in os.fsdecode(listed).split("\0") if path)


def in_force(repository: Path, at: float, *, branch: str = "") -> str:
    """The commit that was checked out at a time, by the reflog; else the last before it; empty where there is none."""
    moves = _run(repository, "log", "-g", "--date=unix", "--format=%H %gd", "HEAD", "--", expected=False) or b""
    for line in moves.decode().splitlines():
        id, _, selector = line.partition(" ")
        if float(selector.partition("{")[2].rstrip("}") or "inf") <= at:
            return id
    tip = tip_of(repository, branch)
    before = commits(repository, tip, "--max-count=1", f"--before={int(at)}") if tip else ()
    return next((commit.id for commit in before), "")


def tip_of(repository: Path, branch: str) -> str:
    """Where a branch stands now; where the repository does, for one that is gone."""
    return (resolved(repository, f"refs/heads/{branch}") if branch else "") or resolved(repository, "HEAD")


def files_of(repository: Path, tree: str) -> tuple[TreeFile, ...]:
    """All files of a commit or tree, without submodules; raises WhetError where the repository no longer has it."""
    known = resolved(repository, f"{tree}^{{tree}}")
    listed = _run(repository, "ls-tree", "-r", "-z", "--full-tree", known, expected=False) if known else None
    if listed is None:
        raise WhetError(
            f"{repository} does not have {tree[:12]}.",
            advice="Was its history rewritten, or is it a shallow clone? Make the case again.",
        )
    found = (line.partition("\t") for line in os.fsdecode(listed).split("\0") if line)
    files = (TreeFile(facts.split()[0], facts.split()[2], path) for facts, _, path in found)
    return tuple(file for file in files if file.mode != SUBMODULE)


def contents_of(repository: Path, hashes: Sequence[str]) -> Iterator[bytes]:
    """The contents of files by their hashes, in that order, as they were committed: no filter is run."""
    asked = "\n".join(hashes).encode()
    body = _run(repository, "cat-file", "--batch", given=asked) or b""
    place = 0
    for _ in hashes:
        end = body.index(b"\n", place)
        size = int(body[place:end].split()[-1])
        yield body[end + 1 : end + 1 + size]
        place = end + 2 + size


def text_of(repository: Path, commit: str, path: str) -> str:
    """A file as a commit has it; empty where it has none."""
    found = _run(repository, "cat-file", "blob", f"{commit}:{path}", expected=False)
    return found.decode("utf-8", "replace") if found else ""


def private_folder(repository: Path) -> Path:
    """Where git keeps the repository's history; for a worktree it is elsewhere."""
    found = _run(repository, "rev-parse", "--git-common-dir")
    return (repository / os.fsdecode(found or b".git").rstrip("\n")).resolve()


def begin_history(folder: Path) -> None:
    """Make a folder a repository of one commit, so that nothing of another history can be read in it."""
    who = ("-c", "user.name=Whet", "-c", "user.email=whet@localhost", "-c", "commit.gpgsign=false")
    _run(folder, "init", "-q", "--template=", "--initial-branch=main")
    _run(folder, "add", "-A", "-f")
    _run(
        folder,
        *who,
        "commit",
        "-q",
        "--allow-empty",
        "--no-verify",
        "-m",
        "The state before",
        when="2000-01-01T00:00:00Z",
    )


def _run(folder: Path, *args: str, given: bytes = b"", expected: bool = True, when: str = "") -> bytes | None:
    """What git prints; None for an error where one is to be expected."""
    around = surroundings()
    if when:
        around |= {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    try:
        ran = subprocess.run(
            ["git", *QUIET, "-C", str(folder), *args], input=given, capture_output=True, env=around,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise WhetError("git is not installed.", advice="Install git; cases of a repository need it.") from error
    except subprocess.TimeoutExpired as error:
        raise WhetError(f"git {args[0]} took longer than {SECONDS:g} s.", advice="Try again.") from error
    if ran.returncode == 0:
        return ran.stdout
    if not expected:
        return None
    said = os.fsdecode(ran.stderr).strip().splitlines()
    raise WhetError(f"git {args[0]} failed: {said[-1] if said else ran.returncode}", advice=f"Look at {folder}.")
