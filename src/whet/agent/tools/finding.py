"""Files found by a text in them or by their names: by ripgrep where it is installed, else by our own walk."""

import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import Annotated, NamedTuple

import re2
from msgspec import Meta

from whet.agent.inspection.triggers import REPOSITORY
from whet.agent.tools.guard import Guard
from whet.agent.tools.processes import Launch, Process, plain, safe_path
from whet.agent.tools.situation import Given, Occasion, failed
from whet.errors import WhetError

SECONDS = 30.0
LARGEST_BYTES = 8 * 1024 * 1024
LINE_CHARACTERS = 300
TAPE_BYTES = 16 * 1024 * 1024
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


class Sought(NamedTuple):
    """What is looked for, and where; an empty pattern asks for names."""

    guard: Guard
    root: Path
    pattern: str
    glob: str


class FileMatch(NamedTuple):
    """A file, or a line in one."""

    path: str
    line: int = 0
    text: str = ""


def search_files(
    occasion: Occasion,
    *,
    pattern: Annotated[str, Meta(description="RE2 regex for lines; empty: list file names")] = "",
    glob: Annotated[str, Meta(description="such as *.py or src/**/*.ts")] = "",
    path: Annotated[str, Meta(description="folder or file")] = ".",
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100,
) -> Given:
    """Search in files, or list them. What .gitignore names is left out."""
    guard = occasion.workplace.guard
    root = Path(os.path.realpath(guard.path(path)))
    guard.expect_seen(root)
    if not root.exists():
        return failed(f"There is no {path}.")
    sought = Sought(guard, root, pattern, glob)
    program = _ripgrep(occasion)
    found = by_ripgrep(sought, program, occasion.interrupt) if program else by_walking(sought, occasion.interrupt)
    matches = sorted(found)
    lines = [f"{each.path}:{each.line}: {each.text}" if each.line else each.path for each in matches[:limit]]
    if len(matches) > limit:
        lines.append(f"[{len(matches) - limit:,} more; narrow the search]")
    return Given("\n".join(lines) or "[nothing found]", trust=occasion.workplace.trust_of_place(root))


def by_walking(sought: Sought, interrupt: Event) -> Iterator[FileMatch]:
    """The matches, looked for by our own means."""
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
            yield FileMatch(_named(sought, path))
            continue
        body = _text(path)
        if body and wanted.search(body):
            lines = ((n, line) for n, line in enumerate(body.split("\n"), start=1) if wanted.search(line))
            for count, (number, line) in enumerate(lines):
                if count < MOST_IN_FILE:
                    yield FileMatch(_named(sought, path), number, plain(line.strip())[:LINE_CHARACTERS])


def _quiet() -> re2.Options:
    """A wrong pattern is told to the model and not printed."""
    options = re2.Options()
    options.log_errors = False
    return options


def by_ripgrep(sought: Sought, program: str, interrupt: Event) -> Iterator[FileMatch]:
    """The same, by ripgrep."""
    options = ["--no-config", "--hidden", "--no-messages", "--color=never", "--no-require-git", "--no-ignore-parent"]
    options += ["--no-ignore-global", "--glob", f"!{REPOSITORY}"]
    options += ["--glob", sought.glob] if sought.glob else []
    options += [f"--max-filesize={LARGEST_BYTES}", f"--max-count={MOST_IN_FILE}", "--null"]
    what = ["--line-number", "--no-heading", "--with-filename", f"--regexp={sought.pattern}"]
    argv = (*options, *(what if sought.pattern else ["--files"]), "--", str(sought.root))
    folder = sought.root if sought.root.is_dir() else sought.root.parent
    process = Process(Launch((program,), argv, {"PATH": "/usr/bin:/bin"}, folder), "rg", limit=TAPE_BYTES)
    process.wait(SECONDS, interrupt)
    process.stop()
    taped = process.tape.take()
    if process.exit_code == 2 and not taped.head.count(b"\0"):
        lines = taped.text.strip().splitlines() or ["ripgrep failed"]
        raise WhetError(f"The pattern is not a valid regex: {lines[-1]}.", advice="Escape what is meant literally.")
    yield from _parsed(sought, (taped.head + taped.tail).decode("utf-8", "replace"))


def _parsed(sought: Sought, printed: str) -> Iterator[FileMatch]:
    if not sought.pattern:
        for path in printed.split("\0"):
            if path and _is_seen(sought.guard, Path(path)):
                yield FileMatch(_named(sought, Path(path)))
        return
    for line in printed.split("\n"):
        path, _, rest = line.partition("\0")
        number, _, text = rest.partition(":")
        if number.isdecimal() and _is_seen(sought.guard, Path(path)):
            yield FileMatch(_named(sought, Path(path)), int(number), plain(text.strip())[:LINE_CHARACTERS])


def _walked(sought: Sought) -> Iterator[Path]:
    """Every ordinary file beneath the root that is not left out."""
    if not sought.root.is_dir():
        yield sought.root
        return
    wanted = glob_pattern(sought.glob) if sought.glob else None
    waiting: list[tuple[str, tuple[Ignored, ...]]] = [("", ())]
    while waiting:
        prefix, ignored = waiting.pop()
        folder = sought.root / prefix
        if not _is_seen(sought.guard, folder):
            continue
        ignored = (*ignored, *_ignored(folder, prefix))
        for entry in _entries(folder):
            path = prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == REPOSITORY or is_ignored(path, ignored, folder=is_folder):
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


def _ignored(folder: Path, prefix: str) -> tuple[Ignored, ...]:
    text = _text(folder / ".gitignore") or _text(folder / ".ignore")
    return (Ignored(prefix, read_rules(text)),) if text else ()


def _text(path: Path) -> str:
    """What a text file holds; nothing for one that is binary, too large or not there."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_BYTES:
            return ""
        body = file.read(LARGEST_BYTES)
        return "" if b"\0" in body else body.decode("utf-8", "replace")


def _is_seen(guard: Guard, path: Path) -> bool:
    return guard.hidden.isdisjoint((path, *path.parents))


def _named(sought: Sought, path: Path) -> str:
    """A path as the other tools take it: from the working folder where it lies in there."""
    folder = sought.guard.folder
    return str(path.relative_to(folder)) if folder in path.parents else str(path)


def _ripgrep(occasion: Occasion) -> str:
    path = safe_path(occasion.situation.environment.get("PATH", ""))
    program = shutil.which("rg", path=path) or ""
    folder = occasion.workplace.guard.folder
    # One that lies where the agent writes is not the person's.
    return "" if not program or folder in Path(os.path.realpath(program)).parents else program
