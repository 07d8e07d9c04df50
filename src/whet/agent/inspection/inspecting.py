"""Inspection: what stood in a folder before a command, what the command left there, and what becomes of that."""

import contextlib
import hashlib
import os
import re
import shutil
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from whet.agent.inspection import spots
from whet.agent.inspection.reach import Namer, Reach, git_variables, namer_at, placed, words_in
from whet.agent.inspection.triggers import (
    MOST_FOLDERS,
    PROGRAMS,
    TEXTS,
    TRIGGERS,
    MeaningfulFolders,
    Tree,
    Trigger,
    TriggerAction,
    Triggers,
    is_installed,
    is_repository_name,
)

QUARANTINE = "quarantine"
NAME_BYTES = 180
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
TICK_NS = 50_000_000  # by which the time of a file may lag behind the clock
SYSTEM_SETTINGS = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")
MOST_INCLUDED = 200
MOST_OF_FOLDER = 200
LONGEST_ORDER = 1 << 16
# A line that is not of the two plain forms: a section before it, quotes, escapes.
_LOOSE = re.compile(r"[ \t]*(?:\[[^\]\n]*\])?[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=[ \t]*(.*)")


class Leftover(NamedTuple):
    """A spot as a command left it, and as it was before."""

    spot: spots.TriggerPlace
    before: spots.TriggerPlace | None


class Inspection:
    """Looks at folders before and after each command. Safe to use from several threads."""

    def __init__(
        self,
        folders: Iterable[Path],
        *,
        left_out: Iterable[Path],
        quarantine: Path,
        environment: Mapping[str, str] = MappingProxyType({}),
        most_folders: int = MOST_FOLDERS,
    ) -> None:
        self._lock = threading.RLock()
        self._environment = environment
        self._person = os.path.realpath(environment.get("HOME") or os.path.expanduser("~"))
        roots = _outermost(folders)
        anchors = anchors_of(self._person, environment.get("PATH", ""), roots)
        hidden = map(str, filter(os.path.lexists, left_out))  # a place that is not there yet, a command can make
        self._tree = Tree(roots, hidden, Triggers(), anchors=anchors, most=most_folders)
        self._reader = spots.TriggerPlaceReader(self._tree)
        self._reach = Reach(self._tree.holds, self._person)
        self._own = spots.TriggerPlaces({}, ())  # as it was when everything was the person's
        self._began_ns = 0
        self._of_home: tuple[Namer, ...] | None = None
        self._before: dict[str, spots.TriggerPlace] | None = None
        self._taken: list[Leftover] = []
        self.allowed: set[str] = set()  # paths that the person lets a call write
        self.place = quarantine
        self.repositories: tuple[str, ...] = ()  # those that were there at the very beginning
        self.pointers: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether the folder is larger than what is looked through."""
        return self._tree.is_cut

    def begin(self) -> None:
        """Take all that stands in the folder for the person's own."""
        with self._lock:
            found = self._reader.read(self._own)
            self._tree.take_as_own()
            self._reach = Reach(self._tree.holds, self._person)
            if self._of_home is None:
                self._of_home = tuple(of_home(self._person, self._tree.roots))
            self._reach.extend((*self._of_home, *namers(found, self._environment, self._tree.roots)))
            if self._before is None:
                self.repositories = found.repositories
                self.pointers = tuple(spot.path for spot in found.spots.values() if spot.leads)
            self._own, self._began_ns = found, time.time_ns()
            self._before = found.spots | self._reader.claimed(self._reach, found.spots)

    def ensure_begun(self) -> None:
        with self._lock:
            if self._before is None:
                self.begin()

    def trigger_of(self, parts: Sequence[str]) -> Trigger | None:
        """The trigger that a path from the folder down is, if it is one, by its name or because something names it."""
        self.ensure_begun()
        path = "/".join((self._tree.roots[0], *parts))
        claim = self._reach.claim_of(path)
        known = self._tree.trigger_of(parts)
        if claim is None or (known is not None and known.care is not TriggerAction.REPORTED):
            return known
        return Trigger("/".join(parts), claim.program, claim.care)

    def find(self) -> tuple[Leftover, ...]:
        """What has been left since the beginning. Finding the same again does not make it the person's."""
        with self._lock:
            self.ensure_begun()
            after = self._reader.read(self._own)
            named = self._reader.claimed(self._reach, after.spots) | self._newly_named(after)
            found = leftovers(self._before or {}, after.spots | named, own=frozenset(self.repositories))
            return tuple(
                each._replace(spot=each.spot._replace(care=TriggerAction.REPORTED))
                if each.spot.path in self.allowed
                else each
                for each in found
            )

    def _newly_named(self, after: spots.TriggerPlaces) -> dict[str, spots.TriggerPlace]:
        """What the person's own settings make git run in working trees that are new.

        A file that stood there before, untouched, is the person's.
        """
        known = {each for own in worktrees(self._own).values() for each in own}
        new = tuple(dict.fromkeys(each for own in worktrees(after).values() for each in own if each not in known))
        if not new:
            return {}
        reach = Reach(self._tree.holds, self._person)
        reach.extend(of_person(self._environment, new))
        named = self._reader.claimed(reach, after.spots)
        return {path: spot for path, spot in named.items() if not _is_older(path, self._tree.roots, self._began_ns)}

    def accept(self, found: Iterable[Leftover]) -> None:
        """Let what was left stand, as the person's own from now on."""
        with self._lock:
            if self._before is not None:
                self._before |= {each.spot.path: each.spot for each in found}

    def take(self, found: Iterable[Leftover]) -> None:
        """Move what was left into the quarantine, and let stand again what stood there before."""
        with self._lock:
            taken: set[str] = set()
            for leftover in sorted(found, key=lambda each: each.before is None):
                folder, name = os.path.split(leftover.spot.path)
                place = f"{os.path.realpath(folder)}/{name}"
                if place in taken:  # the same file by another way
                    continue
                taken.add(place)
                take_aside(leftover.spot, self.place)
                if leftover.before is not None:
                    put_back(leftover.spot.path, leftover.before.content)
                self._taken.append(leftover)

    def take_refused(self) -> None:
        """Move all that git would run while it only looks into the quarantine."""
        with self._lock:
            self.take(each for each in self.find() if each.spot.care is TriggerAction.REFUSED)

    def taken(self) -> tuple[Leftover, ...]:
        """What was taken aside since the last time."""
        with self._lock:
            taken, self._taken = tuple(self._taken), []
        return taken


