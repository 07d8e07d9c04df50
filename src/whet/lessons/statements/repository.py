"""What is known of a repository, as values: its paths, those that were removed, and the scripts that its files name."""

import copy
import difflib
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import yaml

from whet.lessons.statements.naming import extension_of
from whet.values import Value

LONGEST_MANIFEST = 400_000
LONGEST_YAML = 60_000  # its reader is slow
_MAKE_TARGET = re.compile(r"(?m)^([A-Za-z0-9_./$(){}%-][^:=#\n\t]{0,300}?)[ \t]*::?(?!=)(?:[^=\n].*)?$")
_MAKE_OPEN = re.compile(r"(?m)^[ \t]*-?(?:include|sinclude)\b|\$\(eval\b|\$\(foreach\b")
_JUST_RECIPE = re.compile(r"(?m)^@?([A-Za-z_][\w-]*)(?:[ \t]+(?![:=])(?:'[^'\n]*'|\"[^\"\n]*\"|[^:'\"\n]++)*+)?:(?!=)")
_JUST_ALIAS = re.compile(r"(?m)^alias[ \t]+([\w-]+)[ \t]*:=")
_JUST_OPEN = re.compile(r"(?m)^(?:import|mod)\??[ \t]")
_LINE_COMMENT = re.compile(r'(?m)("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*(?s:.*?)\*/')
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
MOST_ALIKE = 50
MOST_PLACES = 5
LIKE_ENDINGS = 0.8
COMPILED = {".js": ".ts", ".jsx": ".tsx", ".mjs": ".mts", ".cjs": ".cts"}  # by which TypeScript names its own files


class ScriptManifest(Value, frozen=True):
    """One file that names scripts. It is open where it includes others or cannot be read: what it does not name may be
    there all the same.
    """

    path: str
    kind: str
    scripts: tuple[tuple[str, str], ...] = ()  # each with what it runs
    is_open: bool = False


class _Scripts(NamedTuple):
    """What a reader of one kind of file finds."""

    scripts: Mapping[str, str] = {}
    is_open: bool = False


def manifest_of(path: str, text: str) -> ScriptManifest | None:
    """What a file says that is one of those; None where it is none. It is read as data, and nothing of it is run."""
    name = posixpath.basename(path)
    kind, reader = next(((kind, read) for kind, names, read in READERS if name in names), ("", None))
    if reader is None:
        return None
    try:
        found = reader(text) if len(text) <= LONGEST_MANIFEST else _Scripts(is_open=True)
    except (ValueError, TypeError, AttributeError, RecursionError, yaml.YAMLError):
        found = _Scripts(is_open=True)
    scripts = tuple((str(name), str(body)) for name, body in found.scripts.items())
    return ScriptManifest(path, kind, scripts, found.is_open)


def is_manifest(path: str) -> bool:
    """Whether a file of this name is one."""
    return posixpath.basename(path) in _NAMES


def _json(text: str, *, field: str) -> _Scripts:
    """JSON, in which comments may stand, with its scripts in one field."""
    plain = _LINE_COMMENT.sub(lambda found: found.group(1) or "", text)
    return _Scripts(_strings(json.loads(_TRAILING_COMMA.sub(r"\1", plain)).get(field)))


def _make(text: str) -> _Scripts:
    found: dict[str, str] = {}
    is_open = bool(_MAKE_OPEN.search(text))
    for rule in _MAKE_TARGET.finditer(text):
        for target in rule.group(1).split():
            is_open = is_open or "$" in target or "%" in target
            found.setdefault(target, rule.group().partition("##")[2].strip())
    return _Scripts({name: body for name, body in found.items() if not name.startswith(".")}, is_open=is_open)


def _just(text: str) -> _Scripts:
    named = (*_JUST_RECIPE.finditer(text), *_JUST_ALIAS.finditer(text))
    return _Scripts({each.group(1): "" for each in named}, is_open=bool(_JUST_OPEN.search(text)))


def _task(text: str) -> _Scripts:
    value = _yaml(text)
    tasks = value.get("tasks") or {}
    return _Scripts(
        {
            name: str((body or {}).get("desc", "")) if isinstance(body, dict) else str(body)
            for name, body in tasks.items()
        },
        is_open=bool(value.get("includes")),
    )


def _python(text: str) -> _Scripts:
    value = tomllib.loads(text)
    project, tool = value.get("project") or {}, value.get("tool") or {}
    scripts = dict(_strings(project.get("scripts")))
    for name, field in (
        ("poetry", "scripts"),
        ("poe", "tasks"),
        ("pdm", "scripts"),
        ("taskipy", "tasks"),
        ("rye", "scripts"),
    ):
        scripts |= _strings((tool.get(name) or {}).get(field))
    for environment in ((tool.get("hatch") or {}).get("envs") or {}).values():
        scripts |= _strings(environment.get("scripts"))
    return _Scripts(scripts)


def _strings(value: Any) -> dict[str, str]:
    return {str(name): body if isinstance(body, str) else json.dumps(body) for name, body in (value or {}).items()}


