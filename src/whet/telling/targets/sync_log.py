"""The sync log: from when on which rules stood in which file of an agent, one line of the home for each change.

It is a file and no table: the files that agents read are this machine's, and so are the sessions that read them.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from whet.store import files
from whet.store.folders import NEW_FILE
from whet.store.home import Home, prepare_home
from whet.telling.targets.reaching import is_shown
from whet.values import Value

FILE_NAME = "sync-log.jsonl"


class FileTelling(Value, frozen=True):
    """The entries of the rules that stood in a file from a moment on, and for whose sessions."""

    at: float
    file: str
    agents: tuple[str, ...]
    project: str  # the folder of the project; empty: for every project
    entries: tuple[int, ...]


class FileStay(NamedTuple):
    """From when to when a rule stood in a file; until None: it stands there now, as far as Whet wrote it."""

    file: str
    since: float
    until: float | None = None


def load_log(home: Home) -> tuple[FileTelling, ...]:
    """What was noted, the oldest first. A line that a crash cut short is left out."""
    found = []
    for line in (files.read(files.beneath(home.folder, FILE_NAME)) or b"").splitlines():
        try:
            found.append(msgspec.json.decode(line, type=FileTelling))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return tuple(found)


def note(home: Home, telling: FileTelling) -> None:
    """Note what stands in a file now, where that is not what was noted of it last."""
    last = next((each for each in reversed(load_log(home)) if each.file == telling.file), None)
    if last is not None and msgspec.structs.replace(last, at=telling.at) == telling:
        return
    prepare_home(home)
    before = files.read(files.beneath(home.folder, FILE_NAME)) or b"\n"
    start = b"" if before.endswith(b"\n") else b"\n"  # a line that was cut short takes no other with it
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(home.folder / FILE_NAME, flags, NEW_FILE)
    try:
        os.write(descriptor, start + msgspec.json.encode(telling) + b"\n")
    finally:
        os.close(descriptor)


def entries_for(log: Iterable[FileTelling], *, agent: str, folder: str, at: float) -> frozenset[int] | None:
    """What stood at a moment in the files that an agent reads in a folder; None where nothing was noted by then."""
    latest = {
        each.file: each
        for each in log
        if each.at <= at and is_shown(each.agents, each.project, agent=agent, folder=folder)
    }
    return frozenset(number for each in latest.values() for number in each.entries) if latest else None


def stays_of(log: Iterable[FileTelling], entry: int) -> tuple[FileStay, ...]:
    """Where and when a rule stood, the first first."""
    found: list[FileStay] = []
    for each in log:
        is_there = any(stay.file == each.file and stay.until is None for stay in found)
        if entry in each.entries and not is_there:
            found.append(FileStay(each.file, each.at))
        elif entry not in each.entries and is_there:
            found = [
                stay._replace(until=each.at) if stay.file == each.file and stay.until is None else stay
                for stay in found
            ]
    return tuple(found)
