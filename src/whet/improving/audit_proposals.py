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
from whet.lessons.statements.audit import Audit
from whet.lessons.statements.proposing import StatementProposal, better_place, copied_to, moved, proposals, says
from whet.lessons.statements.statement import AuditedStatement, StatementMark
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of

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
    state = ledger_of(home, database).state()
    reminders = frozenset(
        name for each in audit.statements if state.get(Form.RULE, name := _reminder_of(each)) is not None
    )
    return tuple(
        _proposed(home, database, each, patch, now=now)
        for each, patch in islice(patches_of(audit, project=project, reminders=reminders), MOST)
    )


def patches_of(
    audit: Audit, *, project: str, reminders: frozenset[str] = frozenset()
) -> Iterator[tuple[StatementProposal, Patch]]:
    """The changes of an audit, each as a patch of the passage that it shows; `reminders` are those in force."""
    texts = {file.path: _text(Path(audit.root) / file.path, audit.root) for file in audit.files if file.text}
    places = {each: found for each in audit.statements if (found := better_place(each, audit.files))}
    kept = {(found.path, " ".join(each.statement.text.split())) for each, found in places.items()}
    for audited in audit.statements:
        real, text = texts.get(audited.statement.file) or ("", "")
        # What was copied to where it is needed stands there on purpose.
        if not text or (audited.statement.file, " ".join(audited.statement.text.split())) in kept:
            continue
        reminder, place = _reminder_of(audited), places.get(audited)
        is_said = f"the reminder {reminder} at the call" if reminder in reminders else ""
        if place and says(place, audited.statement):
            is_said = place.path
        there = texts.get(place.path) if place and not is_said else None
        copied = copied_to(audited, place, there[1]) if place and there else None
        gone = moved(audited, text, is_said) if is_said else None
        for proposal in (gone,) if gone else (copied,) if copied else proposals(audited, text):
            if proposal.passage is not None:
                yield proposal, _change(proposal, there[0] if there and proposal.file else real)
            elif reminder not in reminders:
                yield proposal, _rule(proposal, reminder, project)


def _reminder_of(audited: AuditedStatement) -> str:
    return f"told-{audited.statement.id}"


def _origin(proposal: StatementProposal) -> PatchOrigin:
    by = PatchWriter.MODEL if proposal.finding.mark is StatementMark.READ else PatchWriter.POLICY
    return PatchOrigin(by, said=f"{proposal.audited.statement.place}: {proposal.finding.why}.")


def _rule(proposal: StatementProposal, name: str, project: str) -> Patch:
    scope, moment = Scope(project=project, at_call=True), proposal.finding.where
    # What was to be done before a call is said at that call; else at the calls that it is against.
    said = RuleSituation(moment, before=proposal.finding.named) if moment else RuleSituation(said=proposal.reminder)
    proofs, origin = proposal.finding.proofs, _origin(proposal)
    return Patch(Form.RULE, Action.ADD, name, proposal.reminder, scope, origin, proofs=proofs, situation=said)


def _change(proposal: StatementProposal, real: str) -> Patch:
    assert proposal.passage is not None
    name, before = proposal.passage.name(real), digest(proposal.passage.before)
    proofs, origin = proposal.finding.proofs, _origin(proposal)
    return Patch(
        Form.STATEMENT, Action.CHANGE, name, proposal.passage.after, origin=origin, proofs=proofs, before=before
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
