"""The audit of a folder without sessions: what the repository itself shows of every statement."""

from pathlib import Path

from whet.context.finding import repository_root
from whet.context.instruction_files import PersonFolder, instruction_files
from whet.context.repository_facts import last_changes, repository_facts, with_unknown
from whet.errors import WhetError
from whet.statements.audit import Audit
from whet.statements.checking import check_statement, missing_paths
from whet.statements.comparing import compare
from whet.statements.repository import Repository
from whet.statements.splitting import split_statements
from whet.statements.statement import AuditedStatement, InstructionFile, LastChange, Statement

MOST_STATEMENTS = 20_000


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
    repository = with_unknown(repository, root, (path for each in own for path in missing_paths(each, repository)))
    checked = {each: check_statement(each, repository) for each in own}
    compared = compare(files, statements, repository)
    dates = _dates(root, files) if is_dated else {}
    audited = tuple(
        AuditedStatement(each, (*checked.get(each, ()), *compared.get(each, ())), _changed(each, dates))
        for each in statements
    )
    return Audit(str(root), files, audited)


def repository_at(folder: Path) -> Repository:
    """The facts of the repository that a folder lies in."""
    return repository_facts(repository_root(folder.resolve()) or folder.resolve())


def _holds_in(folder: str, path: str) -> bool:
    """Whether a file is read by who works in a folder of the repository, or below it."""
    above = path.rpartition("/")[0]
    return not folder or path.startswith((folder, "~", "/")) or folder.startswith(f"{above}/" if above else "")


def _dates(root: Path, files: tuple[InstructionFile, ...]) -> dict[str, dict[str, LastChange]]:
    return {file.path: last_changes(root, file.path) for file in files if file.text and not file.path.startswith("~")}


def _changed(statement: Statement, dates: dict[str, dict[str, LastChange]]) -> LastChange | None:
    known = dates.get(statement.file, {})
    return max((known[line.rstrip()] for line in statement.text.split("\n") if line.rstrip() in known), default=None)
