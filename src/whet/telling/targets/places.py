"""Other people's files and folders: where a path really leads, and whether Whet may write there."""

import codecs
import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.store import files
from whet.store.folders import explained
from whet.store.home import Home, holds, prepare_home

WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
KEPT_FOLDER = "replaced"


class TargetFile(NamedTuple):
    """A file of an agent as it stands; content None: it is not there."""

    place: files.Place
    content: bytes | None
    note: str  # what a person should know about the way there


def look(path: Path, *, project: str, home: Home) -> TargetFile:
    """What the file holds and where it really is; a file that Whet must not write to is refused."""
    real = lead(path, project=project)
    if holds(home, real):
        raise WhetError(f"{path} is Whet's own database.", advice="Choose a file that an agent reads.")
    place = place_of(real, project)
    content = files.read(place)
    if content is not None and (content.startswith(WIDE_MARKS) or b"\0" in content):
        raise WhetError(f"{path} is not UTF-8 text.", advice="Save it as UTF-8, then run `whet sync` again.")
    return TargetFile(place, content, f"{path} leads to {real}" if real != path else "")


def lead(path: Path, *, project: str) -> Path:
    """Where a path leads over all links. A repository must not send Whet to a file of the person's elsewhere."""
    real = Path(os.path.realpath(path))
    if real == path:
        return real
    with explained(path):
        _check_link(path, real, project)
    return real


def _check_link(path: Path, real: Path, project: str) -> None:
    if path.is_symlink() and not real.exists():
        raise WhetError(f"{path} is a link to {real}, which does not exist.", advice="Fix or remove the link.")
    if project and not real.is_relative_to(os.path.realpath(project)):
        raise WhetError(f"{path} leaves the project, to {real}.", advice="Replace the link with a file.")
    if real.exists() and real.stat().st_uid != os.geteuid():
        raise WhetError(
            f"{path} leads to {real}, which belongs to another account.", advice="Replace the link with a file."
        )


def place_of(real: Path, project: str = "") -> files.Place:
    """The place of a path without links: beneath its project, or else beneath the nearest folder that is there.

    Links below it are refused when the place is used, so that none that is made meanwhile leads out of a project.
    """
    root = Path(os.path.realpath(project)) if project else None
    if root is None or not real.is_relative_to(root):
        with explained(real):
            root = next(folder for folder in real.parents if folder.is_dir())
    return files.beneath(root, *real.relative_to(root).parts)


def repository_of(path: Path) -> str:
    """The folder of the repository that holds a file, whose links are a stranger's word; empty where there is none."""
    return str(next((folder for folder in path.parents if (folder / ".git").exists()), ""))


def keep(home: Home, name: str, content: bytes) -> Path:
    """Save what a person is about to replace; it is named by its content, so nothing kept is ever replaced."""
    prepare_home(home)
    place = files.beneath(home.folder, KEPT_FOLDER, name)
    if files.read(place) is None:
        files.write(place, content, expected=None)
    return place.path


def tidy(folder: Path, project: str) -> None:
    """Take away a folder of a project that is empty now, and those above it: they were made for what was in it."""
    inner = [each for each in (folder, *folder.parents) if project and Path(os.path.realpath(project)) in each.parents]
    with contextlib.suppress(OSError):  # something else is in it: it stays, and so do those above
        for each in inner:
            each.rmdir()
