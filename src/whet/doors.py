"""The doors: what other installed packages may add to Whet, by entry points of the groups named here.

Python's own reader of entry points takes twice as long to load as all of `whet --help`, so a short one stands here.
It reads the same files: `entry_points.txt` beside each package, where that is installed.
"""

import os
import sys

TYPE_CHECKING = False  # `typing` would be a third of the start of `whet --help`
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    Kind = TypeVar("Kind")

AGENTS, FORMATS, COMMANDS = "whet.agents", "whet.formats", "whet.commands"
TROUBLES, LESSON_SOURCES = "whet.troubles", "whet.lesson_sources"
# What an entry point of each group names: one such value, or a tuple of them.
DOORS = {
    AGENTS: "an agent: whet.agents.agent.Agent",
    FORMATS: "a format of record that belongs to no agent: whet.agents.formats.source.Format",
    TROUBLES: "a kind of trouble: whet.trouble.kinds.KindOfTrouble, which finds stretches of a session",
    LESSON_SOURCES: "a source of lessons: whet.improving.learned.SourceOfLessons",
    COMMANDS: "a command of click; the name of the entry point is the command's",
}
METADATA = (".dist-info", ".egg-info")
FILE = "entry_points.txt"


class Addition:
    """One entry point: its name, the package that has it, and where in the package the value is."""

    __slots__ = ("name", "package", "value")

    def __init__(self, name: str, package: str, value: str) -> None:
        self.name, self.package, self.value = name, package, value


def additions(group: str, path: "Sequence[str] | None" = None) -> "list[Addition]":
    """What installed packages add at a door, none of it loaded. Of two copies of a package the first counts."""
    found: dict[str, list[Addition]] = {}
    for folder in sys.path if path is None else path:
        for package, text in _texts(folder):
            if package not in found:
                found[package] = [Addition(name, package, value) for name, value in _listed(text, group)]
    return [addition for package in sorted(found) for addition in found[package]]


def load(group: str, kind: "type[Kind]") -> "tuple[Kind, ...]":
    """All values that installed packages add at a door; one that cannot be used costs a line, not the command."""
    return tuple(value for addition in additions(group) for value in loaded(addition, kind))


def loaded(addition: Addition, kind: "type[Kind]") -> "tuple[Kind, ...]":
    """What an addition names, if all of it is of the kind; else nothing, and a line that says why."""
    try:
        value: object = named(addition.value)
    except Exception as error:  # noqa: BLE001 -- foreign code: it may fail in any way, and must not take Whet with it
        warn(addition, f"{type(error).__name__}: {error}")
        return ()
    values = value if isinstance(value, tuple) and not isinstance(value, kind) else (value,)
    wrong = next((each for each in values if not isinstance(each, kind)), None)
    if wrong is not None:
        warn(addition, f"{addition.value} is of type {type(wrong).__name__}, not {kind.__name__}")
        return ()
    return tuple(each for each in values if isinstance(each, kind))


def named(reference: str) -> "Any":
    """What `module:name` means."""
    from importlib import import_module  # noqa: PLC0415 - only where there is something to load

    module, _, attribute = reference.partition(":")
    value: object = import_module(module)
    for name in filter(None, attribute.split(".")):
        value = getattr(value, name)
    return value


def warn(addition: Addition, why: str) -> None:
    """Say in one line that something of a package is left out."""
    line = f"Warning: {addition.name} of the package {addition.package} is left out: {why}"
    sys.stderr.write("".join(each if each.isprintable() else " " for each in line)[:1000] + "\n")


def _texts(folder: str) -> "Iterator[tuple[str, str]]":
    """The packages installed in a folder, each with the text of its entry points, if that may name a door."""
    try:
        names = sorted(os.listdir(folder)) if os.path.isabs(folder) else []
    except OSError:  # sys.path names zip files, and folders that are not there
        return
    for name in names:
        if name.endswith(METADATA):
            try:
                with open(os.path.join(folder, name, FILE), encoding="utf-8") as file:
                    text = file.read()
            except (OSError, UnicodeDecodeError):  # most packages have none
                continue
            if "[whet." in text:
                yield name.rpartition(".")[0].partition("-")[0].replace("_", "-"), text


def _listed(text: str, group: str) -> "Iterator[tuple[str, str]]":
    section = ""
    for line in text.splitlines():
        words = line.partition("#")[0].strip()
        if words.startswith("["):
            section = words.strip("[]").strip()
        elif section == group and "=" in words:
            name, _, value = words.partition("=")
            yield name.strip(), value.partition("[")[0].strip()
