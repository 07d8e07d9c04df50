"""Who writes notes, skills, jobs and templates, from what, and how that is put in force or made to wait."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.apply import apply, apply_all
from whet.changes.pending import propose
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, State, Step
from whet.ledger.folding import fold, seen_from
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patch_faults import LIMITS, TextLimits
from whet.ledger.patches import Action, Form, Patch, Proof, digest
from whet.own.examples import templates
from whet.own.examples.templates import Template
from whet.own.jobs.job import Job, check, written
from whet.sessions.trust import Trust, lowest
from whet.store import job_records, template_files
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.text.toml import assigned

# Calls of an agent that had read what tools and strangers wrote: what they say may be theirs in other words.
TRUST_OF = {"mined": Trust.TOOL, "imported": Trust.EXTERNAL}
NOT_YOURS = {Form.JOB: "Ask the person to change it.", Form.TEMPLATE: "Create one under another name."}


class Author(NamedTuple):
    """The hand that writes. `trust` is the lowest of all that it wrote from; `session` is where it read skills."""

    home: Home
    database: Database
    actor: Actor
    trust: Trust
    now: float
    session: str = ""
    origin: PatchOrigin = PatchOrigin()
    proofs: tuple[Proof, ...] = ()

    @property
    def state(self) -> State:
        return ledger_of(self.home, self.database).state()


def give(
    author: Author, patches: Sequence[Patch], *, limits: TextLimits = LIMITS, waits: bool = False
) -> tuple[Entry, ...]:
    """Put patches in force together; those of foreign trust, or that are to, wait for a person, each by itself."""
    given = [replace(each, trust=author.trust, origin=author.origin, proofs=author.proofs) for each in patches]
    if waits or any(patch.is_foreign for patch in given):
        return tuple(
            propose(author.home, author.database, patch, actor=author.actor, now=author.now, limits=limits)
            for patch in given
        )
    return apply_all(author.home, author.database, given, actor=author.actor, now=author.now, limits=limits)


def expect_own(author: Author, form: Form, name: str, *, advice: str) -> None:
    """Raise where an agent would change what a person made, by a command or by hand."""
    if author.actor is Actor.PERSON:
        return
    ledger = ledger_of(author.home, author.database)
    item = ledger.state().get(form, name)
    if item is None or not item.number or ledger.entry(item.number).actor is not author.actor:
        raise WhetError(f"The {form} {name} belongs to a person.", advice=advice)


def keep_job(author: Author, job: Job, *, replace: bool = False) -> Entry:
    """Put a job in its file. One that an agent wrote, or that came from elsewhere, waits for a person."""
    return _keep(author, Form.JOB, job.name, written(check(job)), replace=replace)


def pause_job(author: Author, name: str, *, paused: bool) -> Entry:
    """Let a job wait, or go on; all else that stands in its file stays as it is, comments too."""
    old = job_records.read_text(author.home.folder, name) or ""
    if job_records.load(author.home.folder, name).paused is paused:
        raise WhetError(
            f"Job {name} is already {'paused' if paused else 'active'}.", advice="To list the jobs, run `whet jobs`."
        )
    expect_own(author, Form.JOB, name, advice=NOT_YOURS[Form.JOB])
    text = assigned(old, ("paused",), paused)
    return give(author, [Patch(Form.JOB, Action.CHANGE, name, text, before=digest(old))])[0]


def keep_template(author: Author, template: Template, *, replace: bool = False) -> Entry:
    """Let a template wait until a person has seen it: nobody knows where the words of its calls come from."""
    hand = author._replace(
        trust=lowest((author.trust, TRUST_OF[template.made])),
        proofs=tuple(Proof(each.session, each.message, kind="example") for each in template.examples),
    )
    return _keep(hand, Form.TEMPLATE, template.name, templates.written(templates.check(template)), replace=replace)


def remove_named(author: Author, form: Form, name: str) -> Entry:
    """Take a job or a template away; it can be brought back by undoing that."""
    old = _text(author, form, name)
    if old is None:
        raise WhetError(f"There is no {form} {name}.", advice=f"To list the {form}s, run `whet {form}s`.")
    expect_own(author, form, name, advice=NOT_YOURS[form])
    return give(author, [Patch(form, Action.REMOVE, name, before=digest(old))])[0]


def _keep(author: Author, form: Form, name: str, text: str, *, replace: bool) -> Entry:
    old = _text(author, form, name)
    if old is not None and not replace:
        raise WhetError(f"A {form} named {name} already exists.", advice="Choose another name, or remove it first.")
    if old == text:
        raise WhetError(f"{form.capitalize()} {name} is unchanged.", advice="Nothing to change.")
    if old is not None:
        expect_own(author, form, name, advice=NOT_YOURS[form])
    action = Action.ADD if old is None else Action.CHANGE
    return give(author, [Patch(form, action, name, text, before=digest(old))])[0]


def _text(author: Author, form: Form, name: str) -> str | None:
    read = job_records.read_text if form is Form.JOB else template_files.read_text
    return read(author.home.folder, name)


def retire_template(home: Home, database: Database, name: str, *, now: float, reason: str) -> Entry:
    """Take away a template that live sessions speak against, whoever made it; undoing that brings it back."""
    old = template_files.read_text(home.folder, name)
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
