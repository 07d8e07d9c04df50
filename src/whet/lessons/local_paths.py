"""Paths as a project knows them: without the folder that the project has on one machine."""

import re
from collections.abc import Iterator
from functools import lru_cache

from whet.sessions.worktrees import without_worktree

_DRIVE = re.compile(r"^([A-Za-z]):[\\/]")
_PERSONS = re.compile(
    r"(?<![\w.-])(?:/(?:home|Users)/[^/\s'\":;]+|/root|[A-Za-z]:[/\\]+Users[/\\]+[^/\\\s'\":;]+)(?=[/\\])"
)
_BEHIND = r"(?:[/\\]+(?=[\w.@(\[-])|(?![\w-]))"


def in_project(text: str, folder: str) -> str:
    """A text on one line, its paths beginning at the project's folder, or at `~` where they are the person's."""
    flat = " ".join(text.split())
    pattern = _of_folder(folder)
    if pattern is not None:
        flat = pattern.sub(_short, flat)
    return _PERSONS.sub("~", flat) if "/" in flat or "\\" in flat else flat


def _short(found: re.Match[str]) -> str:
    return "" if found.group().endswith(("/", "\\")) else "."


@lru_cache(maxsize=64)
def _of_folder(folder: str) -> re.Pattern[str] | None:
    forms = sorted({*_forms(folder.rstrip("/\\"))}, key=len, reverse=True)
    if not forms:
        return None
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, forms))}){_BEHIND}", re.IGNORECASE)


def _forms(folder: str) -> Iterator[str]:
    """How tools spell a folder: with either slash, doubled in JSON, and as the shells on Windows do."""
    for place in {folder, without_worktree(folder)}:
        if place.count("/") + place.count("\\") < 1 or len(place) < 4:
            continue
        plain = place.replace("\\", "/")
        yield from (place, plain)
        if drive := _DRIVE.match(place):
            yield from (plain.replace("/", "\\"), plain.replace("/", "\\\\"))
            yield from (f"/{drive[1]}/{plain[3:]}", f"/mnt/{drive[1]}/{plain[3:]}")
