"""Which agents have hooks that tell their sessions what is in force: those whose hook ran lately."""

import contextlib
import os

from whet.store.home import Home

FOLDER = ("hooks", "agents")
LATELY_SECONDS = 30 * 86_400.0


def hooked_agents(home: Home, *, now: float) -> frozenset[str]:
    """The agents whose hook ran in this home in the last weeks, by the marks that it leaves."""
    return frozenset(name for name, at in last_calls(home).items() if at > now - LATELY_SECONDS)


def last_calls(home: Home) -> dict[str, float]:
    """When the hooks of each agent last ran, to the hour; an agent whose hooks never did is not in it."""
    with contextlib.suppress(FileNotFoundError), os.scandir(home.folder.joinpath(*FOLDER)) as marks:
        return {mark.name: mark.stat(follow_symlinks=False).st_mtime for mark in marks}
    return {}


def forget_calls(home: Home, agent: str) -> None:
    """Take an agent's mark away, once its hooks are gone."""
    home.folder.joinpath(*FOLDER, agent).unlink(missing_ok=True)
