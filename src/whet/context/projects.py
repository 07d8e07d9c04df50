"""Folders in which what the repository and its tools print counts as the owner's, because the owner said so."""

import os
from collections.abc import Iterable
from pathlib import Path

SETTING = "trust.projects"


def project_of(folder: Path, declared: Iterable[str]) -> Path | None:
    """The declared folder that this one lies in, or is; None where there is none.

    A folder that holds the person's own is no project: downloads and mail lie in it.
    """
    real, home = folder.resolve(), Path.home().resolve()
    for each in declared:
        path = Path(os.path.expanduser(each))
        place = path.resolve()
        is_project = path.is_absolute() and not home.is_relative_to(place)
        if is_project and real.is_relative_to(place):
            return place
    return None


def said_of(project: Path) -> str:
    """What a person should know where the setting holds."""
    return f"The output of files and commands in {project} counts as your words, by the setting {SETTING}."