def leftovers(
    before: Mapping[str, spots.TriggerPlace], after: Mapping[str, spots.TriggerPlace], *, own: frozenset[str]
) -> tuple[Leftover, ...]:
    """What is new or changed, and would run something that did not run before.

    `own` are the person's repositories: they keep their addresses, and their hooks do not disappear.
    """
    changed = (Leftover(spot, before.get(path)) for path, spot in after.items())
    gone = (Leftover(spot, spot) for path, spot in before.items() if path not in after and _is_missed(spot, own))
    return (*(each for each in changed if not _is_harmless(each, own)), *gone)


def _is_harmless(leftover: Leftover, own: frozenset[str]) -> bool:
    spot, before = leftover
    if before is not None and before.content == spot.content:
        return True
    if spot.orders is None:
        return bool(spot.leads) and spot.content.kind == "file"
    new = spot.orders - ((before.orders if before else None) or frozenset())
    return all(order.is_address for order in new) if os.path.dirname(spot.path) not in own else not new


def _is_missed(spot: spots.TriggerPlace, own: frozenset[str]) -> bool:
    """Whether a hook of the person's is gone from a repository that is still there."""
    repository = os.path.dirname(os.path.dirname(spot.path))
    return spot.care is TriggerAction.REFUSED and repository in own and os.path.isdir(repository)


def _is_older(path: str, roots: tuple[str, ...], since_ns: int) -> bool:
    """Whether neither a file nor a folder around it has changed since then, by the kernel's own time."""
    while path not in roots and len(path) > 1:
        try:
            if os.lstat(path).st_ctime_ns >= since_ns - TICK_NS:
                return False
        except OSError:
            return False
        path = os.path.dirname(path)
    return True


def anchors_of(person: str, path: str, roots: Iterable[str]) -> MeaningfulFolders:
    """A person's own folder and the folders of a search path, where names mean something by their place."""
    searched = {os.path.realpath(each) for each in path.split(os.pathsep) if each.startswith("/")}
    is_open = any(f"{person}/".startswith(f"{root}/") for root in roots)
    return MeaningfulFolders(person, frozenset(each for each in searched if not is_installed(each)), is_open)


def _outermost(folders: Iterable[Path]) -> tuple[str, ...]:
    real = sorted({os.path.realpath(folder) for folder in folders})
    return tuple(each for each in real if not any(each.startswith(f"{other}/") for other in real if other != each))


