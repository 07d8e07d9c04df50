"""The files that agents read in a folder, statement by statement."""

from pathlib import Path

from whet.context.auditing import audit_folder
from whet.statements.audit import Audit


def audit(folder: str | Path) -> Audit:
    """Split the files that agents read in a folder into statements, and show what the repository says of each.

    Needs no home, no sessions and no network. A statement without findings cannot be told.

    >>> import whet
    >>> found = whet.audit("examples/audited")
    >>> [(each.statement.line, each.words, each.findings[0].instead) for each in found.faulty]
    [(5, 'wrong', 'settings.yaml')]
    """
    return audit_folder(Path(folder))
