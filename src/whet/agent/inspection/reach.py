"""Reach: the files in a folder that are run because something that runs on its own names them, or finds them beside it.

The texts that name files are the person's own, as they stood before a command. A name counts whether or not something
stands there yet: what a command puts there runs as well.
"""

import itertools
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import all_suffixes
from typing import NamedTuple

import re2

from whet.agent.inspection.triggers import DOCUMENTS, TriggerAction
from whet.store.folders import ordinary_file

PYTHON = (*all_suffixes(), ".pyc")
MOST_NAMERS = 1_000
MOST_WORDS = 20_000  # of one text
MOST_BENEATH = 5_000
MOST_LINKS = 40  # that the kernel follows
LARGEST_TEXT = 1 << 20
# What is filled in when a script runs. Where the rest of a path follows, it may lie in any of the folders at hand.
_FILLED = re.compile(
    r"~[+-](?=/)|\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`|\$\w+|%\w+%|[*?][^\s/\"']*|(?<=[\w/.-])\[[^\]\s/\"',]*\]"
)
_ROUNDS = 4  # of what is filled in within what is filled in
_WORD = re.compile(r"[^\s\"'`$(){}\[\];&|<>=,:!#\\^\x01-\x1f]+")
# Paths with spaces in them, in quotes or with a backslash before each.
_SPACED = re2.compile(r"""["']([^"'$`\n]* [^"'$`\n]*)["']|([^\s"'$`;&|\\]*(?:\\ [^\s"'$`;&|\\]*)+)""")
_REMARK = re.compile(r"^[ \t]*(?:#(?!!)|//).*$", re.MULTILINE)
# Files that a word of direnv stands for, without naming them.
MEANT = {"dotenv": (".env",), "dotenv_if_exists": (".env",), "flake": ("flake.nix", "flake.lock"),
         "nix": ("shell.nix", "default.nix")}  # fmt: skip
ENTRIES = ("__init__", "__main__", "index")
SHELLS = ("", ".sh", ".bash", ".zsh")
SCRIPTS = (".js", ".mjs", ".cjs", ".ts")
# What a script loads by a name without its ending, by the interpreter that its text names.
MODULES = {"python": ".py", "perl": ".pm", "ruby": ".rb", "node": ".js", "php": ".php", "lua": ".lua"}


class Namer(NamedTuple):
    """A text that names files: where it stands, who runs it and from which folders, and what becomes of what it names.

    `depth` counts the texts that lead to it. `whole` are its words that stand for a folder with all that is in it.
    """

    path: str
    text: str
    program: str
    care: TriggerAction
    bases: tuple[str, ...]
    depth: int = 0
    whole: frozenset[str] = frozenset()


class NamedFile(NamedTuple):
    """Why a file counts: who names it, and how its being written is treated."""

    program: str
    care: TriggerAction
    namer: Namer


