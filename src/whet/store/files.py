"""Files that people edit, read and written durably: old or new, never torn, and never over somebody's change."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from whet.errors import WhetError
from whet.store.folders import (
    NEW_FILE,
    Conflict,
    Folder,
    entered,
    explained,
    is_temporary,
    locked,
)
from whet.store.home import DATABASE_NAME, Home

__all__ = ["Conflict", "Folder", "entered", "locked"]  # of an open folder, for who uses files

NAME_BYTES = 255
GUIDANCE = "guidance"
SUFFIX = ".md"
Kind = TypeVar("Kind")


class Place(NamedTuple):
    """Where a file or folder stands: names beneath a root. Links are followed up to the root and refused below it."""

    root: Path
    names: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.root.joinpath(*self.names)

    @property
    def name(self) -> str:
        return self.names[-1]


class FolderEntry(NamedTuple):
    """One thing in a folder."""

    name: str
    kind: str  # file, folder or other: a link, a pipe
    size_bytes: int


def beneath(root: Path, *names: str) -> Place:
    """A place within `root`, from names that were checked one by one; none can lead out of it."""
    if not names:
        raise WhetError(f"No name was given beneath {root}.", advice="Give the name of a file or folder.")
    for name in names:
        if not _is_name(name):
            raise WhetError(
                f"{name!r} is not a valid file or folder name.",
                advice="A name has no slash and no control character, and is not . or ..",
            )
    return Place(root, names)


def at(path: Path) -> Place:
    """The place of a file anywhere, such as one of another agent; links in the way to its folder are followed."""
    return beneath(path.parent.absolute(), path.name)


def read(place: Place) -> bytes | None:
    """What the file holds, or None where there is none."""
    with entered(place.root, place.names[:-1]) as folder:
        return None if folder is None else folder.read(place.name)


def decoded(body: bytes, path: Path) -> str:
    """The words in the bytes of a file that people write; anything but UTF-8 is refused."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WhetError(f"{path} is not UTF-8 text.", advice="Save it as UTF-8.") from error


def text_of(place: Place) -> str | None:
    """The words in a file that people write; None where there is none."""
    body = read(place)
    return None if body is None else decoded(body, place.path)


def names_in(folder: Place, ending: str) -> tuple[str, ...]:
    """The files of a folder with this ending, in the order of names, without it."""
    found = (entry.name for entry in entries(folder) if entry.kind == "file" and entry.name.endswith(ending))
    return tuple(name.removesuffix(ending) for name in found)


def write(place: Place, body: bytes, *, expected: bytes | None, mode: int = NEW_FILE) -> None:
    """Put `body` in the place of `expected` (None: no file), making its folders; raises Conflict if it changed.

    `mode` is that of a new file; one that is there keeps its mode and owner.
    """
    with locked(place.root, place.names[:-1], make=expected is None) as folder:
        folder.write(place.name, body, expected=expected, mode=mode)


def remove(place: Place, *, expected: bytes) -> None:
    """Take a file away that holds `expected`; raises Conflict if it changed."""
    with locked(place.root, place.names[:-1], make=False) as folder:
        folder.remove(place.name, expected=expected)


def move(source: Place, target: Place) -> None:
    """Move a file or folder to a name that is free beneath the same root, in one step."""
    with contextlib.ExitStack() as stack:
        # In one order for everybody, so that two moves never wait for each other.
        folders = {
            names: stack.enter_context(locked(source.root, names))
            for names in sorted({source.names[:-1], target.names[:-1]})
        }
        old, new = folders[source.names[:-1]], folders[target.names[:-1]]
        with explained(source.path):
            if target.name in os.listdir(new.descriptor):
                raise Conflict(f"{target.path} already exists.", advice="Choose another name, or move it away first.")
            os.rename(source.name, target.name, src_dir_fd=old.descriptor, dst_dir_fd=new.descriptor)
        new.settle(target.path)
        old.settle(target.path)


