"""Worktrees that agents make of a repository for themselves: what is done there is done in the repository's folder."""

import re

_WORKTREE = re.compile(r"[/\\]\.(?:claude|whet|codex)[/\\]worktrees[/\\].*$")


def without_worktree(folder: str) -> str:
    """The folder of the repository where an agent works in a worktree of its own, and any other folder as it is."""
    return _WORKTREE.sub("", folder).rstrip("/\\") or folder
