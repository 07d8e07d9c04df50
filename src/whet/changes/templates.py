"""Templates kept and removed through the ledger: with their provenance, never more trusted than what they hold."""

from whet.changes.apply import apply
from whet.changes.author import Author, expect_own, give
from whet.errors import WhetError
from whet.examples import templates
from whet.examples.templates import Template
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.folding import fold, seen_from
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, Proof, digest
from whet.sessions.trust import Trust, lowest
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.template_files import read_text

# Calls of an agent that had read what tools and strangers wrote: what they say may be theirs in other words.
TRUST_OF = {"mined": Trust.TOOL, "imported": Trust.EXTERNAL}
NOT_YOURS = "Create one under another name."


def keep(author: Author, template: Template, *, replace: bool = False) -> Entry:
    """Let a template wait until a person has seen it: nobody knows where the words of its calls come from."""
    text = templates.written(templates.check(template))
    old = read_text(author.home.folder, template.name)
    if old is not None and not replace:
        raise WhetError(
            f"A template named {template.name} already exists.", advice="Choose another name, or replace it."
        )
    if old == text:
        raise WhetError(f"Template {template.name} is unchanged.", advice="Nothing to change.")
    if old is not None:
        expect_own(author, Form.TEMPLATE, template.name, advice=NOT_YOURS)
    hand = author._replace(
        trust=lowest((author.trust, TRUST_OF[template.made])),
        proofs=tuple(Proof(each.session, each.message, kind="example") for each in template.examples),
    )
    action = Action.ADD if old is None else Action.CHANGE
    return give(hand, [Patch(Form.TEMPLATE, action, template.name, text, before=digest(old))])[0]


def remove(author: Author, name: str) -> Entry:
    """Take a template away; it can be brought back by undoing that."""
    old = read_text(author.home.folder, name)
    if old is None:
        raise WhetError(f"There is no template {name}.", advice="To list the templates, run `whet templates`.")
    expect_own(author, Form.TEMPLATE, name, advice=NOT_YOURS)
    return give(author, [Patch(Form.TEMPLATE, Action.REMOVE, name, before=digest(old))])[0]


def retire(home: Home, database: Database, name: str, *, now: float, reason: str) -> Entry:
    """Take away a template that live sessions speak against, whoever made it; undoing that brings it back."""
    old = read_text(home.folder, name)
    patch = Patch(
        Form.TEMPLATE,
        Action.REMOVE,
        name,
        origin=PatchOrigin(PatchWriter.POLICY, said=reason),
        trust=Trust.OPERATOR,
        before=digest(old),
    )
    return apply(home, database, patch, actor=Actor.WATCH, now=now)


def overruled_at(home: Home, database: Database) -> dict[str, float]:
    """When the watch last took a template away, by its name, where nobody but a person can have brought it back."""
    ledger = ledger_of(home, database)
    entries = {entry.number: entry for entry in ledger.entries() if entry.patch.form is Form.TEMPLATE}
    state = seen_from(ledger.home, fold(entries.values()))
    found: dict[str, float] = {}
    for entry in entries.values():
        taken = (entry.actor, entry.step, entry.patch.action) == (Actor.WATCH, Step.APPLIED, Action.REMOVE)
        if not taken or entry.home != ledger.home:
            continue
        item = state.get(Form.TEMPLATE, entry.patch.name)
        # What was undone has its old number; a file without an entry was put there by hand.
        later = entries.get(item.number) if item and item.number > entry.number else None
        if later is None or later.actor is Actor.PERSON:
            found[entry.patch.name] = entry.at
    return found
