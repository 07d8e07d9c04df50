"""The audit of a folder without sessions: what the repository itself shows of every statement."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from whet.context.finding import repository_root
from whet.context.instruction_files import PersonFolder, instruction_files
from whet.context.repository_facts import last_changes, repository_facts, with_unknown
from whet.errors import WhetError
from whet.statements.audit import Audit
from whet.statements.checking import Grounds, check_statement, missing_paths, removal_of
from whet.statements.comparing import compare, copied_files
from whet.statements.listings import listed_paths, listings, unlisted
from whet.statements.naming import things_in
from whet.statements.repository import RemovedPath, Repository
from whet.statements.splitting import split_statements
from whet.statements.statement import AuditedStatement, InstructionFile, LastChange, Statement

MOST_STATEMENTS = 20_000


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
    listed = listings(own)
    asked = {path for each in own for path in missing_paths(each, repository)}
    asked |= {*listed_paths(listed, repository)}
    removals = {each: found for each in own if (found := tuple(_removals(each, repository)))}
    repository = with_unknown(repository, root, asked, (each for found in removals.values() for each in found))
    dates = _dates(
        root, files if is_dated else [file for file in files if any(each.file == file.path for each in removals)]
    )
    lacking = unlisted(listed, repository)
    grounds = {each: Grounds(dates.get(each.file, {}), lacking.get(each, ())) for each in own}
    checked = {each: check_statement(each, repository, grounds[each]) for each in own}
    compared = compare(files, statements, repository)
    copies = copied_files(files)
    files = tuple(replace(file, copied=copies[file.path]) if file.path in copies else file for file in files)
    audited = tuple(
        AuditedStatement(each, (*checked.get(each, ()), *compared.get(each, ())), _changed(each, dates))
        for each in statements
    )
    return Audit(str(root), files, audited)


def _removals(statement: Statement, repository: Repository) -> Iterator[RemovedPath]:
    folder = statement.file.rpartition("/")[0]
    found = (removal_of(thing, folder, repository) for thing in things_in(statement))
    return (each for each in found if each is not None)


def repository_at(folder: Path) -> Repository:
    """The facts of the repository that a folder lies in."""
    return repository_facts(repository_root(folder.resolve()) or folder.resolve())


def _holds_in(folder: str, path: str) -> bool:
    """Whether a file is read by who works in a folder of the repository, or below it."""
    above = path.rpartition("/")[0]
    return not folder or path.startswith((folder, "~", "/")) or folder.startswith(f"{above}/" if above else "")


def _dates(root: Path, files: Iterable[InstructionFile]) -> dict[str, dict[str, LastChange]]:
    return {file.path: last_changes(root, file.path) for file in files if file.text and not file.path.startswith("~")}


def _changed(statement: Statement, dates: dict[str, dict[str, LastChange]]) -> LastChange | None:
    known = dates.get(statement.file, {})
    return max((known[line.rstrip()] for line in statement.text.split("\n") if line.rstrip() in known), default=None)
