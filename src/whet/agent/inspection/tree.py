"""A folder tree that is looked through again and again: a folder in which nothing has changed is not read twice."""

import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from whet.agent.inspection.triggers import Trigger, Triggers

MOST_FOLDERS = 100_000
# A change within the same tick of the clock leaves no trace in a time that was read in that tick.
UNSETTLED_NS = 2_000_000_000
REPOSITORY = ".git"
# Directly in a repository's own folder: large, and without anything that git would run.
DULL = frozenset({"objects", "refs", "logs", "lfs"})
# What file systems leave out of a name, or make of it: all these open a repository's own folder on some machine.
_IGNORED = {ord(character): None for character in "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff"}
_SHORT = "git~1"


class Listing(NamedTuple):
    """What of a folder matters: its folders, its triggers, and whether git would take it for a repository."""

    folders: tuple[str, ...]
    triggers: tuple[tuple[str, Trigger], ...]
    pointers: tuple[str, ...]  # of the name .git, and no folders
    is_repository: bool


def is_repository_name(name: str) -> bool:
    """Whether some file system takes a name for `.git`."""
    plain = name if name.isascii() else name.translate(_IGNORED)
    return plain.lower().rstrip(". ") in (REPOSITORY, _SHORT)


class Tree:
    """Folders and all beneath them, over no link. `left_out` are places that no command can write to."""

    def __init__(
        self, roots: Iterable[str], left_out: Iterable[str], triggers: Triggers, *, most: int = MOST_FOLDERS
    ) -> None:
        self.roots = tuple(roots)
        self._most = most
        self._left_out = frozenset(left_out)
        self._triggers = triggers
        self._known: dict[str, tuple[tuple[int, ...], Listing]] = {}
        self._shut: dict[str, tuple[int, ...]] = {}  # folders that could not be listed from the beginning
        self._has_looked = False
        self.is_cut = False  # whether there were more folders than are looked through

    def expect(self, triggers: Triggers) -> None:
        """Look for other triggers from now on."""
        self._triggers, self._known = triggers, {}

    def holds(self, real: str) -> bool:
        """Whether a path lies in the tree, where commands can write."""
        return _lies_in(real, self.roots) and not _lies_in(real, self._left_out)

    def folders(self) -> Iterator[tuple[str, Listing]]:
        """Every folder, those above before those beneath."""
        before, self._known = self._known, {}
        self.is_cut = False
        waiting: deque[tuple[str, tuple[str, ...]]] = deque((root, ()) for root in self.roots)
        while waiting:
            path, parts = waiting.popleft()
            if len(self._known) >= self._most:
                self.is_cut = True
                return
            listing = self._listing(path, parts, before.get(path))
            if listing is None:
                continue
            waiting.extend((f"{path}/{name}", (*parts, name)) for name in listing.folders)
            yield path, listing
        self._has_looked = True

    def _listing(
        self, path: str, parts: tuple[str, ...], known: tuple[tuple[int, ...], Listing] | None
    ) -> Listing | None:
        try:
            mark = mark_of(os.lstat(path))
            if known is None or known[0] != mark:
                known = (settled(mark), self._read(path, parts))
        except OSError:
            return None  # gone again, or not ours to read
        self._known[path] = known
        return known[1]

    def _read(self, path: str, parts: tuple[str, ...]) -> Listing:
        find = self._triggers.within(parts)
        is_own = bool(parts) and is_repository_name(parts[-1])
        folders, triggers, pointers, names = [], [], [], set()
        for entry in self._entries(path):
            name, is_folder = entry.name, entry.is_dir(follow_symlinks=False)
            names.add(name)
            if is_folder:
                if not (is_own and name in DULL) and entry.path not in self._left_out:
                    folders.append(name)
            elif is_repository_name(name):
                pointers.append(name)
            elif trigger := find(name, entry.is_symlink()):
                triggers.append((name, trigger))
        has_shape = "HEAD" in names and ("commondir" in names or {"objects", "refs"} <= names)
        return Listing(tuple(folders), tuple(triggers), tuple(pointers), is_own or has_shape)

    def _entries(self, path: str) -> list["os.DirEntry[str]"]:
        """What is in a folder. One that a command shut is opened again, for git finds its way in without a list."""
        try:
            return _listed(path)
        except PermissionError:
            status = os.lstat(path)
            if not self._has_looked:
                self._shut[path] = mark_of(status)
            if self._shut.get(path) == mark_of(status):
                raise
            os.chmod(path, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
            return _listed(path)


def _lies_in(real: str, folders: Iterable[str]) -> bool:
    return any(real == folder or real.startswith(f"{folder}/") for folder in folders)


def _listed(path: str) -> list["os.DirEntry[str]"]:
    with os.scandir(path) as found:
        return list(found)


def mark_of(status: os.stat_result) -> tuple[int, ...]:
    """What changes with every change: nobody but the kernel sets the time of the last one."""
    return (status.st_dev, status.st_ino, status.st_ctime_ns, status.st_size, status.st_mode)


def settled(mark: tuple[int, ...]) -> tuple[int, ...]:
    """The mark, or none where a change may have come right after the look without leaving a trace."""
    return mark if mark[2] < time.time_ns() - UNSETTLED_NS else ()
