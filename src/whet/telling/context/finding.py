"""The files that a repository has for agents, and the folders that their owner declared their own."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from whet.errors import WhetError
from whet.ledger.marked_block import Block, find, take_out
from whet.own.told.prompt import ContextFile
from whet.secrets.redactor import Redactor
from whet.sessions.trust import Trust
from whet.store.folders import ordinary_file
from whet.telling.targets.project_names import repository_root
from whet.text.quoting import HEAD_SHARE

SETTING = "trust.projects"
NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "HERMES.md", ".hermes.md", ".cursorrules")
RULES_FOLDER = Path(".cursor", "rules")
RULES_SUFFIX = ".mdc"
MOST_RULES = 50
MOST_BYTES = 200_000  # far more of a file than any prompt shows


def project_of(folder: Path, declared: Iterable[str]) -> Path | None:
    """The declared folder that this one lies in, or is; None where there is none.

    A folder that holds the person's own is no project: downloads and mail lie in it.
    """
    real, home = folder.resolve(), Path.home().resolve()
    for each in declared:
        path = Path(os.path.expanduser(each))
        place = path.resolve()
        is_project = path.is_absolute() and not home.is_relative_to(place)
        if is_project and real.is_relative_to(place):
            return place
    return None


def said_of(project: Path) -> str:
    """What a person should know where the setting holds."""
    return f"The output of files and commands in {project} counts as your words, by the setting {SETTING}."


def find_files(
    folder: Path, *, secrets: Iterable[str] = (), written: Iterable[Path] = (), project: Path | None = None
) -> tuple[ContextFile, ...]:
    """The context files that hold in a folder, the outermost first, without the secrets in them.

    `written` are the files that Whet writes its rules to: the prompt says them already. Those in a `project` that its
    owner declared their own are worth what its tools print; others are a stranger's.
    """
    if not folder.is_dir():
        raise WhetError(f"There is no folder {folder}.", advice="Give the agent's working folder.")
    leaf = folder.resolve()
    root = repository_root(leaf) or leaf
    between = [leaf, *leaf.parents]
    own = frozenset(path.resolve() for path in written)
    read = partial(_context_file, root=root, secrets=tuple(secrets), written=own, project=project)
    return tuple(
        file for inside in reversed(between[: between.index(root) + 1]) for file in _files_of(inside, root, read)
    )


def _files_of(folder: Path, root: Path, read: Callable[[Path], ContextFile]) -> Iterator[ContextFile]:
    for name in NAMES:
        if os.path.lexists(folder / name):
            yield read(folder / name)
    rules = folder / RULES_FOLDER
    shown = str(rules.relative_to(root))
    try:
        found = sorted(path for path in rules.iterdir() if path.suffix == RULES_SUFFIX)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield ContextFile(shown, fault=error.strerror or "it cannot be opened")
        return
    for path in found[:MOST_RULES]:
        yield read(path)
    if len(found) > MOST_RULES:
        yield ContextFile(shown, fault=f"of its {len(found):,} files only the first {MOST_RULES} were read")


def _context_file(
    path: Path, *, root: Path, secrets: tuple[str, ...], written: frozenset[Path], project: Path | None
) -> ContextFile:
    """What is shown of a context file: no secrets, and of one that Whet writes to itself not its own block."""
    name = str(path.relative_to(root))
    try:
        # A link within the repository is the project's way to say a thing once; one that leads out of it would
        # show the agent, and so its provider, any file of the person's.
        actual = path.resolve(strict=True)
        if not actual.is_relative_to(root):
            return ContextFile(name, fault="it is a link that leaves the repository")
        body, unread = _read(actual)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it cannot be followed"
        return ContextFile(name, fault=reason)
    if b"\0" in body:
        return ContextFile(name, fault="it is not text")
    if actual in written and isinstance(find(body), Block):
        body = take_out(body) or b""
    text = Redactor(secrets).text(body.decode("utf-8", "replace"))
    is_own = project is not None and actual.is_relative_to(project)
    return ContextFile(name, text, Trust.TOOL if is_own else Trust.EXTERNAL, unread=unread)


def ordinary_bytes(path: Path, most: int) -> tuple[bytes, int]:
    """What an ordinary file holds, at most so many bytes of its beginning, and how many follow; a link is no such."""
    with ordinary_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        return file.read(most), max(size - most, 0)


def _read(path: Path) -> tuple[bytes, int]:
    """What an ordinary file holds; of one that is too large its head and its tail, and the size of what is between."""
    with ordinary_file(path) as file:
        unread = max(os.fstat(file.fileno()).st_size - MOST_BYTES, 0)
        if not unread:
            return file.read(MOST_BYTES), 0
        head = file.read(int(MOST_BYTES * HEAD_SHARE))
        file.seek(len(head) + unread)
        return head + file.read(MOST_BYTES - len(head)), unread