class Reach:
    """What is named, by folder and by name; folders in which everything counts, or every module, or every program.

    `holds` tells whether commands can write to a path.
    """

    def __init__(self, holds: Callable[[str], bool], person: str) -> None:
        self._holds, self._person = holds, person
        self._claims: dict[str, dict[str, NamedFile]] = {}
        self._folders: dict[str, NamedFile] = {}
        self._modules: dict[str, NamedFile] = {}
        self._programs: dict[str, NamedFile] = {}

    def extend(self, namers: Iterable[Namer]) -> None:
        """Take in what these texts name, what the named texts name, and so on."""
        waiting = deque(namers)
        seen: set[tuple[str, str]] = set()
        while waiting and len(seen) < MOST_NAMERS:
            namer = waiting.popleft()
            if (namer.path, namer.text) not in seen:
                seen.add((namer.path, namer.text))
                followed = (_follow(path, claim) for path, claim in self._named(namer))
                waiting.extend(each for each in followed if each is not None)
        for namer in waiting:  # more than is looked through: all that lies beside what is left counts
            self._claim_folder(os.path.dirname(namer.path), NamedFile(namer.program, namer.care, namer))

    def claim_of(self, path: str) -> NamedFile | None:
        """Why a path counts, if it does, whether or not something stands there."""
        folder, name = os.path.split(path)
        found = self._claim_in(folder, name.lower()) or self._claim_beneath(path)
        if found is None and folder in self._programs and (name.endswith(SHELLS[1:]) or _is_runnable(path)):
            found = self._programs[folder]
        above = path
        while found is None and len(above) > 1:
            found, above = self._folders.get(above), os.path.dirname(above)
        return found

    def present(self) -> Iterator[tuple[str, NamedFile]]:
        """All files that are there and count."""
        for folder in dict.fromkeys((*self._claims, *self._modules)):
            for name in _entries(folder):
                claim = self._claim_in(folder, name.lower())
                if claim is not None:
                    yield from self._files(f"{folder}/{name}", claim)
                if folder in self._modules:
                    yield from ((path, self._modules[folder]) for path in _package(f"{folder}/{name}"))
        for folder, claim in self._folders.items():
            yield from ((path, claim) for path in _beneath(folder))

    def _claim_in(self, folder: str, name: str) -> NamedFile | None:
        found = self._claims.get(folder, {}).get(name)
        return self._modules.get(folder) if found is None and name.endswith(PYTHON) else found

    def _claim_beneath(self, path: str) -> NamedFile | None:
        """What a link leads to is put in the place of all that was named beneath it."""
        if not os.path.islink(path):
            return None
        within = (named for folder, named in self._claims.items() if f"{folder}/".startswith(f"{path}/"))
        return next((claim for named in within for claim in named.values()), None)

    def _files(self, path: str, claim: NamedFile) -> Iterator[tuple[str, NamedFile]]:
        """A file that is named, with what it links to; or the programs of a folder that is named."""
        real = os.path.realpath(path)
        if os.path.isdir(real):
            if self._holds(real):
                if not claim.namer.depth or os.path.splitext(claim.namer.path)[1] in SHELLS:
                    self._programs.setdefault(real, claim)
                yield from _of_folder(real, claim)
            return
        care = _care_of(path, claim)
        if care is not None:
            yield path, claim._replace(care=care)
            if real != path and self._holds(real):
                yield real, claim._replace(care=care)

    def _named(self, namer: Namer) -> Iterator[tuple[str, NamedFile]]:
        claim = NamedFile(namer.program, namer.care, namer)
        around = {above for base in namer.bases for above in _upwards(base)}  # a word such as `.` names no program
        for path in dict.fromkeys(_candidates(namer, self._person)):
            if path in around:
                continue
            if self._holds(path):
                folder, name = os.path.split(path)
                self._claims.setdefault(folder, {}).setdefault(name.lower(), claim)
                yield from self._files(path, claim)
            elif os.path.isfile(path):  # out of a command's reach, and it may name what is within
                yield path, claim
        for word in namer.whole:
            for path in placed(word, namer.bases, self._person):
                yield from self._whole(path, claim)
        folder = os.path.dirname(namer.path)
        if _is_python(namer) and self._holds(folder):
            # Python looks for modules beside a script before it looks anywhere else, so any of them may be loaded.
            self._modules.setdefault(folder, claim)
            beside = (f"{folder}/{name}" for name in _entries(folder))
            yield from ((path, claim) for each in beside for path in (each, *_package(each)) if path.endswith(PYTHON))

    def _whole(self, path: str, claim: NamedFile) -> Iterator[tuple[str, NamedFile]]:
        real = os.path.realpath(path)
        for folder, name in _ways(path):
            if self._holds(folder):
                self._claims.setdefault(folder, {}).setdefault(name.lower(), claim)
        for each in {path, real}:
            self._claim_folder(each, claim)
        yield from ((each, claim) for each in _beneath(real))

    def _claim_folder(self, path: str, claim: NamedFile) -> None:
        if self._holds(path):
            self._folders.setdefault(path, claim)


def namer_at(path: str, program: str, care: TriggerAction, bases: Iterable[str], *, depth: int = 0) -> Namer | None:
    """The text of a file as one that names others; None where there is no text to read."""
    try:
        with ordinary_file(path, over_links=True) as file:
            body = file.read(LARGEST_TEXT)
    except (OSError, ValueError):
        return None
    if b"\0" in body[:1_024]:
        return None
    return Namer(path, body.decode("latin-1"), program, care, tuple(dict.fromkeys(bases)), depth)


def words_in(text: str) -> frozenset[str]:
    """Every word of a text that may name a file, as it stands and without its quotes and escapes.

    A zero byte stands for what is filled in later.
    """
    filled = text = _REMARK.sub("", text)
    for _ in range(_ROUNDS):
        filled = _FILLED.sub("\x00", filled)
    found: dict[str, None] = {}
    for spelling in (filled, re.sub(r"[\"'\\]", "", filled), re.sub(r"[\"'\\]", "", text)):
        for match in _WORD.finditer(spelling):
            found[match[0]] = None
            if len(found) >= MOST_WORDS:
                break
    spaced = (match[1] or match[2] for match in _SPACED.finditer(text))
    return frozenset(found) | {each.replace("\\ ", " ") for each in itertools.islice(spaced, MOST_WORDS)}


def _follow(path: str, claim: NamedFile) -> Namer | None:
    """The text at a path that a namer leads to, with the folders that its own words may start from."""
    if claim.care is TriggerAction.REPORTED or os.path.splitext(path)[1].lower() in DOCUMENTS:
        return None
    bases = (*claim.namer.bases, os.path.dirname(path))
    return namer_at(path, claim.program, claim.care, bases, depth=claim.namer.depth + 1)


