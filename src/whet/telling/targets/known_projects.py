"""The projects of a store: which one a folder belongs to, also where the folder is gone, and how people read its name.

A worktree that was removed leaves nothing behind that says whose it was. So every import notes what the folders of
sessions belong to while they stand; else the repository's own list or the place of the folder may tell. Without such a
sign a folder stays a project of its own: that two names look alike joins nothing.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from whet.sessions.worktrees import is_persons
from whet.store.database import Database
from whet.store.listing import keep_projects, seen_folders
from whet.telling.targets.project_names import COMMIT, folder_of_project, name_of_project, worktrees_of

_OF_REPOSITORY = re.compile(r"(.+?)[/\\._-]worktrees[/\\]")  # /srv/shop/worktrees/x, /srv/shop.worktrees/x
_WORKTREES = frozenset({"worktrees", ".worktrees"})
_NAMING = 2  # so many parts after the folder of worktrees name the repository and this worktree, in either order


def remember_projects(database: Database) -> None:
    """Note which project each folder of the stored sessions belongs to, as far as it stands in a repository."""
    seen = seen_folders(database)
    named = {folder: name_of_project(folder) for folder in seen if _stands(folder)}
    keep_projects(
        database,
        {folder: name for folder, name in named.items() if name != folder and seen[folder] != {name}},
    )


class KnownProjects:
    """The project of every folder, each found once: by its identity, which is stored, and as people read it."""

    def __init__(self, database: Database, *, also: Iterable[str] = ()) -> None:
        """`also` are folders that may be read of besides those of the sessions, such as the one a person is in."""
        self._seen = {**dict.fromkeys(also, frozenset[str]()), **seen_folders(database)}
        self._identities: dict[str, str] = {}

    def identity(self, folder: str) -> str:
        """The name of a folder's project, by which rules and lessons are stored; empty for no folder."""
        if folder not in self._identities:
            self._identities[folder] = found = name_of_project(folder)
            if folder and (found == folder or not _stands(folder)):
                self._identities[folder] = self._by_signs(folder)
        return self._identities[folder]

    def shown(self, project: str) -> str:
        """The project as people read it: one that is named by its first commit goes by its folder."""
        if not project.startswith(COMMIT):
            return project
        folders = [
            (folder_of_project(each) if _stands(each) else "") or each for each in self._folders.get(project, ())
        ]
        return min(folders, key=lambda each: (not _stands(each), len(path_of(each).parts), len(each)), default=project)

    def short(self, project: str) -> str:
        """The last part of what people read, with as much before it as tells it from the store's other projects."""
        shown = self.shown(project)
        return self._short.get(shown) or short_name(shown)

    def is_named(self, project: str, asked: str) -> bool:
        """Whether a project is among those that a part of a name asks for."""
        return asked in project or asked in self.shown(project)

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        return _grouped((self.identity(folder), folder) for folder in self._seen)

    @cached_property
    def _short(self) -> dict[str, str]:
        return told_apart({self.shown(project) for project in self._folders if project})

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        return _grouped((path_of(folder).name, folder) for folder in self._seen)

    @cached_property
    def _listed(self) -> dict[str, str]:
        """The project of every worktree that a repository of the store has on its list."""
        standing = {folder_of_project(folder) for folder in self._seen if _stands(folder)} - {""}
        return {worktree: name_of_project(each) for each in sorted(standing) for worktree in worktrees_of(each)}

    def _by_signs(self, folder: str) -> str:
        """What is on record of a folder without a repository, or of one that it lay in; else what its place tells."""
        path = path_of(folder)
        for each in (path, *path.parents):
            if each != path and _stands(str(each)):
                break
            noted = self._seen.get(str(each), frozenset())
            if len(noted) == 1 or str(each) in self._listed:
                return self._listed.get(str(each)) or next(iter(noted))
        found = name_of_project(folder)
        if found == str(path) and not _stands(folder):
            found = self._holder(folder) or self._namesake(path) or found
        return self.identity(found) if path_of(found).is_absolute() else found

    def _holder(self, folder: str) -> str:
        """The repository that a folder of worktrees is named for or lies in, where it is known to be one."""
        matched = _OF_REPOSITORY.match(folder)
        holder = matched[1].rstrip("/\\") if matched else ""
        is_known = holder in self._seen or os.path.lexists(os.path.join(holder, ".git"))
        return "" if not is_known or is_persons(holder) or path_of(holder).name.startswith(".") else holder

    def _namesake(self, path: PurePath) -> str:
        """The one project of the store whose folder is named in a folder of worktrees of many repositories."""
        place = next((number for number, part in enumerate(path.parts, 1) if part in _WORKTREES), 0)
        names = path.parts[place : place + _NAMING] if place else ()
        others = (other for name in names for other in self._by_name.get(name, ()))
        found = {self.identity(other) for other in others if _WORKTREES.isdisjoint(path_of(other).parts)}
        return found.pop() if len(found) == 1 else ""


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, folder in sorted(pairs):
        found.setdefault(key, []).append(folder)
    return found


def _stands(folder: str) -> bool:
    return os.path.isabs(folder) and os.path.isdir(folder)


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
