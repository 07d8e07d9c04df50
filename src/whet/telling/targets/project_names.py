"""Which project a folder belongs to: its repository's remote or first commit, else the folder itself.

The files of the repository are read and nothing in it is run: a repository may be a stranger's.
"""

import os
import re
import stat
from pathlib import Path

from whet.sessions.worktrees import without_worktree

MOST_BYTES = 100_000
COMMIT = "commit:"
_REMOTE = re.compile(r'^\s*\[remote "([^"]+)"\]\s*$')
_URL = re.compile(r"^\s*url\s*=\s*(\S+)\s*$")
_HOSTED = re.compile(r"^(?:[a-z+]+://)?(?:[^@/\s]+@)?([A-Za-z0-9.-]+)(?::\d+)?[:/](.+?)(?:\.git)?/*$")
_INITIAL = re.compile(r"^0{40,64} ([0-9a-f]{40,64}) .*\tcommit \(initial\)")
NO_HOST = ("file://", "/", "./", "../", "~")


def name_of_project(folder: str | Path) -> str:
    """The name of a folder's project: the same in every clone and worktree of one repository, wherever they are.

    A folder that is not on this machine, or is in no repository, is its own project; empty for no folder. What the
    sessions of a store tell besides of a folder that is gone, `KnownProjects` knows.
    """
    text = str(folder)
    root = _root(text)
    if root is None:
        return without_worktree(text)
    shared = _shared_folder(root / ".git")
    return _remote(shared) or _first_commit(shared) or str(_own_folder(root, shared))


def folder_of_project(folder: str) -> str:
    """The folder of the repository that a folder or worktree on this machine belongs to; empty where there is none."""
    root = _root(folder)
    return "" if root is None else str(_own_folder(root, _shared_folder(root / ".git")))


def worktrees_of(folder: str) -> tuple[str, ...]:
    """The worktrees that the repository of a folder has on its list, those too that are gone."""
    root = _root(folder)
    if root is None:
        return ()
    try:
        with os.scandir(_shared_folder(root / ".git") / "worktrees") as found:
            listed = [_text(Path(each.path, "gitdir")).strip() for each in found]
    except OSError:
        return ()
    return tuple(os.path.dirname(each) for each in listed if os.path.isabs(each))


def repository_root(folder: Path) -> Path | None:
    """The nearest folder above, or this one, that a repository begins in."""
    return next((each for each in (folder, *folder.parents) if os.path.lexists(each / ".git")), None)


def _root(folder: str) -> Path | None:
    return repository_root(Path(folder)) if os.path.isabs(folder) else None


def _own_folder(root: Path, shared: Path) -> Path:
    return shared.parent if shared.name == ".git" else root


def _shared_folder(git: Path) -> Path:
    """The repository's own folder; that of a worktree names it."""
    if git.is_dir():
        return git
    named = _text(git).removeprefix("gitdir:").strip()
    own = Path(os.path.normpath(git.parent / named)) if named else git
    common = _text(own / "commondir").strip()
    return Path(os.path.normpath(own / common)) if common else own


def _remote(git: Path) -> str:
    """The place of the remote, without user and protocol: `origin`, else the first one."""
    urls: dict[str, str] = {}
    section = ""
    for line in _text(git / "config").splitlines():
        if line.lstrip().startswith("["):
            found = _REMOTE.match(line)
            section = found[1] if found else ""
        elif section and (url := _URL.match(line)):
            urls.setdefault(section, url[1])
    url_of_remote = urls.get("origin") or next(iter(urls.values()), "")
    hosted = None if url_of_remote.startswith(NO_HOST) else _HOSTED.match(url_of_remote)
    return f"{hosted[1].lower()}/{hosted[2]}" if hosted else ""


def _first_commit(git: Path) -> str:
    """The first commit, where this repository was begun here: its log says so."""
    found = _INITIAL.match(_text(git / "logs" / "HEAD"))
    return f"{COMMIT}{found[1]}" if found else ""


def _text(path: Path) -> str:
    """What an ordinary file begins with; nothing for a pipe, which a repository may hold and which never ends."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            is_ordinary = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return file.read(MOST_BYTES).decode("utf-8", "replace") if is_ordinary else ""
    except OSError:
        return ""


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
