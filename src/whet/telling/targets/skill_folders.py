"""Skills copied into another agent's folder; a folder that Whet did not make there is never touched.

Other people's files and folders: where a path really leads, and whether Whet may write there.
"""

import codecs
import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.store import files
from whet.store.folders import explained, is_temporary
from whet.store.home import Home, holds, prepare_home

WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
KEPT_FOLDER = "replaced"
MARKER = ".whet.json"
MAIN_FILE = "SKILL.md"
HASH_BYTES = 16
Content = Mapping[str, bytes]  # of one skill: names of files with slashes, and what they hold
Kind = Literal["written", "unchanged", "removed", "skipped", "conflict"]
Keep = Callable[[str, bytes], object]  # saves what a person is about to replace


class TargetFile(NamedTuple):
    """A file of an agent as it stands; content None: it is not there."""

    place: files.Place
    content: bytes | None
    note: str  # what a person should know about the way there


def look(path: Path, *, project: str, home: Home) -> TargetFile:
    """What the file holds and where it really is; a file that Whet must not write to is refused."""
    real = lead(path, project=project)
    if holds(home, real):
        raise WhetError(f"{path} is Whet's own database.", advice="Choose a file that an agent reads.")
    place = place_of(real, project)
    content = files.read(place)
    if content is not None and (content.startswith(WIDE_MARKS) or b"\0" in content):
        raise WhetError(f"{path} is not UTF-8 text.", advice="Save it as UTF-8, then run `whet sync` again.")
    return TargetFile(place, content, f"{path} leads to {real}" if real != path else "")


def lead(path: Path, *, project: str) -> Path:
    """Where a path leads over all links. A repository must not send Whet to a file of the person's elsewhere."""
    real = Path(os.path.realpath(path))
    if real == path:
        return real
    with explained(path):
        _check_link(path, real, project)
    return real


def _check_link(path: Path, real: Path, project: str) -> None:
    if path.is_symlink() and not real.exists():
        raise WhetError(f"{path} is a link to {real}, which does not exist.", advice="Fix or remove the link.")
    if project and not real.is_relative_to(os.path.realpath(project)):
        raise WhetError(f"{path} leaves the project, to {real}.", advice="Replace the link with a file.")
    if real.exists() and real.stat().st_uid != os.geteuid():
        raise WhetError(
            f"{path} leads to {real}, which belongs to another account.", advice="Replace the link with a file."
        )


def place_of(real: Path, project: str = "") -> files.Place:
    """The place of a path without links: beneath its project, or else beneath the nearest folder that is there.

    Links below it are refused when the place is used, so that none that is made meanwhile leads out of a project.
    """
    root = Path(os.path.realpath(project)) if project else None
    if root is None or not real.is_relative_to(root):
        with explained(real):
            root = next(folder for folder in real.parents if folder.is_dir())
    return files.beneath(root, *real.relative_to(root).parts)


def keep(home: Home, name: str, content: bytes) -> Path:
    """Save what a person is about to replace; it is named by its content, so nothing kept is ever replaced."""
    prepare_home(home)
    place = files.beneath(home.folder, KEPT_FOLDER, name)
    if files.read(place) is None:
        files.write(place, content, expected=None)
    return place.path


def tidy(folder: Path, project: str) -> None:
    """Take away a folder of a project that is empty now, and those above it: they were made for what was in it."""
    inner = [each for each in (folder, *folder.parents) if project and Path(os.path.realpath(project)) in each.parents]
    with contextlib.suppress(OSError):  # something else is in it: it stays, and so do those above
        for each in inner:
            each.rmdir()