def _candidates(namer: Namer, person: str) -> Iterator[str]:
    """Every path that a word of the text may stand for."""
    words = words_in(namer.text)
    plain = (path for word in words if "." not in word.strip("./") for path in placed(word, namer.bases, person))
    folders = tuple(dict.fromkeys(path for path in plain if path not in namer.bases and os.path.isdir(path)))
    bases = tuple(dict.fromkeys((*namer.bases, *folders)))
    own = os.path.splitext(namer.path)[1]
    named = (ending for interpreter, ending in MODULES.items() if interpreter in namer.text)
    suffixes = tuple(dict.fromkeys(filter(None, (own, ".pm" if own == ".pl" else "", *named))))
    beside = (os.path.dirname(namer.path), *folders) if own else bases
    for word in words:
        for meant in MEANT.get(word, ()):
            yield from placed(meant, namer.bases, person)
        if "/" in word or "." in word or "\x00" in word:
            yield from _spelled(word, suffixes, bases, person)
        else:
            yield from (f"{base}/{word}" for base in bases)
            yield from (f"{base}/{word}{suffix}" for suffix in suffixes for base in beside)
            if own in SCRIPTS:
                yield from (f"{base}/node_modules/{word}" for base in namer.bases)


def _spelled(word: str, suffixes: tuple[str, ...], bases: tuple[str, ...], person: str) -> Iterator[str]:
    """A word that looks like a path, or like a module's name with dots."""
    for path in placed(word, bases, person):
        yield path
        yield from _completed(path, suffixes)
    if not word.startswith(".") and not {"/", "\x00"}.intersection(word):
        first, _, rest = word.partition(".")
        for base in bases if suffixes else ():
            yield from (f"{base}/{first}/__init__{suffix}" for suffix in suffixes)
            yield from _completed(f"{base}/{first}/{rest.replace('.', '/')}", suffixes)


def _completed(path: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    for suffix in suffixes:
        yield from (f"{path}{suffix}", f"{path}/__init__{suffix}", f"{path}/index{suffix}")


def placed(word: str, bases: Iterable[str], person: str) -> Iterator[str]:
    """Where a path may lie: from the root, from the person's folder, or from any of these folders.

    Of a path with a part that is filled in later, what stands before it is a folder; where that is nothing, the rest
    may begin anywhere.
    """
    if word.startswith("\x00"):
        word = word.lstrip("\x00/")
        if word and "\x00" not in word and person:
            yield os.path.normpath(f"{person}/{word}")
    if "\x00" in word:
        word = word.partition("\x00")[0].rpartition("/")[0]
    if not word or "\x00" in word:
        return
    if word.startswith("~/"):
        yield os.path.normpath(f"{person}/{word[2:]}")
    elif word.startswith("/"):
        yield os.path.normpath(word)
        if not os.path.lexists(f"/{word.split('/')[1]}"):  # what a script puts behind a folder that it finds out
            yield from (os.path.normpath(f"{base}{word}") for base in bases)
    else:
        yield from (os.path.normpath(f"{base}/{word}") for base in bases)


def _care_of(path: str, claim: NamedFile) -> TriggerAction | None:
    """How a named file is treated; None where its being named means nothing."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in DOCUMENTS or _is_runnable(path):
        return claim.care
    return TriggerAction.REPORTED if claim.namer.depth == 0 else None


def _of_folder(folder: str, claim: NamedFile) -> Iterator[tuple[str, NamedFile]]:
    """Of a folder that is named: what may be run, and what looks like the text that names it."""
    suffix = os.path.splitext(claim.namer.path)[1]
    yield from ((path, claim) for path in _package(folder))
    if claim.care is TriggerAction.REPORTED or (claim.namer.depth and suffix not in SHELLS):
        return
    for path in _beneath(folder):
        if os.path.splitext(path)[1] in (suffix, *SHELLS[1:]) or _has_right(path):
            yield path, claim


def _has_right(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & 0o111)
    except OSError:
        return False


def _is_runnable(path: str) -> bool:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return _has_right(path) or file.read(2) == b"#!"
    except OSError:
        return False


def _is_python(namer: Namer) -> bool:
    first = namer.text.partition("\n")[0][:200]
    return namer.path.endswith(PYTHON) or (first.startswith("#!") and "python" in first)


def _package(path: str) -> list[str]:
    """The files that are run where a folder is."""
    return [f"{path}/{name}" for name in _entries(path) if name.partition(".")[0] in ENTRIES]


def _ways(path: str) -> Iterator[tuple[str, str]]:
    """The folder and the name of every place that a link leads over, as the links spell them."""
    for _ in range(MOST_LINKS):
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.realpath(os.path.dirname(path)), os.readlink(path)))
        yield os.path.split(path)


def _upwards(path: str) -> Iterator[str]:
    while len(path) > 1:
        yield path
        path = os.path.dirname(path)


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []


def _beneath(folder: str) -> Iterator[str]:
    """All files in a folder and, up to a number, those further beneath, over no link; of a file, itself."""
    count = 0
    if not os.path.isdir(folder) and os.path.lexists(folder):
        yield folder
    for above, folders, files in os.walk(folder):
        for name in (*files, *(each for each in folders if os.path.islink(f"{above}/{each}"))):
            count += 1
            if count > MOST_BENEATH and above != folder:
                return
            yield f"{above}/{name}"


def git_variables(environment: Mapping[str, str]) -> str:
    """What the person's environment tells git, as a text that may name files."""
    return "\n".join(value for name, value in environment.items() if name.startswith("GIT_"))