def namers(found: spots.TriggerPlaces, environment: Mapping[str, str], roots: tuple[str, ...]) -> Iterator[Namer]:
    """All texts that name files: git's settings, the person's and each repository's, hooks, and what else is run."""
    trees = worktrees(found)
    yield from of_person(environment, tuple(dict.fromkeys(each for own in trees.values() for each in own)))
    for spot in found.spots.values():
        folder = os.path.dirname(spot.path)
        if spot.loads is not None:
            yield _of_spot(spot, spot.loads, _upwards(folder, roots))
        elif spot.orders is not None and spot.program == spots.GIT:
            yield from _of_settings(spot.path, (*trees.get(folder, ()), folder))
        elif spot.care is TriggerAction.REFUSED and spots.HOOKS in (
            os.path.basename(folder),
            os.path.basename(spot.path),
        ):
            repository = folder if os.path.basename(spot.path) == spots.HOOKS else os.path.dirname(folder)
            yield _of_spot(spot, TriggerAction.REFUSED, (*trees.get(repository, ()), folder))


def of_person(environment: Mapping[str, str], trees: tuple[str, ...]) -> Iterator[Namer]:
    """What the settings of the person and of the machine make git run, in each of these working trees."""
    person = environment.get("HOME") or os.path.expanduser("~")
    config = environment.get("XDG_CONFIG_HOME") or f"{person}/.config"
    own = environment.get("GIT_CONFIG_GLOBAL")
    files = (own,) if own else (f"{config}/git/config", f"{person}/.gitconfig")
    system = environment.get("GIT_CONFIG_SYSTEM")
    for path in (*files, *((system,) if system else SYSTEM_SETTINGS)):
        yield from _of_settings(path, trees)
    said = git_variables(environment)
    if said:
        yield Namer("", said, "git (a variable)", TriggerAction.REFUSED, trees, whole=frozenset(said.split("\n")))


def of_home(person: str, roots: tuple[str, ...]) -> Iterator[Namer]:
    """What the files that a person's shells, editors and agents obey link to, or name, within these folders.

    A person's folder that is worked in is inspected as a whole.
    """
    if any(f"{person}/".startswith(f"{root}/") for root in roots):
        return
    for trigger in TRIGGERS:
        if "*" in trigger.pattern or trigger.care is TriggerAction.REPORTED:
            continue
        place = f"{person}/{trigger.pattern.rstrip('/')}"
        # What a shell reads at its start runs by itself, what lies on a search path when somebody calls it.
        is_called = os.path.basename(place) in PROGRAMS
        for path in (place, *(_files_in(place) if trigger.pattern.endswith("/") else ())):
            if os.path.islink(path):
                care = TriggerAction.REFUSED if trigger.program == "git" else TriggerAction.ASKED
                care = TriggerAction.REPORTED if is_called else care
                yield Namer(path, "", trigger.program, care, (), whole=frozenset({path}))
            said = namer_at(path, trigger.program, TriggerAction.REPORTED, ()) if _is_short_order(path) else None
            files, folders = _within(said.text, person, roots) if said else ((), ())
            if files or folders:
                of_named = TriggerAction.REPORTED if is_called else trigger.loads
                text = " ".join(f'"{each}"' for each in files)
                yield Namer(path, text, trigger.program, of_named, (person,), whole=frozenset(folders))


def _is_short_order(path: str) -> bool:
    """Whether a file may hold orders: histories and logs name whatever was worked on, and nobody obeys them."""
    try:
        return os.path.splitext(path)[1] not in TEXTS and os.stat(path).st_size <= LONGEST_ORDER
    except OSError:
        return False


def _files_in(folder: str, *, further: int = 1) -> list[str]:
    """What lies in a folder, and in its own folders, up to a number."""
    try:
        found = [f"{folder}/{name}" for name in sorted(os.listdir(folder))[:MOST_OF_FOLDER]]
    except OSError:
        return []
    inner = (each for each in found if further and os.path.isdir(each) and not os.path.islink(each))
    return [*found, *(path for each in inner for path in _files_in(each, further=further - 1))][:MOST_OF_FOLDER]


