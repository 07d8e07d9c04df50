"""Who writes notes, skills, jobs and templates, from what, and how that is put in force or made to wait.

Notes and skills on behalf of an agent or a person: what was not read in its present state is not changed.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.apply import apply, apply_all
from whet.changes.pending import propose, supersede
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, State, Step
from whet.ledger.folding import fold, seen_from
from whet.ledger.patch_faults import LIMITS, TextLimits
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter, Proof, digest
from whet.own.examples import templates
from whet.own.examples.templates import Template
from whet.own.jobs.job import Job, check, written
from whet.own.told import memory, skills
from whet.own.told.memory import Memory, Note, NoteChange, Refusal
from whet.own.told.skills import FILE
from whet.sessions.trust import Trust, lowest
from whet.store import job_records, template_files
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.memory_files import MemoryFolder, load
from whet.store.recording import View, record_view, was_read
from whet.store.skill_files import archived_text, read_text, support_files
from whet.text.toml_edits import assigned

# Calls of an agent that had read what tools and strangers wrote: what they say may be theirs in other words.
TRUST_OF = {"mined": Trust.TOOL, "imported": Trust.EXTERNAL}
NOT_YOURS = {Form.JOB: "Ask the person to change it.", Form.TEMPLATE: "Create one under another name."}


# A person may write a note as long as its page.
PERSONS = TextLimits(note=max(memory.LIMITS.values()))


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


class ViewedSkillFile(NamedTuple):
    """A file of a skill as it was read, the skill's other files, and how far its words may be believed."""

    text: str
    digest: str
    files: tuple[str, ...]
    trust: Trust


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


def view(author: Author, name: str, file: str = FILE) -> ViewedSkillFile:
    """Read a skill or one of its files, and record that it was read in this state."""
    text = _standing(author, name, file)
    record_view(author.database, View(name, digest(text), author.session, file), now=author.now)
    own = _own_change(author, name, file, text)
    shown = own.patch.text if own else text
    return ViewedSkillFile(
        shown, digest(text), support_files(author.home.folder, name), _trust_of(author, name, file, text)
    )


def create(author: Author, name: str, description: str, body: str, files: Mapping[str, str] | None = None) -> Entry:
    """A new skill, with its support files by their names."""
    return add(author, name, skills.compose(name, description, body), files)[0]


def add(author: Author, name: str, text: str, files: Mapping[str, str] | None = None) -> tuple[Entry, ...]:
    """A new skill from the whole text of its SKILL.md, and its support files: all or nothing, and undone together."""
    for file in files or ():
        skills.file_names(file)
    beside = (Patch(Form.FILE, Action.ADD, f"{name}/{file}", body) for file, body in (files or {}).items())
    return give(author, [Patch(Form.SKILL, Action.ADD, name, text), *beside])


def revise(author: Author, name: str, text: str, file: str = FILE) -> Entry:
    """Another text for a skill or one of its files, which the author must have read as it is now.

    It takes the place of a change that the same session made before and that waits: two would be rivals, of which a
    person could approve one alone. As it holds the words of that one, it waits as well.
    """
    old = _standing(author, name, file)
    _expect_read(author, name, file, old)
    earlier = _own_change(author, name, file, old)
    if earlier is None:
        return give(author, [Patch(*_key(name, file), text, before=digest(old))])[0]
    lower = author._replace(trust=min(author.trust, earlier.patch.trust))
    with author.database.writing():
        made = give(lower, [Patch(*_key(name, file), text, before=digest(old))], waits=True)[0]
        if made.number != earlier.number:
            supersede(author.home, author.database, earlier, by=made, now=author.now)
    return made


def patch(author: Author, name: str, old: str, new: str, file: str = FILE) -> Entry:
    """Words in the place of others that stand there exactly once, or in what the same session lets wait for it."""
    text = _standing(author, name, file)
    earlier = _own_change(author, name, file, text)
    return revise(author, name, skills.replace_once(earlier.patch.text if earlier else text, old, new), file)


def write_file(author: Author, name: str, file: str, text: str) -> Entry:
    """A support file, new or in the place of one that the author has read; SKILL.md must have been read in any case.

    A skill that waits for a person takes new files, which wait with it, from the session that proposed it.
    """
    skills.file_names(file)
    waiting = _waiting(author, name)
    if waiting is not None and _is_by(author, waiting):
        return give(author, [Patch(Form.FILE, Action.ADD, f"{name}/{file}", text)], waits=True)[0]
    _expect_read(author, name, FILE, _standing(author, name, FILE))
    if read_text(author.home.folder, name, file) is not None:
        return revise(author, name, text, file)
    return give(author, [Patch(Form.FILE, Action.ADD, f"{name}/{file}", text)])[0]


