"""The files that agents read in a project, audited with its stored sessions, for every command that asks."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from whet.cli.output import count, many, plain
from whet.cli.progress import step_line
from whet.context.auditing import audit_folder, unaudited
from whet.context.finding import repository_root
from whet.context.instruction_files import PersonFolder
from whet.improving.auditing import audit_with_sessions
from whet.ledger.patches import Form, Patch
from whet.statements.audit import BUDGET, Audit
from whet.store.home import find_home
from whet.store.opening import opened
from whet.targets.project_names import name_of_project
from whet.text.words import estimate

INSTEAD = 3


def audit_of(folder: Path) -> Audit:
    """The audit of a folder with the person's own files and the sessions of its project, where there are any."""
    found = audit_folder(folder, person=PersonFolder(Path.home(), dict(os.environ)))
    home = find_home(os.environ)
    if not home.folder.is_dir():  # nothing was ever imported, and nothing is made for a look
        return found
    with opened(home) as database, step_line("Reading sessions") as step:
        return audit_with_sessions(
            database, found, now=time.time(), progress=lambda done, every: step(f"{done} of {every}")
        )


def budget_lines(patch: Patch, folder: Path, person: PersonFolder | None) -> Iterator[str]:
    """A warning where a rule would take what is read at every start past its budget, and what it could replace."""
    is_told_here = patch.scope.project in ("", name_of_project(folder)) and repository_root(folder) is not None
    if patch.form is not Form.RULE or patch.scope.at_call or not is_told_here:
        return
    after = unaudited(folder, person=person).tokens + estimate(patch.text)
    if after <= BUDGET:
        return
    audit = audit_folder(folder, person=person, is_dated=False)
    yield f"[yellow]With it, {count(after)} tokens are read at every start: more than the budget of {count(BUDGET)}.[/]"
    instead = audit.replaceable[:INSTEAD]
    if instead:
        places = ", ".join(f"{plain(each.statement.place)} ({each.words})" for each in instead)
        yield f"   It could take the place of {places}."
    else:
        yield f"   {many(len(audit.at_start), 'statement')}; `whet audit --all` lists them."
