"""Memory and skills for the agent: read freely, and changed through the ledger only."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from msgspec import Meta

from whet.agent.tools.situation import Given, Occasion, failed
from whet.changes import skill_changes
from whet.changes.author import Author
from whet.changes.skill_changes import notes_of, remember
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Proof
from whet.sessions.transcripts import session_id
from whet.sessions.trust import Trust
from whet.store.opening import opened
from whet.store.recording import SOURCE
from whet.store.skill_files import list_skills
from whet.told.memory import Memory, NoteChange, Refusal, complaint
from whet.told.skills import FILE

ACTIONS = {"add": Action.ADD, "replace": Action.CHANGE, "remove": Action.REMOVE}


def memory(
    occasion: Occasion,
    *,
    action: Literal["list", "add", "replace", "remove"],
    page: Annotated[Literal["memory", "user"], Meta(description="user: about the person")] = "memory",
    text: str = "",
    match: Annotated[str, Meta(description="id or words of the note to replace or remove")] = "",
) -> Given:
    """Notes that last beyond this session."""
    with _author(occasion, text or match) as author:
        try:
            if action == "list":
                return _listed(notes_of(author, page))
            made = remember(author, page, [NoteChange(ACTIONS[action], text, match)])
            if isinstance(made, Refusal):
                raise complaint(made)
            return _answer_about(made)
        except WhetError as error:
            return _refused(error)


def skills(  # noqa: PLR0913 - a tool takes what its model may say
    occasion: Occasion,
    *,
    action: Literal["list", "view", "create", "patch", "write_file", "archive"],
    name: str = "",
    file: Annotated[str, Meta(description="such as references/guide.md")] = FILE,
    description: Annotated[str, Meta(description="for create: what it is for, and when to use it")] = "",
    text: Annotated[str, Meta(description="for create and write_file: the whole text; for patch: the new words")] = "",
    old: Annotated[str, Meta(description="for patch: the words to replace, which occur once")] = "",
) -> Given:
    """Skills: how kinds of tasks are done here. View one before you use or change it."""
    with _author(occasion, f"{description}\n{text}") as author:
        try:
            if action == "list":
                return _index(author)
            if action == "view":
                return _view(author, name, file)
            if action == "create":
                return _answer_about([skill_changes.create(author, name, description, text)])
            if action == "patch":
                return _answer_about([skill_changes.patch(author, name, old, text, file)])
            if action == "write_file":
                return _answer_about([skill_changes.write_file(author, name, file, text)])
            return _answer_about([skill_changes.archive(author, name)])
        except WhetError as error:
            return _refused(error)


def _listed(notes: Memory) -> Given:
    lines = [f"{note.id}  {note.text}" for note in notes.notes]
    return Given("\n".join([*lines, f"{notes.size} of {notes.limit} characters used."]), trust=Trust.AGENT)


def _index(author: Author) -> Given:
    lines = [f"{each.name}: {each.skill.description}" for each in list_skills(author.home.folder) if each.skill]
    return Given("\n".join(lines) or "There are no skills yet.", trust=Trust.AGENT)


def _view(author: Author, name: str, file: str) -> Given:
    viewed = skill_changes.view(author, name, file)
    also = f"\n[files: {', '.join(viewed.files)}; in {author.home.folder / 'skills' / name}]" if viewed.files else ""
    return Given(viewed.text + also, trust=viewed.trust)


@contextlib.contextmanager
def _author(occasion: Occasion, text: str) -> Iterator[Author]:
    """The agent as the writer of this text, on a connection of its own: calls may come from any thread."""
    situation = occasion.situation
    trust = occasion.workplace.lineage.trust_of(text)
    with opened(situation.home) as database:
        now = situation.now()
        proof = Proof(session_id(SOURCE, situation.session), kind=situation.occasion)
        said = f"written by the agent in {situation.occasion}{occasion.workplace.because(text)}"
        origin = PatchOrigin(PatchWriter.AGENT, SOURCE, said=said)
        yield Author(situation.home, database, Actor.AGENT, trust, now, situation.session, origin, (proof,))


def _refused(error: WhetError) -> Given:
    """What Whet says about a change is its own word: it makes nothing foreign of what the agent writes next."""
    return failed(f"{error.message} {error.advice}".strip())


def _answer_about(entries: Iterable[Entry]) -> Given:
    """What became of a change, so that the model does not take what waits for what is done."""
    made = tuple(entries)
    if not made:
        return Given("That is there already; nothing was changed.", trust=Trust.AGENT)
    waiting = [f"{entry.patch.form} {entry.patch.name}" for entry in made if entry.step is Step.PROPOSED]
    if waiting:
        text = f"Not in force yet, it waits for a person's approval: {', '.join(waiting)}. Tell the user; do not retry."
        return Given(text, trust=Trust.AGENT)
    done = ", ".join(f"{entry.patch.form} {entry.patch.name}" for entry in made)
    text = f"Done: {done}. It counts from the next session on; change it further without viewing it again."
    return Given(text, trust=Trust.AGENT)