class Ownership(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the marker in a copied skill says: whose it is, and the hashes that each file may have.

    While a skill is being changed a file may have its old or its new hash, so that a sudden stop leaves nothing
    that Whet would take for a person's edit.
    """

    home: str
    files: dict[str, tuple[str, ...]]
    made_by: str = "whet sync"


class CopyOptions(NamedTuple):
    """Whose copies they are, and how to go about it. With `keep`, edited files are saved by it and then replaced."""

    home: str
    dry_run: bool = False
    keep: Keep | None = None
    project: str = ""  # no link leads out of it


class Copy(NamedTuple):
    """What became of one skill, and why."""

    name: str
    kind: Kind
    note: str = ""


def copied(folder: Path, home: str, *, project: str = "") -> tuple[str, ...]:
    """The names of the skills in an agent's folder that this home put there."""
    found = files.entries(place_of(folder, project)) if folder.is_dir() else ()
    folders = (entry.name for entry in found if entry.kind == "folder")
    owned = ((name, _parse(files.read(place_of(folder / name / MARKER, project)))) for name in folders)
    return tuple(name for name, whose in owned if whose is not None and whose.home == home)


def copy(folder: Path, name: str, content: Content, hand: CopyOptions) -> Copy:
    """Bring one skill into an agent's folder: support files first, so that SKILL.md never points at nothing."""
    with _held(folder, hand):
        return _copy(folder / name, content, hand)


def _copy(place: Path, content: Content, hand: CopyOptions) -> Copy:
    name = place.name
    marker = files.read(place_of(place / MARKER, hand.project)) if place.is_dir() else None
    owned = _parse(marker)
    theirs = None if owned else _agents_own(place, content)
    if theirs:
        return theirs
    if not _is_free(place) and (owned is None or owned.home != hand.home or place.is_symlink()):
        return Copy(name, "conflict", f"{place} is not Whet's and was left unchanged.")
    before = _standing(place, (*owned.files, *content), hand) if owned else {}
    faults = _edited(before, owned) if owned else []
    if faults and not hand.keep:
        return Copy(name, "conflict", f"{place / faults[0]} was not written by Whet; the skill was left unchanged.")
    wanted = {path: _hash(body) for path, body in content.items()}
    done = Ownership(hand.home, {path: (each,) for path, each in wanted.items()})
    if owned == done and before == content:
        return Copy(name, "unchanged")
    if not hand.dry_run:
        _save(faults, before, hand)
        _write(place, content, before, marker, done, hand)
    return Copy(name, "written")


def _agents_own(place: Path, content: Content) -> Copy | None:
    """What to say of a skill that the agent has itself, there or in a folder of its own order: no second copy of it."""
    there = (place, *place.parent.glob(f"*/{place.name}"), *place.parent.glob(f"*/*/{place.name}"))
    for path in (each / MAIN_FILE for each in there):
        if not path.is_file() or path.is_symlink() or (path.parent / MARKER).exists():
            continue
        if path.read_bytes() == content.get(MAIN_FILE):
            return Copy(place.name, "unchanged")
        if path.parent != place:
            return Copy(place.name, "conflict", f"{path.parent} is the agent's own, with another text; it was left.")
    return None


def withdraw(folder: Path, name: str, hand: CopyOptions) -> Copy:
    """Take a copied skill away again; files that others put beside it stay."""
    with _held(folder, hand):
        return _withdraw(folder / name, hand)


def _withdraw(place: Path, hand: CopyOptions) -> Copy:
    name = place.name
    marker = files.read(place_of(place / MARKER, hand.project))
    owned = _parse(marker)
    if _is_free(place):
        return Copy(name, "removed")  # by another sync, a moment ago
    if owned is None or marker is None or owned.home != hand.home or place.is_symlink():
        return Copy(name, "conflict", f"{place} is not Whet's and was left unchanged.")
    before = _standing(place, owned.files, hand)
    faults = _edited(before, owned)
    if faults and not hand.keep:
        return Copy(name, "conflict", f"{place / faults[0]} was edited; the skill was left unchanged.")
    if not hand.dry_run:
        _save(faults, before, hand)
        for path in sorted(before, key=lambda path: path != MAIN_FILE):
            files.remove(_within(place, path, hand), expected=before[path])
        files.remove(place_of(place / MARKER, hand.project), expected=marker)
        _remove_empty(place, before)
    return Copy(name, "removed")


@contextlib.contextmanager
def _held(folder: Path, hand: CopyOptions) -> Iterator[None]:
    """No other sync changes a skill in this folder meanwhile: what one copies another may be about to take away."""
    if hand.dry_run:
        yield
        return
    place = place_of(folder, hand.project)
    with files.locked(place.root, place.names):
        yield


def _write(
    place: Path, content: Content, before: Content, marker: bytes | None, done: Ownership, hand: CopyOptions
) -> None:
    while_changing = {
        path: tuple(sorted({_hash(body) for side in (before, content) if (body := side.get(path)) is not None}))
        for path in (*before, *content)
    }
    begun = _encode(Ownership(done.home, while_changing))
    if marker != begun:
        files.write(place_of(place / MARKER, hand.project), begun, expected=marker)
    for path in sorted(content, key=lambda path: path == MAIN_FILE):
        if before.get(path) != content[path]:
            files.write(_within(place, path, hand), content[path], expected=before.get(path))
    stale = [path for path in before if path not in content]
    for path in stale:
        files.remove(_within(place, path, hand), expected=before[path])
    _remove_empty(place, stale, keep=True)
    files.write(place_of(place / MARKER, hand.project), _encode(done), expected=begun)


def _save(names: Iterable[str], before: Content, hand: CopyOptions) -> None:
    for name in names:
        if hand.keep:
            hand.keep(name, before[name])


def _is_free(place: Path) -> bool:
    """Whether nobody has anything there; a sudden stop can leave empty folders."""
    if not os.path.lexists(place):
        return True
    with explained(place):
        found = place.rglob("*") if place.is_dir() and not place.is_symlink() else (place,)
        return all(each.is_dir() and not each.is_symlink() for each in found if not is_temporary(each.name))


def _standing(place: Path, names: Iterable[str], hand: CopyOptions) -> dict[str, bytes]:
    found = {name: files.read(_within(place, name, hand)) for name in names}
    return {name: body for name, body in found.items() if body is not None}


def _edited(before: Content, owned: Ownership) -> list[str]:
    return [name for name, body in before.items() if _hash(body) not in owned.files.get(name, ())]


def _parse(marker: bytes | None) -> Ownership | None:
    if marker is None:
        return None
    try:
        found = msgspec.json.decode(marker, type=Ownership)
        for name in found.files:
            files.beneath(Path("/"), *name.split("/"))
    except (msgspec.DecodeError, UnicodeDecodeError, WhetError, RecursionError):
        return None  # not a marker of ours, so not a folder of ours
    return found


def _remove_empty(place: Path, names: Iterable[str], *, keep: bool = False) -> None:
    """Folders that only held what was removed go too."""
    inner = {parent for name in names for parent in (place / name).parents if parent.is_relative_to(place)}
    for folder in sorted({*inner, place}, key=lambda folder: -len(folder.parts)):
        if folder == place and keep:
            continue
        with contextlib.suppress(OSError):  # somebody's file is in it: it stays
            folder.rmdir()


def _hash(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=HASH_BYTES).hexdigest()


def _encode(ownership: Ownership) -> bytes:
    return msgspec.json.format(msgspec.json.encode(ownership), indent=2) + b"\n"


def _within(place: Path, name: str, hand: CopyOptions) -> files.Place:
    folder = place_of(place, hand.project)
    return files.beneath(folder.root, *folder.names, *name.split("/"))