def _within(text: str, person: str, roots: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files in these folders that a text names, and the folders of which it takes what is there.

    A folder that is only named, as behind `cd`, runs nothing in it.
    """
    files, folders = dict[str, None](), dict[str, None]()
    for word in words_in(text):
        for path in placed(word, (), person) if "/" in word else ():
            real = f"{os.path.realpath(os.path.dirname(path))}/{os.path.basename(path)}"
            if any(real.startswith(f"{root}/") for root in roots):
                if "\x00" in word:
                    folders[real] = None
                elif not os.path.isdir(real):
                    files[real] = None
    return tuple(files), tuple(folders)


def worktrees(found: spots.TriggerPlaces) -> dict[str, tuple[str, ...]]:
    """The folders that each repository is the history of: the one around it, and those that point into it."""
    pointing = [(spot.leads, os.path.dirname(spot.path)) for spot in found.spots.values() if spot.leads]
    return {
        repository: (
            *((os.path.dirname(repository),) if is_repository_name(os.path.basename(repository)) else ()),
            *(tree for leads, tree in pointing if leads == repository or leads.startswith(f"{repository}/")),
        )
        for repository in found.repositories
    }


def _of_spot(spot: spots.TriggerPlace, care: TriggerAction, bases: Iterable[str]) -> Namer:
    text = spot.content.body.decode("latin-1") if spot.content.kind == "file" else ""
    whole = frozenset({spot.path}) if spot.content.kind == "link" else frozenset[str]()
    return Namer(spot.path, text, spot.program, care, tuple(bases), whole=whole)


def _upwards(folder: str, roots: tuple[str, ...]) -> Iterator[str]:
    """A folder and those around it, up to one of the roots."""
    yield folder
    while folder not in roots and len(folder) > 1:
        folder = os.path.dirname(folder)
        yield folder


def _of_settings(path: str, bases: Iterable[str]) -> Iterator[Namer]:
    """The orders of a file of settings and of those that it includes, each as a text of its own."""
    waiting, seen = [path], set[str]()
    while waiting and len(seen) < MOST_INCLUDED:
        file = waiting.pop()
        content = spots.content_of(os.path.realpath(file))
        if file in seen or content is None or content.kind != "file":
            continue
        seen.add(file)
        folder = os.path.dirname(file)
        for order in map(_plain, spots.orders(content.body.decode("latin-1"))):
            words = frozenset({order.value.lstrip("!"), *order.value.split()[:1]})
            whole = frozenset(filter(None, words)) if order.name in spots.PATHS else frozenset[str]()
            yield Namer(file, order.value, f"git ({order.said})", TriggerAction.REFUSED, (*bases, folder), whole=whole)
            if order.name == "path":  # of settings to include, or of a program
                waiting.append(os.path.normpath(os.path.join(folder, os.path.expanduser(order.value))))


def _plain(order: spots.GitOrder) -> spots.GitOrder:
    """An order with its name and its value told apart as far as that goes, without quotes and escapes."""
    match = None if order.name else _LOOSE.fullmatch(order.value.strip())
    if match is None:
        return order
    return order._replace(name=match[1].lower(), value=match[2].strip().strip('"').replace('\\"', '"'))


def take_aside(spot: spots.TriggerPlace, place: Path) -> str:
    """Move what stands at a spot into the quarantine; gives its name there.

    Where it came from is its name, with every slash spelled out, so that no folder in here is a repository.
    """
    digest = hashlib.sha256(spot.content.body).hexdigest()[:8]
    name = f"{quote(os.fsencode(spot.path), safe='')[-NAME_BYTES:]}.{digest}"
    if spot.content.kind == "folder":
        _move_folder(spot.path, place, name)
        return name
    with contextlib.suppress(OSError):  # neither a full disk nor its absence must keep it where it is
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(place / name, NEW_FILE, 0o600), "wb") as file:
            _copy(spot, file)
    with contextlib.suppress(FileNotFoundError):
        try:
            os.unlink(spot.path)
        except PermissionError:  # the command may have shut the folder
            os.chmod(os.path.dirname(spot.path), 0o700)
            os.unlink(spot.path)
    return name


def _move_folder(path: str, place: Path, name: str) -> None:
    """Move a folder as a whole to where nothing can enter it."""
    with contextlib.suppress(OSError, shutil.Error):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = place / f"{name}.{uuid.uuid4().hex[:8]}"
        shutil.move(path, target)
        target.chmod(0)


def _copy(spot: spots.TriggerPlace, file: BinaryIO) -> None:
    if spot.content.kind != "file":
        file.write(f"a {spot.content.kind}: ".encode() + spot.content.body)
        return
    descriptor = os.open(spot.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as source:
        shutil.copyfileobj(source, file)


def put_back(path: str, content: spots.Content) -> bool:
    """Let stand again at a path what stood there before; False where that is not known any more."""
    if not content.whole or content.kind == "other":
        return False
    folder, name = os.path.split(path)
    temporary = f"{folder}/.{uuid.uuid4().hex}.tmp"
    try:
        os.makedirs(folder, exist_ok=True)
        if content.kind == "link":
            os.symlink(os.fsdecode(content.body), temporary)
        else:
            with os.fdopen(os.open(temporary, NEW_FILE, 0o755 if content.runnable else 0o644), "wb") as file:
                file.write(content.body)
        os.rename(temporary, f"{folder}/{name}")
    except OSError:
        return False
    return True
