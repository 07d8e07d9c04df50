"""Bounds: what a command may touch, whichever wall holds it back."""

import itertools
from pathlib import Path
from typing import NamedTuple

from whet.agent.inspection.tree import REPOSITORY
from whet.agent.tools.guard import Guard

MOST_REPOSITORIES = 200  # that a wall keeps; what is done to others is found afterwards


class Bounds(NamedTuple):
    """What a command may touch: written are the folder, the temporary folder and `writable`; hidden is never seen."""

    guard: Guard
    temporary: Path
    network: bool = False
    writable: tuple[Path, ...] = ()
    repositories: tuple[Path, ...] = ()  # git's own folders, which keep their settings and hooks
    pointers: tuple[Path, ...] = ()  # files that tell git where its folder is
    programs: tuple[Path, ...] = ()  # where programs are installed: readable, wherever that is

    @property
    def folders(self) -> tuple[Path, ...]:
        return (self.guard.folder, *self.writable)

    @property
    def kept_repositories(self) -> tuple[Path, ...]:
        named = (each for each in self.repositories if REPOSITORY in each.parts)  # others may be a project's own files
        return tuple(itertools.islice(named, MOST_REPOSITORIES))

    @property
    def kept_pointers(self) -> tuple[Path, ...]:
        return self.pointers[:MOST_REPOSITORIES]
