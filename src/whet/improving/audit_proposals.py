"""What an audit proposes, as changes that wait for a person in the ledger."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from whet.agents.places import is_read_by_agents
from whet.changes.pending import propose
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope, digest
from whet.statements.audit import Audit
from whet.statements.proposing import ProposalKind, StatementProposal, proposals
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home

MOST = 50  # at once: a person has to read them


class ProposedStatement(NamedTuple):
    """A proposal and the entry that waits, or why there is none."""

    proposal: StatementProposal
    entry: Entry | None
    refused: str = ""


def propose_changes(
    home: Home, database: Database, audit: Audit, *, project: str, now: float
) -> tuple[ProposedStatement, ...]:
    """Let every change that an audit proposes wait for a person; nothing is changed before a yes."""
    return tuple(
        _proposed(home, database, each, patch, now=now)
        for each, patch in islice(patches_of(audit, project=project), MOST)
    )


def patches_of(audit: Audit, *, project: str) -> Iterator[tuple[StatementProposal, Patch]]:
    """The changes of an audit, each as a patch of the passage that it shows."""
    texts = {file.path: _text(Path(audit.root) / file.path, audit.root) for file in audit.files if file.text}
    for audited in audit.statements:
        real, text = texts.get(audited.statement.file) or ("", "")
        for proposal in proposals(audited, text) if text else ():
            origin = PatchOrigin(PatchWriter.POLICY, said=f"{audited.statement.place}: {proposal.finding.why}.")
            proofs = proposal.finding.proofs
            if proposal.kind is ProposalKind.REMIND:
                name = f"told-{audited.statement.id}"
                scope = Scope(project=project, at_call=True)
                said = RuleSituation(said=proposal.reminder)
                yield (
                    proposal,
                    Patch(Form.RULE, Action.ADD, name, proposal.reminder, scope, origin, proofs=proofs, situation=said),
                )
            elif proposal.passage is not None:
                change = proposal.passage
                name, before = change.name(real), digest(change.before)
                yield (
                    proposal,
                    Patch(
                        Form.STATEMENT, Action.CHANGE, name, change.after, origin=origin, proofs=proofs, before=before
                    ),
                )


def _text(path: Path, root: str) -> tuple[str, str] | None:
    """Where a file of the project really is, and its words; None for one that Whet does not change."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)) or not is_read_by_agents(str(real)):
        return None
    try:
        return str(real), files.decoded(files.read(files.at(real)) or b"", real)
    except WhetError:  # it is not UTF-8, or nobody may read it: the audit says so
        return None


def _proposed(
    home: Home, database: Database, proposal: StatementProposal, patch: Patch, *, now: float
) -> ProposedStatement:
    try:
        return ProposedStatement(proposal, propose(home, database, patch, actor=Actor.POLICY, now=now))
    except WhetError as error:
        return ProposedStatement(proposal, None, str(error))
