"""A repository as the audit sees it: its paths, what was removed, what its manifests say, when lines were changed."""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from whet.context.finding import ordinary_bytes, repository_root
from whet.context.git import output_of
from whet.statements.manifests import ScriptManifest, is_manifest, manifest_of
from whet.statements.repository import RemovedPath, Repository
from whet.statements.statement import LastChange

SECONDS = 20.0
MOST_FILES = 200_000
MOST_MANIFESTS = 2_000
MOST_MANIFEST_BYTES = 400_000
MOST_REMOVED = 400_000
MOST_RENAMING = 30
_RENAMED = re.compile(r"^R\d{1,3}$")
SUBMODULE = b"160000"


def repository_facts(root: Path, *, with_past: bool = True) -> Repository:
    """What is known of a folder and of its history, where it has one."""
    has_history = repository_root(root) is not None
    paths, unknown = _listed(root) if has_history else (tuple(_walked(root)), ())
    removed = _removed(root) if has_history and with_past else ()
    manifests = tuple(_manifests(root, paths))
    return Repository(paths, name=root.name, removed=removed, manifests=manifests, unknown=unknown)


def with_unknown(
    repository: Repository, root: Path, asked: Iterable[str], removals: Iterable[RemovedPath] = ()
) -> Repository:
    """The same, knowing which of these paths are on the disk all the same, which git ignores, which got new names."""
    paths = sorted({each.strip("/") for each in asked if not each.startswith(("/", "../"))})
    there = [path for path in paths if os.path.lexists(root / path)]
    given = "\0".join(path for path in paths if "\n" not in path).encode() + b"\0" if paths else b""
    ignored = b""
    if paths and repository_root(root) is not None:
        given += "\0".join(f"{path}/" for path in paths).encode() + b"\0"
        ignored, _ = output_of(root, "check-ignore", "--no-index", "--stdin", "-z", seconds=SECONDS, given=given)
    found = (*there, *(os.fsdecode(each).rstrip("/") for each in ignored.split(b"\0") if each))
    return repository.knowing(found, _renamed(root, removals))


def _renamed(root: Path, removals: Iterable[RemovedPath]) -> dict[str, str]:
    """What removed files are called since the commit that removed each, as git tells by their content."""
    commits = sorted({each.commit for each in removals if each.commit})[:MOST_RENAMING]
    if not commits:
        return {}
    form = ("--no-ext-diff", "--no-textconv", "-M", "--diff-filter=R", "--name-status", "--relative", "-z", "--format=")
    body, _ = output_of(root, "show", *form, *commits, "--", ".", seconds=SECONDS)
    parts = [os.fsdecode(each).strip("\n") for each in body.split(b"\0")]
    places = (place for place, part in enumerate(parts) if _RENAMED.match(part))
    return {parts[place + 1]: parts[place + 2] for place in places if place + 2 < len(parts)}


def last_changes(root: Path, path: str) -> dict[str, LastChange]:
    """When each line of a file was last changed, by its words; nothing for lines that are not committed."""
    real = os.path.relpath(os.path.realpath(root / path), os.path.realpath(root))  # git knows no lines of a link
    body, _ = output_of(root, "blame", "--no-textconv", "--line-porcelain", "HEAD", "--", real, seconds=SECONDS)
    found: dict[str, LastChange] = {}
    commit, at = "", 0.0
    for line in body.decode("utf-8", "replace").split("\n"):
        if line.startswith("\t"):
            known = found.get(line[1:].rstrip())
            found[line[1:].rstrip()] = max(known, LastChange(at, commit)) if known else LastChange(at, commit)
        elif line.startswith("committer-time "):
            at = float(line.split()[1])
        elif len(line.partition(" ")[0]) >= 40:
            commit = line.partition(" ")[0]
    return found


def _listed(root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that git knows or would add, and other repositories that lie among them."""
    body, _ = output_of(root, "ls-files", "-s", "-z", seconds=SECONDS)
    entries = [each.partition(b"\t") for each in body.split(b"\0") if each]
    links = tuple(os.fsdecode(path) for facts, _, path in entries if facts.startswith(SUBMODULE))
    paths = [os.fsdecode(path) for facts, _, path in entries if not facts.startswith(SUBMODULE)]
    others, _ = output_of(root, "ls-files", "-o", "--exclude-standard", "-z", seconds=SECONDS)
    paths += [os.fsdecode(path).rstrip("/") for path in others.split(b"\0") if path]
    return tuple(paths[:MOST_FILES]), links


def _walked(root: Path) -> Iterator[str]:
    """The files below a folder without a history, not those behind links; of very many the first."""
    number = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(each for each in folders if each != ".git")
        for name in sorted(files):
            yield os.path.relpath(os.path.join(folder, name), root)
            number += 1
            if number >= MOST_FILES:
                return


def _removed(root: Path) -> Iterator[RemovedPath]:
    """The paths that commits removed, each with its first coming, as far as git gets in its time."""
    body, _ = output_of(
        root, "log", "--diff-filter=AD", "--no-renames", "--no-ext-diff", "--name-status", "-z", "--relative",
        "--format=%x01%H %ct", "HEAD", "--", ".", seconds=SECONDS,
    )  # fmt: skip
    commit, at, letter = "", 0.0, b""
    removed: list[RemovedPath] = []
    first: dict[str, float] = {}
    for part in body.split(b"\0"):
        piece = part.strip(b"\n")
        if piece.startswith(b"\1"):
            commit, _, when = piece[1:].partition(b"\n")[0].decode().partition(" ")
            at = float(when or 0)
            piece = piece.partition(b"\n")[2].strip(b"\n")
        if piece in (b"A", b"D"):
            letter = piece
        elif piece and letter == b"A":
            first[os.fsdecode(piece)] = at  # the log goes back in time
        elif piece and len(removed) < MOST_REMOVED:
            removed.append(RemovedPath(os.fsdecode(piece), commit, at))
    return (each._replace(since=first.get(each.path, 0.0)) for each in removed)


def _manifests(root: Path, paths: Iterable[str]) -> Iterator[ScriptManifest]:
    wanted = [path for path in paths if is_manifest(path) and "node_modules/" not in path]
    for path in sorted(wanted, key=lambda each: (each.count("/"), each))[:MOST_MANIFESTS]:
        with contextlib.suppress(OSError):  # it went away, or is none that can be read: it says nothing
            body, unread = ordinary_bytes(root / path, MOST_MANIFEST_BYTES)
            text = body.decode("utf-8", "replace").removeprefix("\ufeff")
            found = manifest_of(path, text + " " * unread if unread else text)
            if found is not None:
                yield found
