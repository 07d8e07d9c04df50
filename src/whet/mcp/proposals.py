"""What an agent proposes: a rule that waits for a person. No agent can put one in force.

The agent may have read anything before it wrote the words, so they are trusted as a stranger's, whatever they were
written from.
"""

import re
import time
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from whet.changes.pending import approve, propose
from whet.errors import WhetError
from whet.ledger.entries import Actor, Step
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, Proof, Scope
from whet.mcp.answers import QUOTE_LETTERS, shortened
from whet.mcp.lessons import project_in
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.text.likeness import sense
from whet.text.showing import shown

NAME_LETTERS = 40
REASON_LETTERS = 2_000  # the ledger keeps it for good
SESSION_LETTERS = 200
_WORD = re.compile("[a-z0-9]+")


@dataclass(frozen=True)
class ProposalAnswer:
    """What became of a proposal: it waits for a person."""

    number: int
    name: str
    state: str
    next: str


class Proposal(NamedTuple):
    """What an agent proposes: a text for a folder's project, and what it was written from."""

    text: str
    reason: str
    folder: str
    session: str = ""


def drafted(given: Proposal) -> Patch:
    """The change that a proposal comes to."""
    if len(given.session) > SESSION_LETTERS:
        raise WhetError("There is no session with an id of this length.", advice="Leave the session out.")
    return _free(project_in(given.folder), given.text, given.reason, given.session)


def question_of(patch: Patch) -> str:
    """What the person is asked: the very text that would be in force, and where."""
    where = f"in {patch.scope.project}" if patch.scope.project else "in every project"
    return f"Put this rule in force {shown(where)}?\n\n{shown(patch.text)}"


def suggest(home: Home, given: Proposal) -> ProposalAnswer:
    """Put a rule among the changes that wait for a person."""
    with opened(home) as database:
        patch = drafted(given)
        entry = propose(home, database, patch, actor=Actor.AGENT, now=time.time())
    state = "waits for a person" if entry.step is Step.PROPOSED else entry.step.value
    advice = f"whet lessons show {entry.number}; to test it: whet try {entry.number}"
    return ProposalAnswer(number=entry.number, name=patch.name, state=state, next=advice)


def put_in_force(home: Home, made: ProposalAnswer, asked: Set[str]) -> ProposalAnswer:
    """Approve what was proposed, on the word that the person gave through the client; nothing but what they saw."""
    with opened(home) as database:
        if ledger_of(home, database).entry(made.number).patch.id not in asked:
            return made
        approve(home, database, made.number, actor=Actor.PERSON, now=time.time())
    return replace(made, state="in force", next="whet ledger undo")


def _free(project: str, text: str, reason: str, session: str) -> Patch:
    telling = (word for word in _WORD.findall(text.lower()) if sense(word).words)
    name = "-".join(dict.fromkeys(telling))[:NAME_LETTERS].strip("-") or "rule"
    proofs = (Proof(session, quote=shortened(reason, QUOTE_LETTERS)),) if session else ()
    return Patch(
        Form.RULE,
        Action.ADD,
        name,
        text,
        Scope(project=project),
        origin=PatchOrigin(PatchWriter.AGENT, said=shortened(reason, REASON_LETTERS)),
        trust=Trust.EXTERNAL,
        proofs=proofs,
    )
