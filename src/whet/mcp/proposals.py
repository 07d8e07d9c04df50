"""What an agent proposes: a rule that waits for a person. No agent can put one in force.

The agent may have read anything before it wrote the words, so they are trusted as a stranger's, whatever they were
written from.
"""

import re
import time
from dataclasses import dataclass, replace

from msgspec import structs

from whet.changes.pending import approve, propose
from whet.errors import WhetError
from whet.ledger.entries import Actor, Step
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, Proof, Scope
from whet.lessons.bearing_out import bearing_out
from whet.lessons.drafts import patch_of_draft
from whet.lessons.evidence import read_answer
from whet.mcp.answers import QUOTE_LETTERS, shortened
from whet.mcp.lessons import evidence_of, lesson_in, project_in
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.text.likeness import sense

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


def suggest(home: Home, *, text: str, reason: str, folder: str, session: str = "", lesson: str = "") -> ProposalAnswer:
    """Put a rule among the changes that wait for a person; one that is written for a lesson keeps its evidence."""
    if len(session) > SESSION_LETTERS:
        raise WhetError("There is no session with an id of this length.", advice="Leave the session out.")
    with opened(home) as database:
        project = project_in(folder)
        patch = _from_lesson(home, database, project, lesson, text) if lesson else _free(project, text, reason, session)
        entry = propose(home, database, patch, actor=Actor.AGENT, now=time.time())
    state = "waits for a person" if entry.step is Step.PROPOSED else entry.step.value
    advice = f"whet pending show {entry.number}; to test it: whet try --pending {entry.number}"
    return ProposalAnswer(number=entry.number, name=patch.name, state=state, next=advice)


def put_in_force(home: Home, made: ProposalAnswer) -> ProposalAnswer:
    """Approve what was proposed, on the word that the person gave through the client."""
    with opened(home) as database:
        approve(home, database, made.number, actor=Actor.PERSON, now=time.time())
    return replace(made, state="in force", next="whet ledger undo")


def _from_lesson(home: Home, database: Database, project: str, id: str, text: str) -> Patch:
    """A draft for a lesson, held to what the model writer is held to: short, no secret, and of this evidence."""
    lesson = lesson_in(home, database, project, id)
    seen = evidence_of(lesson)
    draft, why = read_answer(text, seen)
    if draft is None:
        raise WhetError(f"Not proposed: {why}.", advice="Write it anew from the lesson's evidence, or leave it.")
    part = bearing_out(lesson.evidence, draft)
    patch = patch_of_draft(draft, part, project)
    return structs.replace(patch, trust=Trust.EXTERNAL, origin=structs.replace(patch.origin, writer=PatchWriter.AGENT))


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
