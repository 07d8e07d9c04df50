"""Files found by a text in them or by their names; what .gitignore names is left out, as git does it."""

import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import Annotated, NamedTuple

import re2
from msgspec import Meta

from whet.agent.inspection.triggers import REPOSITORY
from whet.agent.tools.guard import Guard, mark_of_place
from whet.agent.tools.processes import plain
from whet.agent.tools.situation import CallContext, ToolOutput, failed
from whet.errors import WhetError
from whet.store.folders import ordinary_file

SECONDS = 30.0
LARGEST_BYTES = 8 * 1024 * 1024
LINE_CHARACTERS = 300
MOST_IN_FILE = 200


class IgnoreRule(NamedTuple):
    """One line of a .gitignore: what it matches, and whether it takes back what another left out."""

    pattern: re.Pattern[str]
    keeps: bool
    folders_only: bool


class Ignored(NamedTuple):
    """The rules of one .gitignore, for paths beneath the folder that it lies in."""

    prefix: str  # of that folder, with a slash at its end, or empty
    rules: tuple[IgnoreRule, ...]


def read_rules(text: str) -> tuple[IgnoreRule, ...]:
    return tuple(rule for line in text.splitlines()[:2_000] if (rule := _rule(line)))


def is_ignored(path: str, files: Iterable[Ignored], *, folder: bool) -> bool:
    """Whether a path is left out; the last rule that matches decides, and deeper files come later."""
    out = False
    for ignored in files:
        if not path.startswith(ignored.prefix):
            continue
        inside = path[len(ignored.prefix) :]
        for rule in ignored.rules:
            if (folder or not rule.folders_only) and rule.pattern.fullmatch(inside):
                out = not rule.keeps
    return out


def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob over paths: without a slash it means a name at any depth, `**` any number of folders."""
    return re.compile(_translated(glob.removeprefix("./")))


def _rule(line: str) -> IgnoreRule | None:
    text = line.rstrip()
    if not text or text.startswith("#") or len(text) > 500:
        return None
    keeps, folders_only = text.startswith("!"), text.endswith("/")
    body = text.removeprefix("!").removeprefix("\\").rstrip("/")
    return IgnoreRule(re.compile(_translated(body)), keeps, folders_only) if body else None


def _translated(glob: str) -> str:
    if "/" not in glob:
        glob = f"**/{glob}"
    pieces = []
    for token in re.findall(r"/?\*\*/|/\*\*$|\*+|\?|\[!?[^\]/]+\]|.", glob.removeprefix("/")):
        if token.endswith("**/"):
            pieces.append("/(?:[^/]+/)*" if token.startswith("/") else "(?:[^/]+/)*")
        elif token == "/**":
            pieces.append("/.+")
        else:
            pieces.append(_piece(token))
    return "".join(pieces)


def _piece(token: str) -> str:
    if token.startswith("*"):
        return "[^/]*"
    if token == "?":
        return "[^/]"
    if token.startswith("[") and len(token) > 2:
        inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(token)


class FileSearch(NamedTuple):
    """What is looked for, and where; an empty pattern asks for names."""

    guard: Guard
    root: Path
    pattern: str
    glob: str


def search_files(
    occasion: CallContext,
    *,
    pattern: Annotated[str, Meta(description="RE2 regex for lines; empty: list file names")] = "",
    glob: Annotated[str, Meta(description="such as *.py or src/**/*.ts")] = "",
    path: Annotated[str, Meta(description="folder or file")] = ".",
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100,
) -> ToolOutput:
    """Search in files, or list them. What .gitignore names is left out."""
    guard = occasion.workplace.guard
    root = Path(os.path.realpath(guard.path(path)))
    guard.expect_seen(root)
    if not root.exists():
        return failed(f"There is no {path}.")
    sought = FileSearch(guard, root, pattern, glob)
    matches = sorted(_matches(sought, occasion.interrupt))
    lines = [f"{name}:{number}: {text}" if number else name for name, number, text in matches[:limit]]
    if len(matches) > limit:
        lines.append(f"[{len(matches) - limit:,} more; narrow the search]")
    return ToolOutput("\n".join(lines) or "[nothing found]", trust=occasion.workplace.trust_of_place(root))


def _matches(sought: FileSearch, interrupt: Event) -> Iterator[tuple[str, int, str]]:
    """Lines with their files and numbers; where no pattern is looked for, files alone."""
    try:
        # Within a whole file, the beginning and the end of the text mean those of any line.
        wanted = re2.compile(f"(?m:{sought.pattern})", _quiet()) if sought.pattern else None
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise WhetError(
            f"The pattern is not a valid regex: {said}.", advice="Escape what is meant literally."
        ) from error
    deadline = time.monotonic() + SECONDS
    for path in _walked(sought):
        if interrupt.is_set() or time.monotonic() > deadline:
            return
        if wanted is None:
            yield _named(sought, path), 0, ""
            continue
        body = _text(path)
        if body and wanted.search(body):
            lines = ((n, line) for n, line in enumerate(body.split("\n"), start=1) if wanted.search(line))
            for count, (number, line) in enumerate(lines):
                if count < MOST_IN_FILE:
                    yield _named(sought, path), number, plain(line.strip())[:LINE_CHARACTERS]


def _quiet() -> re2.Options:
    """A wrong pattern is told to the model and not printed."""
    options = re2.Options()
    options.log_errors = False
    return options


def _walked(sought: FileSearch) -> Iterator[Path]:
    """Every ordinary file beneath the root that is not left out."""
    if not sought.root.is_dir():
        yield sought.root
        return
    wanted = glob_pattern(sought.glob) if sought.glob else None
    marks = sought.guard.marks()
    inodes = {inode for _, inode in marks}
    waiting: list[tuple[str, tuple[Ignored, ...]]] = [("", ())]
    while waiting:
        prefix, ignored = waiting.pop()
        folder = sought.root / prefix
        if not sought.guard.hidden.isdisjoint((folder, *folder.parents)):
            continue
        if rules := _text(folder / ".gitignore") or _text(folder / ".ignore"):
            ignored = (*ignored, Ignored(prefix, read_rules(rules)))
        for entry in _entries(folder):
            path = prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == REPOSITORY or is_ignored(path, ignored, folder=is_folder):
                continue
            if entry.inode() in inodes and mark_of_place(Path(entry.path)) in marks:
                continue
            if is_folder:
                waiting.append((f"{path}/", ignored))
            elif entry.is_file(follow_symlinks=False) and (wanted is None or wanted.fullmatch(path)):
                yield Path(entry.path)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []  # what may not be read is not searched


def _text(path: Path) -> str:
    """What a text file holds; nothing for one that is binary, too large or not there."""
    try:
        with ordinary_file(path) as file:
            body = file.read(LARGEST_BYTES + 1)
    except OSError:
        return ""
    return "" if b"\0" in body or len(body) > LARGEST_BYTES else body.decode("utf-8", "replace")


def _named(sought: FileSearch, path: Path) -> str:
    """A path as the other tools take it: from the working folder where it lies in there."""
    folder = sought.guard.folder
    return str(path.relative_to(folder)) if folder in path.parents else str(path)
