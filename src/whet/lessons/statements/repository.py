"""What is known of a repository, as values: its paths, those that were removed, and what its own files say."""

import copy
import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from whet.lessons.statements.manifests import ScriptManifest
from whet.lessons.statements.naming import extension_of

MOST_ALIKE = 50
MOST_PLACES = 5
NEARLY = 0.85
LIKE_ENDINGS = 0.8
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])|[^\W_]")
_BEGINNING = re.compile(r"(?:^|/)(?:main\.go|src/main\.rs)$")
COMPILED = {".js": ".ts", ".jsx": ".tsx", ".mjs": ".mts", ".cjs": ".cts"}  # by which TypeScript names its own files


class RemovedPath(NamedTuple):
    """A path that the repository had once."""

    path: str
    commit: str
    at: float
    since: float = 0.0  # when it was first added


class Repository:
    """The paths of a repository and what was read of it, indexed by last name. Nothing here touches the disk."""

    def __init__(
        self,
        paths: Iterable[str],
        *,
        name: str = "",
        removed: Iterable[RemovedPath] = (),
        manifests: Iterable[ScriptManifest] = (),
        unknown: Iterable[str] = (),
    ) -> None:
        """`unknown` are paths that may be there at times: what git ignores, and what lies in another repository."""
        self.name = name
        self.manifests = tuple(manifests)
        self.files = frozenset(paths)
        self.folders = _folders(self.files)
        self.unknown = frozenset(each.rstrip("/") for each in unknown)
        self.renamed: Mapping[str, str] = {}
        self.words: frozenset[str] | None = None  # that were looked for in its code and are there; None: not looked for
        self.sources: Mapping[str, str] = {}  # of the files that commands run
        self._by_name: dict[str, list[str]] = {}
        for path in sorted((*self.files, *self.folders)):
            self._by_name.setdefault(posixpath.basename(path).lower(), []).append(path)
        self._children: dict[str, list[str]] = {}
        for folder in sorted(self.folders):
            self._children.setdefault(posixpath.dirname(folder), []).append(folder)
        self._sizes = Counter(map(posixpath.dirname, self.files))
        self._spelt: dict[tuple[str, str], list[str]] = {}
        for path in self.files:
            self._spelt.setdefault((posixpath.dirname(path), _spelling(posixpath.basename(path))), []).append(path)
        self.extensions = _counted_extensions(self.files)
        self._removed: dict[str, list[RemovedPath]] = {}
        for each in _with_folders(removed):
            if each.path not in self.files and each.path not in self.folders:
                self._removed.setdefault(posixpath.basename(each.path), []).append(each)
        self._places: dict[str, list[str]] = {}  # the folders of each name, those that were here too
        gone = (each.path for every in self._removed.values() for each in every if not extension_of(each.path))
        for folder in {*self.folders, *gone}:
            self._places.setdefault(posixpath.basename(folder), []).append(folder)
        self.scripts: dict[str, dict[str, tuple[str, str]]] = {}
        for manifest in self.manifests:
            known = self.scripts.setdefault(manifest.kind, {})
            for script, body in manifest.scripts:
                known.setdefault(script, (manifest.path, body))
        self.packages = frozenset(name for each in self.manifests for name in (each.package, *each.packages) if name)
        # A program of Go or Rust is called as the folder that its beginning lies in.
        folders = (
            posixpath.dirname(each.removesuffix("src/main.rs")) for each in self.files if _BEGINNING.search(each)
        )
        made = (name for each in self.manifests for name in each.programs)
        self.programs = frozenset((*made, *map(posixpath.basename, folders))) - {""}
        self.own_packages = frozenset(each.package for each in self.manifests if each.package)

    def finds(self, path: str, beside: str = "") -> bool:
        """Whether a path is there: from the root, from the folder of who names it, or below any folder."""
        plain = posixpath.normpath(path)
        tried = (plain, posixpath.normpath(posixpath.join(beside, plain)))
        if any(each in self.files or each in self.folders for each in tried):
            return True
        first, _, rest = plain.partition("/")
        if rest and first.lower() == self.name.lower() and self.finds(rest):
            return True
        named = self._by_name.get(posixpath.basename(plain).lower(), ())
        return any(each == plain or each.endswith(f"/{plain}") for each in named)

    def place(self, path: str, beside: str = "") -> str:
        """The file or folder that a path is: from the folder of who names it, from the root, or the only one that ends
        so; nothing where there is none.
        """
        plain = posixpath.normpath(path)
        for tried in (posixpath.normpath(posixpath.join(beside, plain)), plain):
            if tried in self.files or tried in self.folders:
                return tried
        named = [
            each for each in self._by_name.get(posixpath.basename(plain).lower(), ()) if each.endswith(f"/{plain}")
        ]
        return named[0] if len(named) == 1 else ""

    def has_first_folder(self, path: str, beside: str = "") -> bool:
        """Whether the folder that a path begins with is there, beside who names it or at the root."""
        first = posixpath.normpath(path).partition("/")[0]
        return first in self.folders or posixpath.join(beside, first) in self.folders

    def named_in_short(self, path: str) -> tuple[str, ...]:
        """Where a path would lie below each folder here that is called as its own folder is."""
        return self.inside(*posixpath.split(posixpath.normpath(path)))

    def inside(self, folder: str, name: str) -> tuple[str, ...]:
        """Where a name would lie in a folder that is named in short: below each folder here that is so called."""
        plain = posixpath.normpath(folder) if folder else ""
        named = self._by_name.get(posixpath.basename(plain).lower(), ()) if plain.strip(".") else ()
        places = [each for each in named if each in self.folders and (each == plain or each.endswith(f"/{plain}"))]
        return tuple(posixpath.join(each, name) for each in places[:MOST_PLACES])

    def is_ending(self, text: str) -> bool:
        """Whether a text that begins with a dot is how names of its files end."""
        return text.startswith(".") and any(each.endswith(text) for each in self.files)

    def knowing(self, unknown: Iterable[str], renamed: Mapping[str, str]) -> "Repository":
        """The same, with more paths that may be there at times, and what removed ones are called now."""
        other = copy.copy(self)
        other.unknown = frozenset((*self.unknown, *(each.rstrip("/") for each in unknown)))
        other.renamed = {**self.renamed, **renamed}
        return other

    def with_code(self, words: frozenset[str] | None, sources: Mapping[str, str]) -> "Repository":
        """The same, with what was looked for in its code."""
        other = copy.copy(self)
        other.words, other.sources = words, sources
        return other

    def is_unknown(self, path: str) -> bool:
        """Whether a path may be there at times and not at others."""
        plain = posixpath.normpath(path).lstrip("/")
        while plain:
            if plain in self.unknown:
                return True
            plain = posixpath.dirname(plain)
        return False

    def removed(self, path: str, beside: str = "") -> RemovedPath | None:
        """The path as it was when it, or the last thing in it, was removed; a bare name where nothing has it."""
        plain = posixpath.normpath(path)
        every = self._removed.get(posixpath.basename(plain), ())
        if "/" not in plain and plain.lower() in self._by_name:
            return None  # which one is meant?
        meant = self.meant(plain, beside)
        is_bare = "/" not in plain
        if is_bare and not path.endswith("/") and not extension_of(plain):
            return None  # it may be what any project has
        found = [each for each in every if each.path in meant or (is_bare and extension_of(plain))]
        return max(found, key=lambda each: each.at, default=None)

    def removed_from(self, name: str, folder: str) -> RemovedPath | None:
        """The removal of a file that lay at the root or in this folder, where neither has one of that name now."""
        places = {name, posixpath.join(folder, name)}
        found = [each for each in self._removed.get(name, ()) if each.path in places]
        return None if places & self.files else max(found, key=lambda each: each.at, default=None)

    def meant(self, path: str, beside: str = "") -> tuple[str, ...]:
        """The paths that a name can mean: from the folder of who names it, or one above, or from the only folder that
        is called as its first one is.
        """
        plain = posixpath.normpath(path)
        first, _, rest = plain.partition("/")
        above, found = beside, [posixpath.normpath(posixpath.join(beside, plain))]
        while above:
            above = posixpath.dirname(above)
            found.append(posixpath.join(above, plain))
        if rest and first.lower() == self.name.lower():
            found.append(rest)
        places = self._places.get(first, ()) if rest else ()
        if len(places) == 1:
            found.append(posixpath.join(posixpath.dirname(places[0]), plain))
        return tuple(found)

    def stands(self, path: str, beside: str = "") -> bool:
        """Whether what a name can mean is there; a name that merely ends so elsewhere is not."""
        return any(each in self.files or each in self.folders for each in self.meant(path, beside))

    def gone_folder(self, path: str) -> RemovedPath | None:
        """The first folder of a path, where the repository had it and has it no more."""
        first, _, rest = posixpath.normpath(path).partition("/")
        if not rest or first in self.folders:
            return None
        return next((each for each in self._removed.get(first, ()) if each.path == first), None)

    def endings(self, path: str, beside: str = "") -> tuple[str, ...]:
        """What is there under the same name in other letters, or with a like ending (yaml for yml), in that folder."""
        plain = posixpath.normpath(path)
        name, folder = posixpath.basename(plain), posixpath.dirname(plain)
        ending = extension_of(name)
        stem = name[: -len(ending)] if ending else name
        alike = [each for each in self.extensions if each != ending and _is_like(each, ending)] if ending else []
        meant = self.meant(plain, beside)
        folders = {posixpath.dirname(each) for each in meant}
        spelt = [each for each in self._by_name.get(name.lower(), ()) if each.lower() in {one.lower() for one in meant}]
        if spelt and folder:  # in other letters
            return tuple(spelt)
        return tuple(
            sorted(
                each
                for extension in alike
                for each in self._by_name.get(f"{stem}{extension}".lower(), ())
                if posixpath.basename(each).startswith(f"{stem}.") and posixpath.dirname(each) in folders
            )[:MOST_ALIKE]
        )

    def moved(self, path: str) -> tuple[str, ...]:
        """The only file of the same name, where it lies in a folder of the same name."""
        plain = posixpath.normpath(path)
        named = [each for each in self._by_name.get(posixpath.basename(plain).lower(), ()) if each in self.files]
        folder = posixpath.basename(posixpath.dirname(plain))
        is_alike = len(named) == 1 and folder and posixpath.basename(posixpath.dirname(named[0])) == folder
        return (named[0],) if is_alike else ()

    def elsewhere(self, path: str) -> str:
        """The only file of a name, wherever it lies; what programs keep in hidden folders goes by the folder."""
        named = [each for each in self._by_name.get(posixpath.basename(path).lower(), ()) if each in self.files]
        return named[0] if len(named) == 1 and not any("/." in f"/{each}" for each in (path, *named)) else ""

    def sibling(self, path: str, beside: str = "") -> str:
        """The one folder beside where a path would be whose name is nearly its name."""
        plain = posixpath.normpath(path)
        for tried in (plain, posixpath.normpath(posixpath.join(beside, plain))):
            parent, name = posixpath.split(tried)
            if parent in self.folders:
                names = [posixpath.basename(each) for each in self._children.get(parent, ())]
                found = difflib.get_close_matches(name, names, n=1, cutoff=NEARLY)
                if found:
                    return posixpath.join(parent, found[0])
        return ""

    def respelt(self, path: str, beside: str = "") -> str:
        """The one file where a path would be whose name differs in its ending alone, or in how its words are joined,
        written large or put in the plural.
        """
        plain = posixpath.normpath(path)
        for tried in dict.fromkeys((plain, posixpath.normpath(posixpath.join(beside, plain)))):
            folder, name = posixpath.split(tried)
            ending = extension_of(name)
            found = [
                each
                for each in self._spelt.get((folder, _spelling(name)), ())
                if COMPILED.get(ending) != extension_of(each)
            ]
            if folder and ending and len(found) == 1:
                return found[0]
        return ""

    def fellows(self, path: str, beside: str = "") -> int:
        """How many files lie in the folder where a path would."""
        plain = posixpath.normpath(path)
        folders = {posixpath.dirname(plain), posixpath.dirname(posixpath.normpath(posixpath.join(beside, plain)))}
        return sum(self._sizes[each] for each in folders)

    def has_parent(self, path: str, beside: str = "") -> bool:
        """Whether the folder that a path would lie in is there."""
        plain = posixpath.normpath(path)
        parents = (posixpath.dirname(plain), posixpath.dirname(posixpath.normpath(posixpath.join(beside, plain))))
        return any(each in self.folders for each in parents if each)

    def settings(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Each setting of a formatter with every value that some file gives it, and which file."""
        found: dict[str, list[tuple[str, str]]] = {}
        for manifest in self.manifests:
            for name, value in manifest.settings:
                found.setdefault(name, []).append((value, manifest.path))
        return {name: tuple(values) for name, values in found.items()}


def _with_folders(removed: Iterable[RemovedPath]) -> Iterable[RemovedPath]:
    """Each path once, and each folder that one lay in, with its latest removal."""
    latest: dict[str, RemovedPath] = {}
    for each in removed:
        path = each.path
        while path and (path not in latest or latest[path].at < each.at):
            since = min(each.since, latest[path].since) if path in latest else each.since
            latest[path] = each._replace(path=path, since=since)
            path = posixpath.dirname(path)
    return latest.values()


def _folders(files: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for path in files:
        folder = posixpath.dirname(path)
        while folder and folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return frozenset(found)


def _counted_extensions(files: Iterable[str]) -> frozenset[str]:
    """The endings that files here have: by them a name with a dot is known to be a file's."""
    return frozenset(found for each in files if (found := extension_of(each)))


def _spelling(name: str) -> str:
    """The words of a name alone, without its ending."""
    ending = extension_of(name)
    words = _WORD.findall(name[: -len(ending)] if ending else name)
    return "".join(each.lower().removesuffix("s") for each in words)


def _is_like(one: str, other: str) -> bool:
    """Whether two endings are two spellings of one; one with a letter more (json, jsonc) is another format."""
    is_longer = one.startswith(other) or other.startswith(one)
    return (
        not is_longer
        and COMPILED.get(other) != one
        and difflib.SequenceMatcher(None, one, other).ratio() >= LIKE_ENDINGS
    )
