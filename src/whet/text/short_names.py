"""Folders and repositories by the last part of their name, with as much before it as tells them apart."""

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath, PurePosixPath, PureWindowsPath


def path_of(folder: str) -> PurePath:
    """A folder as the machine names it that it is from."""
    return PureWindowsPath(folder) if "\\" in folder and "/" not in folder else PurePosixPath(folder)


def short_name(project: str) -> str:
    """The last part of a project's name, which people know it by."""
    return path_of(project).name or project or "no project"


def told_apart(projects: Iterable[str]) -> dict[str, str]:
    """The short name of each project, with as much before it as tells it from the others."""
    named = {project: short_name(project) for project in projects}
    for parts in (2, 3):
        often = Counter(named.values())
        named = {
            project: "/".join(path_of(project).parts[-parts:]) if often[name] > 1 else name
            for project, name in named.items()
        }
    often = Counter(named.values())
    return {project: name if often[name] == 1 else project for project, name in named.items()}
