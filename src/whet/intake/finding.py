"""Which files to import: those that are named, or those that agents left in their usual places."""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from whet.agents.recognising import formats
from whet.errors import WhetError

SKIPPED_FOLDERS = frozenset({".git", "node_modules", "__pycache__", ".venv"})
COMPANIONS = ("-wal", "-shm", "-journal")


class AgentPlace(NamedTuple):
    """An agent's usual place on this machine, as a person would write it, and the files found there."""

    format: str
    title: str
    shown: str
    files: tuple[Path, ...]


def usual_places(person: Path, environment: Mapping[str, str], folders: Iterable[str] = ()) -> Iterator[AgentPlace]:
    """Every place where a known agent keeps sessions, found or not: beneath the person's own folder or its own home.

    Of an agent that keeps them where the person works, every one of `folders` where it did.
    """
    for known in formats():
        moved = environment.get(known.variable, "") if known.variable else ""
        for pattern in known.places:
            base, within, shown = person, pattern, f"~/{pattern}"
            if moved:
                base, within = Path(os.path.expanduser(moved)), pattern.partition("/")[2]
                shown = str(base / within)
            found = (path for path in base.glob(within) if path.is_file())
            yield AgentPlace(known.name, known.title, shown, tuple(by_age(found)))
    yield from places_beside({str(person), *folders})


def places_beside(folders: Iterable[str]) -> Iterator[AgentPlace]:
    """What agents that keep sessions where the person works left in these folders."""
    for known in formats():
        if known.beside:
            beside = (Path(folder, name) for folder in sorted(folders) for name in known.beside)
            found = (path for path in beside if path.is_absolute() and path.is_file())
            yield AgentPlace(known.name, known.title, "the folders where agents worked", tuple(by_age(found)))


def named_files(arguments: Iterable[str]) -> Iterator[Path]:
    """The files that paths, folders and globs mean; one that is not there is the person's mistake."""
    for argument in arguments:
        path = Path(os.path.expanduser(argument))
        if path.is_dir():
            yield from by_age(_within(path))
        elif path.exists():
            yield path
        elif matches := sorted(glob.glob(str(path), recursive=True)):
            yield from named_files(matches)
        else:
            raise WhetError(
                f"There is no file {argument}.", advice="Give a file, a folder, a glob, or - for standard input."
            )


def by_age(files: Iterable[Path]) -> list[Path]:
    """The oldest first, so that what is imported last, and ranked first, is the newest."""
    return sorted(files, key=lambda path: (path.stat().st_mtime_ns, str(path)))


def _within(folder: Path) -> Iterator[Path]:
    beside = {name for known in formats() for name in known.beside}
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in names:
            path = Path(parent, name)
            # Pipes and devices could block for ever; a database's companions belong to the database.
            if path.is_file() and not name.endswith(COMPANIONS) and (not name.startswith(".") or name in beside):
                yield path
