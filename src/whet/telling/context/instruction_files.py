"""The files of instructions that agents read in a project, in the order in which they do, with what they import."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.agents.places import how_read, own_folder
from whet.agents.registry import agents
from whet.lessons.statements.audit import InstructionFile
from whet.lessons.statements.naming import imports_in
from whet.lessons.statements.repository import Repository
from whet.telling.context.finding import ordinary_bytes

MOST_FILES = 500
MOST_BYTES = 2_000_000
MOST_HOPS = 5  # that imports are followed, as agents do
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_ALWAYS = re.compile(r"(?m)^alwaysApply:[ \t]*true[ \t]*$")
_LETTERS = re.compile(r"[^A-Za-z0-9]")


class PersonFolder(NamedTuple):
    """Whose own files are read along: the folder of the person, and the variables that name others."""

    folder: Path
    environment: Mapping[str, str]


class _Wanted(NamedTuple):
    """A file to read, and for whom."""

    path: Path
    shown: str
    agents: tuple[str, ...]
    is_on_demand: bool = False
    imported_by: str = ""


def instruction_files(root: Path, repository: Repository, person: PersonFolder | None) -> tuple[InstructionFile, ...]:
    """What agents read there: the person's own files first, then those of the project from its root inwards."""
    wanted = [*(_of_person(root, person) if person else ()), *_of_project(root, repository)]
    reader = _Reader(root, person)
    once = list({each.path: each for each in reversed(wanted)}.values())[::-1]
    for each in once[:MOST_FILES]:
        reader.take(each)
    left = len(wanted) - MOST_FILES
    more = (InstructionFile("…", fault=f"{left:,} more files were not read"),) if left > 0 else ()
    return (*reader.files, *more)


class _Reader:
    """What was read so far: no file twice, whichever way leads to it."""

    def __init__(self, root: Path, person: PersonFolder | None) -> None:
        self.root = root
        self.person = person
        self.files: list[InstructionFile] = []
        self._seen: dict[str, str] = {}

    def take(self, wanted: _Wanted, hops: int = 0) -> None:
        """Read a file and what it imports; of one that was read already, say so."""
        real = os.path.realpath(wanted.path)
        own = InstructionFile(wanted.shown, "", wanted.agents, wanted.is_on_demand, wanted.imported_by)
        if real in self._seen:
            if self._seen[real] != wanted.shown and not wanted.imported_by:
                self.files.append(_changed(own, same_as=self._seen[real]))
            return
        self._seen[real] = wanted.shown
        text, fault = self._text(Path(real))
        copied = next((each.path for each in self.files if text and each.text == text), "")
        self.files.append(_changed(own, text="" if copied else text, same_as=copied, fault=fault))
        follows = any(agent.reading.follows_imports for agent in agents() if agent.name in wanted.agents)
        if follows and hops < MOST_HOPS and not copied:
            for path in imports_in(text):
                self._follow(path, wanted, hops)

    def _follow(self, path: str, by: _Wanted, hops: int) -> None:
        place = Path(os.path.expanduser(path)) if path.startswith("~/") and self.person else by.path.parent / path
        if place.is_file():
            shown = _shown(place, self.root, self.person)
            self.take(_Wanted(place, shown, by.agents, by.is_on_demand, by.shown), hops + 1)

    def _text(self, real: Path) -> tuple[str, str]:
        """What a file says, and what is wrong with it."""
        allowed = [self.root.resolve(), *([self.person.folder.resolve()] if self.person else [])]
        if not any(real.is_relative_to(each) for each in allowed):
            return "", f"it leads out of the project, to {real}: not read"
        try:
            body, unread = ordinary_bytes(real, MOST_BYTES)
        except OSError as error:
            return "", error.strerror or "it cannot be read"
        if body.startswith(WIDE_MARKS):
            return "", "it is UTF-16: agents read UTF-8"
        if b"\0" in body:
            return "", "it is not text"
        text = body.decode("utf-8", "replace")
        if unread:
            return text, f"only its first {MOST_BYTES / 1e6:g} MB were read, of {(MOST_BYTES + unread) / 1e6:.1f}"
        return text, "it is not UTF-8: letters are lost" if "\ufffd" in text and b"\xef\xbf\xbd" not in body else ""


def _changed(file: InstructionFile, *, text: str = "", same_as: str = "", fault: str = "") -> InstructionFile:
    on_demand = file.is_on_demand and not (file.path.endswith(".mdc") and _ALWAYS.search(text[:2_000]))
    return replace(file, text=text, is_on_demand=on_demand, same_as=same_as, fault=fault)


def _of_person(root: Path, person: PersonFolder) -> Iterator[_Wanted]:
    """What agents read in every project, and what they remember of this one."""
    for agent in agents():
        if agent.files is None:
            continue
        own = own_folder(agent.files, person=person.folder, environment=person.environment)
        names = [name for name in agent.files.everywhere if not name.startswith("~")]
        first = next((own / name for name in names if (own / name).is_file()), None)
        slug = _LETTERS.sub("-", str(root))
        memory = [own / name.replace("{project}", slug) for name in agent.reading.memory]
        for path in (*([first] if first else ()), *(each for each in memory if each.is_file())):
            yield _Wanted(path, _shown(path, root, person), (agent.name,))


def _of_project(root: Path, repository: Repository) -> list[_Wanted]:
    """The project's own, the outermost first: those that git knows, and those beside its root that it ignores."""
    found: list[_Wanted] = []
    known = agents()
    beside = {
        name for agent in known for name in (*(agent.files.project if agent.files else ()), *agent.reading.always)
    }
    paths = {*repository.files, *(name for name in beside if "*" not in name and os.path.lexists(root / name))}
    for path in sorted(paths, key=lambda each: (each.count("/"), each)):
        readers = [(agent.name, how) for agent in known if (how := how_read(agent, path, paths))]
        if readers:
            is_on_demand = all(how == "on demand" for _, how in readers)
            found.append(_Wanted(root / path, path, tuple(name for name, _ in readers), is_on_demand))
    return found


def _shown(path: Path, root: Path, person: PersonFolder | None) -> str:
    plain = Path(os.path.normpath(path))
    if plain.is_relative_to(root):
        return str(plain.relative_to(root))
    if person and plain.is_relative_to(person.folder):
        return f"~/{plain.relative_to(person.folder)}"
    return str(plain)
