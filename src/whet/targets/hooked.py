"""Which agents have hooks that tell their sessions what is in force: those whose hook ran lately."""

import contextlib
import os

from whet.store.home import Home

FOLDER = ("hooks", "agents")
LATELY_SECONDS = 30 * 86_400.0


def hooked_agents(home: Home, *, now: float) -> frozenset[str]:
    """The agents whose hook ran in this home in the last weeks, by the marks that it leaves."""
    found: set[str] = set()
    with contextlib.suppress(FileNotFoundError), os.scandir(home.folder.joinpath(*FOLDER)) as marks:
        found.update(mark.name for mark in marks if mark.stat(follow_symlinks=False).st_mtime > now - LATELY_SECONDS)
    return frozenset(found)
