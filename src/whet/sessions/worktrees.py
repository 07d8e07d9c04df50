"""Folders in which work counts for another, or for nobody.

What is done in a worktree that an agent made for itself is done in the repository's folder; what runs in a temporary
folder is mostly a test or a tool's own errand, and not a person's work.
"""

import re

TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/dev/shm")
# A hidden folder of worktrees lies in its repository, except in a person's own folder, where it is of many.
_WORKTREE = re.compile(r"[/\\](?:\.[\w-]+[/\\]|\.)worktrees[/\\].*$")
_PERSONS = re.compile(r"(?:/(?:home|Users)/[^/]+|/root|[A-Za-z]:[/\\]Users[/\\][^/\\]+|)", re.IGNORECASE)


def without_worktree(folder: str) -> str:
    """The folder of the repository where an agent works in a worktree of its own, and any other folder as it is."""
    holder = _WORKTREE.sub("", folder)
    return (folder if is_persons(holder) else holder).rstrip("/\\") or folder


def is_persons(folder: str) -> bool:
    """Whether a folder is that of a person, or of the whole machine: what lies in it is of many projects."""
    return _PERSONS.fullmatch(folder) is not None


def is_temporary(folder: str) -> bool:
    """Whether a folder is one that tests and tools make and throw away."""
    return any(folder == each or folder.startswith(f"{each}/") for each in TEMPORARY)