def archive(author: Author, name: str) -> Entry:
    """Put a skill away with all its files; it can be brought back."""
    old = _standing(author, name, FILE)
    _expect_read(author, name, FILE, old)
    return give(author, [Patch(Form.SKILL, Action.REMOVE, name, before=digest(old))])[0]


def adopt(author: Author, name: str) -> Entry:
    """Let agents change a skill from now on: the ledger takes it in as it is."""
    text = _standing(author, name, FILE)
    return give(author, [Patch(Form.SKILL, Action.CHANGE, name, text, before=digest(text))])[0]


def restore(author: Author, name: str) -> Entry:
    """Bring the newest archived skill of a name back, with all its files."""
    return give(author, [Patch(Form.SKILL, Action.ADD, name, archived_text(author.home.folder, name))])[0]


def _trust_of(author: Author, name: str, file: str, text: str) -> Trust:
    """A SKILL.md is the person's order to agents; a support file that the ledger did not put there is just a file."""
    known = author.state.get(Form.FILE, f"{name}/{file}")
    is_known = file == FILE or (known is not None and known.text == text)
    return Trust.AGENT if is_known else Trust.TOOL


def _standing(author: Author, name: str, file: str) -> str:
    text = read_text(author.home.folder, name, file)
    if text is None and file == FILE and _waiting(author, name) is not None:
        raise WhetError(
            f"The skill {name} waits for a person's approval.",
            advice="Until then only support files can be added to it.",
        )
    if text is None:
        what = f"skill {name}" if file == FILE else f"file {file} in the skill {name}"
        raise WhetError(f"There is no {what}.", advice="To list the skills, run `whet skills`.")
    return text


def _expect_read(author: Author, name: str, file: str, text: str) -> None:
    view = View(name, digest(text), author.session, file)
    if author.actor is Actor.PERSON or _wrote(author, name, file, text):
        return
    if not was_read(author.database, view):
        raise WhetError(
            f"{name}/{file} has changed since you read it, or was never read.", advice="Read it, then change it."
        )


def _wrote(author: Author, name: str, file: str, text: str) -> bool:
    """Whether this session itself wrote what stands: it need not read its own words again."""
    form, _, key = _key(name, file)
    item = author.state.get(form, key)
    if item is None or item.text != text or not item.number:
        return False
    return _is_by(author, ledger_of(author.home, author.database).entry(item.number))


def _waiting(author: Author, name: str) -> Entry | None:
    """The skill of this name that waits for a person, where none stands."""
    if read_text(author.home.folder, name) is not None:
        return None
    new = (each for each in author.state.pending if each.patch.form is Form.SKILL and each.patch.action is Action.ADD)
    return next((each for each in new if each.patch.name == name), None)


def _own_change(author: Author, name: str, file: str, text: str) -> Entry | None:
    """The change of this text that waits, if the author made it in the same session."""
    form, action, key = _key(name, file)
    same = (form, action, key, digest(text))
    mine = (each for each in author.state.pending if _is_by(author, each))
    return next((e for e in mine if (e.patch.form, e.patch.action, e.patch.name, e.patch.before) == same), None)


def _is_by(author: Author, entry: Entry) -> bool:
    """Whether the author made this entry in the same session."""
    sessions = {proof.session for proof in author.proofs}
    return entry.actor is author.actor and any(proof.session in sessions for proof in entry.patch.proofs)


def _key(name: str, file: str) -> tuple[Form, Action, str]:
    if file == FILE:
        return Form.SKILL, Action.CHANGE, name
    return Form.FILE, Action.CHANGE, f"{name}/{file}"


def notes_of(author: Author, name: str) -> Memory:
    """The notes as they are now, with the ids, sources and dates that the ledger has of them."""
    return load(MemoryFolder(author.home.folder), name, known(author.state, name))


def known(state: State, name: str) -> tuple[Note, ...]:
    """The notes of a page that the ledger put there."""
    prefix = f"{name}/"
    return tuple(
        Note(item.name.removeprefix(prefix), item.text, item.trust.label, item.since, item.number)
        for item in state.notes
        if item.name.startswith(prefix)
    )


def remember(
    author: Author, name: str, changes: Sequence[NoteChange], *, limits: TextLimits = LIMITS
) -> tuple[Entry, ...] | Refusal:
    """Make all of the changes or none of them; what is refused is a value, for the writer to do better."""
    before = notes_of(author, name)
    after = memory.change(before, changes)
    if isinstance(after, Refusal):
        return after
    patches = memory.difference(before, after)
    return give(author, patches, limits=limits) if patches else ()
