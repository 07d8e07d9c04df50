"""The audit of a folder without sessions: what the repository itself shows of every statement.

A repository as the audit sees it: its paths, what was removed, what its manifests say, when lines were changed.
"""

import contextlib
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from whet.agents.registry import agents
from whet.errors import WhetError
from whet.lessons.statements.audit import Audit, AuditedStatement, LastChange, Statement
from whet.lessons.statements.checking import NameWriting, check_statement, missing_paths, removals_in
from whet.lessons.statements.comparing import compare, copied_files
from whet.lessons.statements.naming import NamedThing, split_statements
from whet.lessons.statements.repository import RemovedPath, Repository, ScriptManifest, is_manifest, manifest_of
from whet.telling.context.finding import ordinary_bytes
from whet.telling.context.git import output_of
from whet.telling.context.instruction_files import PersonFolder, instruction_files
from whet.telling.targets.project_names import repository_root

SECONDS = 20.0
MOST_FILES = 200_000
MOST_MANIFESTS = 2_000
MOST_MANIFEST_BYTES = 400_000
MOST_REMOVED = 400_000
MOST_RENAMING = 30
MOST_STATEMENTS = 20_000
MOST_TRACED = 1_000  # names that are followed through the commits of their file
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
    known = repository.files | repository.folders
    there = [path for path in paths if path not in known and os.path.lexists(root / path)]
    given = "\0".join(path for path in paths if "\n" not in path).encode() + b"\0" if paths else b""
    ignored = b""
    if paths and repository_root(root) is not None:
        given += "\0".join(f"{path}/" for path in paths).encode() + b"\0"
        ignored, _ = output_of(root, "check-ignore", "-v", "--no-index", "--stdin", "-z", seconds=SECONDS, given=given)
    told = ignored.split(b"\0")  # the file, the line, the pattern and the path of each
    # To git, a blank line that ends in CRLF is a pattern that fits the end of every folder.
    rules = (
        path for pattern, path in zip(told[2::4], told[3::4], strict=True) if pattern.strip() and pattern[:1] != b"!"
    )
    found = (*there, *(os.fsdecode(each).rstrip("/") for each in rules))
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


class _Writings:
    """The lines that commits added to files for agents and took out of them, and so who first wrote a name.

    A line that is changed, or moved from one of these files to another, may go on to name what it named.
    """

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        beside = {name for agent in agents() if agent.files for name in agent.files.project if "*" not in name}
        paths = {*files, *(posixpath.join(posixpath.dirname(file), name) for file in files for name in beside)}
        form = ("-p", "-U0", "--no-ext-diff", "--no-textconv", "--no-renames", "--format=%x01%H %ct")
        body, _ = output_of(root, "log", *form, "--", *sorted(paths), seconds=SECONDS) if paths else (b"", False)
        self._commits: list[tuple[LastChange, dict[str, list[str]]]] = []  # the newest first
        for line in body.decode("utf-8", "replace").split("\n"):
            if line.startswith("\1"):
                commit, _, at = line[1:].partition(" ")
                self._commits.append((LastChange(float(at), commit), {"+": [], "-": []}))
            elif self._commits and line[:1] in ("+", "-"):
                self._commits[-1][1][line[0]].append(line)
        self._places = {change.commit: place for place, (change, _) in enumerate(self._commits)}

    def first(self, name: str, last: LastChange) -> LastChange:
        """Who first wrote a name, of a line that was last changed then."""
        form = re.compile(rf"(?<![\w/.-])(?:\./)?{re.escape(name)}(?![\w-])")
        place, found = self._places.get(last.commit, len(self._commits)), last
        for change, lines in self._commits[place:]:
            if change.commit == last.commit or any(name in line and form.search(line) for line in lines["+"]):
                found = change
                if not any(name in line and form.search(line) for line in lines["-"]):
                    break
        return found


def _written(
    missing: Mapping[Statement, Iterable[NamedThing]], dates: dict[str, dict[str, LastChange]], writings: _Writings
) -> dict[Statement, dict[str, NameWriting]]:
    """When the names of statements were written: first, and the line last."""
    found: dict[Statement, dict[str, NameWriting]] = {}
    left = MOST_TRACED
    for statement, things in missing.items():
        for thing in things:
            line = statement.text.split("\n")[thing.line - statement.line].rstrip()
            last = dates.get(statement.file, {}).get(line)
            if last is not None:
                first = writings.first(thing.text, last) if left > 0 else last
                found.setdefault(statement, {})[thing.text] = NameWriting(first, last)
                left -= 1
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


def unaudited(folder: Path, *, person: PersonFolder | None = None) -> Audit:
    """The files that agents read there and their statements, at once: nothing is found out about them."""
    root = repository_root(folder.resolve()) or folder.resolve()
    files = instruction_files(root, repository_facts(root, with_past=False), person)
    statements = (AuditedStatement(each) for file in files for each in split_statements(file.path, file.text))
    return Audit(str(root), files, tuple(statements))


def audit_folder(folder: Path, *, person: PersonFolder | None = None, is_dated: bool = True) -> Audit:
    """Every statement of the files that agents read there, with what the repository shows of it."""
    if not folder.is_dir():
        raise WhetError(f"There is no folder {folder}.", advice="Name the folder of a project.")
    root = repository_root(folder.resolve()) or folder.resolve()
    repository = repository_facts(root)
    inside = "" if folder.resolve() == root else f"{folder.resolve().relative_to(root)}/"
    files = tuple(each for each in instruction_files(root, repository, person) if _holds_in(inside, each.path))
    statements = [each for file in files for each in split_statements(file.path, file.text)][:MOST_STATEMENTS]
    own = [each for each in statements if not each.file.startswith(("~", "/"))]
    asked = {path for each in own for path in missing_paths(each, repository)}
    removals = {each: found for each in own if (found := tuple(removals_in(each, repository)))}
    repository = with_unknown(repository, root, asked, (one for found in removals.values() for _, one in found))
    dated = {each.file for each in removals}
    wanted = [file for file in files if file.text and (is_dated or file.path in dated)]
    dates = {file.path: last_changes(root, file.path) for file in wanted if not file.path.startswith("~")}
    missing = {each: [thing for thing, _ in found] for each, found in removals.items()}
    written = _written(missing, dates, _Writings(root, dated))
    checked = {each: check_statement(each, repository, written.get(each, {})) for each in own}
    compared, copies = compare(files, statements), copied_files(files)
    files = tuple(replace(file, copied=copies[file.path]) if file.path in copies else file for file in files)
    audited = tuple(
        AuditedStatement(each, (*checked.get(each, ()), *compared.get(each, ())), _changed(each, dates))
        for each in statements
    )
    return Audit(str(root), files, audited)


def _holds_in(folder: str, path: str) -> bool:
    """Whether a file is read by who works in a folder of the repository, or below it."""
    above = path.rpartition("/")[0]
    return not folder or path.startswith((folder, "~", "/")) or folder.startswith(f"{above}/" if above else "")


def _changed(statement: Statement, dates: dict[str, dict[str, LastChange]]) -> LastChange | None:
    known = dates.get(statement.file, {})
    return max((known[line.rstrip()] for line in statement.text.split("\n") if line.rstrip() in known), default=None)