def entries(place: Place) -> tuple[FolderEntry, ...]:
    """What a folder holds, in the order of names, without what a crash left; nothing where it is missing."""
    with entered(place.root, place.names) as folder, explained(place.path):
        if folder is None:
            return ()
        with os.scandir(folder.descriptor) as found:
            known = (_entry(each) for each in found if not is_temporary(each.name))
            return tuple(sorted(entry for entry in known if entry is not None))


def below(place: Place, *, deepest: int) -> Iterator[tuple[Place, FolderEntry]]:
    """Every file below a folder in the order of names, so many folders deep, without links and what is hidden."""
    for entry in entries(place):
        inner = Place(place.root, (*place.names, entry.name))
        if entry.name.startswith("."):
            continue
        if entry.kind == "file":
            yield inner, entry
        elif entry.kind == "folder" and deepest:
            yield from below(inner, deepest=deepest - 1)


def _entry(found: os.DirEntry[str]) -> FolderEntry | None:
    try:
        status = found.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None  # it went away while the folder was read
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder"}
    return FolderEntry(found.name, kinds.get(stat.S_IFMT(status.st_mode), "other"), status.st_size)


def _is_name(name: str) -> bool:
    if name.startswith(DATABASE_NAME):  # opening and closing the live database would drop the locks on it
        return False
    plain = name not in ("", ".", "..") and "/" not in name and "\\" not in name and name.isprintable()
    return plain and len(os.fsencode(name)) <= NAME_BYTES and not is_temporary(name)


class FoundFile(NamedTuple, Generic[Kind]):
    """A file with what is in it: a value, or the fault that keeps it from being one."""

    name: str
    path: Path
    value: Kind | None
    fault: str = ""


class NamedFiles(NamedTuple, Generic[Kind]):
    """Values of one kind that people edit, a file each in one folder; `read` takes a file's text and its name."""

    noun: str
    folder: str
    ending: str
    read: Callable[[str, str], Kind]
    name_fault: Callable[[str], str]

    def place(self, home: Path, name: str) -> Place:
        """Where a file stands; a name that could lead elsewhere is refused."""
        if wrong := self.name_fault(name):
            raise WhetError(
                f"{wrong}.", advice=f"Use lower-case words joined by hyphens for the name of a {self.noun}."
            )
        return beneath(home, self.folder, f"{name}{self.ending}")

    def text(self, home: Path, name: str) -> str | None:
        """The text of a file; None where there is none."""
        return text_of(self.place(home, name))

    def load(self, home: Path, name: str) -> Kind:
        """One value; raises WhetError where there is none, or none that can be read."""
        text = self.text(home, name)
        if text is None:
            known = ", ".join(names_in(beneath(home, self.folder), self.ending)) or "none yet"
            raise WhetError(f"There is no {self.noun} {name}.", advice=f"{self.noun.capitalize()}s: {known}.")
        return self.read(text, name)

    def look(self, home: Path, name: str) -> FoundFile[Kind]:
        path = home / self.folder / f"{name}{self.ending}"
        try:
            return FoundFile(name, path, self.load(home, name))
        except WhetError as error:
            return FoundFile(name, path, None, f"{error.message} {error.advice}".strip())

    def all(self, home: Path) -> tuple[FoundFile[Kind], ...]:
        """Every file in the order of names; one that cannot be read is listed with its fault."""
        return tuple(self.look(home, name) for name in names_in(beneath(home, self.folder), self.ending))

    def usable(self, home: Path) -> tuple[Kind, ...]:
        """The values without a fault."""
        return tuple(found.value for found in self.all(home) if found.value is not None)


def guidance_texts(home: Home, *folders: str) -> dict[str, str]:
    """The texts in the folder for guidance, or in one within it, by their names."""
    place = (GUIDANCE, *folders)
    names = names_in(beneath(home.folder, *place), SUFFIX)
    return {name: text_in(home, *place, f"{name}{SUFFIX}") for name in names}


def text_in(home: Home, *names: str) -> str:
    """The text of a file in the home; empty where there is none."""
    return (text_of(beneath(home.folder, *names)) or "").removeprefix("\ufeff")