def _yaml(text: str) -> dict[str, Any]:
    if len(text) > LONGEST_YAML or re.search(r"(?m)(?:^|\s)[&*]\w", text):
        raise ValueError("too long, or one part stands for another")
    value = yaml.load(text, Loader=yaml.BaseLoader)
    return value if isinstance(value, dict) else {}


READERS: tuple[tuple[str, tuple[str, ...], Callable[[str], _Scripts]], ...] = (
    ("package.json", ("package.json",), partial(_json, field="scripts")),
    ("composer", ("composer.json",), partial(_json, field="scripts")),
    ("deno", ("deno.json", "deno.jsonc"), partial(_json, field="tasks")),
    ("make", ("Makefile", "makefile", "GNUmakefile"), _make),
    ("just", ("justfile", "Justfile", ".justfile"), _just),
    ("task", ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"), _task),
    ("python", ("pyproject.toml",), _python),
)
_NAMES = frozenset(name for _, names, _ in READERS for name in names)


class RunnerForm(NamedTuple):
    """How a program is told which script to run: the kind of file that has them, and the words before one."""

    kind: str
    words: tuple[str, ...] = ()  # empty: the script comes right after the program
    alone: tuple[str, ...] = ()  # scripts that need no such word
    valued: tuple[str, ...] = ()  # options that take the next word


RUNNERS = {
    "npm": RunnerForm("package.json", ("run", "run-script"), ("test", "start"), ("-w", "--workspace", "--prefix")),
    "pnpm": RunnerForm("package.json", ("run",), ("test", "start"), ("--filter", "-F", "-C", "--dir")),
    "yarn": RunnerForm("package.json", ("run",), (), ("--cwd",)),
    "bun": RunnerForm("package.json", ("run",), (), ("--cwd", "--filter", "-F")),
    "make": RunnerForm("make", valued=("-C", "-f", "-j", "-l", "-I", "-o", "-W", "--directory", "--file")),
    "just": RunnerForm("just", valued=("-f", "-d", "--justfile", "--working-directory")),
    "task": RunnerForm("task", valued=("-d", "-t", "--dir", "--taskfile")),
    "composer": RunnerForm("composer", ("run", "run-script"), (), ("-d", "--working-dir")),
    "deno": RunnerForm("deno", ("task",), (), ("--cwd", "--config", "-c")),
    "poe": RunnerForm("python", valued=("-C", "--directory")),
}
"""Documented forms of programs that run named scripts of a file; one that is not here is not judged."""


class ScriptCall(NamedTuple):
    """A script as a command asks for it."""

    runner: str
    kind: str
    script: str
    is_certain: bool  # the form can mean nothing but a script


def scripts_in(words: tuple[str, ...]) -> Iterator[ScriptCall]:
    """The scripts that one simple command asks for, by the documented form of its program."""
    form = RUNNERS.get(posixpath.basename(words[0])) if words else None
    if form is None:
        return
    runner, plain = words[0], _plain_words(words[1:], form.valued)
    if not form.words:
        for word in plain:
            if "=" not in word:
                yield ScriptCall(runner, form.kind, word, is_certain=True)
                if form.kind != "make":
                    return
        return
    if plain[:1] and plain[0] in form.words:
        for word in plain[1:2]:
            yield ScriptCall(runner, form.kind, word, runner != "yarn" and "/" not in word and "." not in word)
    elif plain[:1] and (plain[0] in form.alone or ":" in plain[0]):
        yield ScriptCall(runner, form.kind, plain[0], is_certain=True)


def _plain_words(words: tuple[str, ...], valued: tuple[str, ...]) -> list[str]:
    """The words of a command up to `--` that are no options, nor the values of any."""
    found: list[str] = []
    skips = False
    for word in words:
        if word == "--":
            break
        if skips:
            skips = False
        elif word.startswith("-"):
            skips = word in valued
        else:
            found.append(word)
    return found


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
        self._by_name: dict[str, list[str]] = {}
        for path in sorted((*self.files, *self.folders)):
            self._by_name.setdefault(posixpath.basename(path).lower(), []).append(path)
        # The endings that files here have: by them a name with a dot is known to be a file's.
        self.extensions = frozenset(filter(None, map(extension_of, self.files)))
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

    def has_parent(self, path: str, beside: str = "") -> bool:
        """Whether the folder that a path would lie in is there."""
        plain = posixpath.normpath(path)
        parents = (posixpath.dirname(plain), posixpath.dirname(posixpath.normpath(posixpath.join(beside, plain))))
        return any(each in self.folders for each in parents if each)


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


def _is_like(one: str, other: str) -> bool:
    """Whether two endings are two spellings of one; one with a letter more (json, jsonc) is another format."""
    is_longer = one.startswith(other) or other.startswith(one)
    return (
        not is_longer
        and COMPILED.get(other) != one
        and difflib.SequenceMatcher(None, one, other).ratio() >= LIKE_ENDINGS
    )
