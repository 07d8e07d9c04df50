"""Memory and skills for the agent: read freely, and changed through the ledger only."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from msgspec import Meta

from whet.agent.tools.situation import Given, Occasion, failed
from whet.changes import skill_changes
from whet.changes.author import Author
from whet.changes.notes import notes_of, remember
from whet.ledger import Entry, Step
from whet.memory import Change, Refusal, complaint
from whet.patches import Action
from whet.skills import FILE
from whet.store.opening import opened
from whet.store.skill_files import list_skills
from whet.trust import Trust

ACTIONS = {"add": Action.ADD, "replace": Action.CHANGE, "remove": Action.REMOVE}
REASON = "written by the agent in a session"


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
        if action == "list":
            notes = notes_of(author, page)
            lines = [f"{note.id}  {note.text}" for note in notes.notes]
            room = f"{notes.size} of {notes.limit} characters used."
            return Given("\n".join([*lines, room]), trust=Trust.AGENT)
        made = remember(author, page, [Change(ACTIONS[action], text, match)])
        if isinstance(made, Refusal):
            error = complaint(made)
            return failed(f"{error.message} {error.advice}")
        return _told(made)


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
        if action == "list":
            found = [each for each in list_skills(author.home.folder) if each.skill]
            lines = [f"{each.name}: {each.skill.description}" for each in found if each.skill]
            return Given("\n".join(lines) or "There are no skills yet.", trust=Trust.AGENT)
        if action == "view":
            viewed = skill_changes.view(author, name, file)
            also = f"\n[files: {', '.join(viewed.files)}; in {author.home.folder / 'skills' / name}]"
            return Given(viewed.text + (also if viewed.files else ""), trust=Trust.AGENT)
        if action == "create":
            return _told([skill_changes.create(author, name, description, text)])
        if action == "patch":
            return _told([skill_changes.patch(author, name, old, text, file)])
        if action == "write_file":
            return _told([skill_changes.write_file(author, name, file, text)])
        return _told([skill_changes.archive(author, name)])


@contextlib.contextmanager
def _author(occasion: Occasion, text: str) -> Iterator[Author]:
    """The agent as the writer of this text, on a connection of its own: calls may come from any thread."""
    situation = occasion.situation
    trust = occasion.workplace.lineage.trust_of(text)
    with opened(situation.home) as database:
        now = situation.now()
        yield Author(situation.home, database, situation.actor, trust, now, situation.session, REASON)


def _told(entries: Iterable[Entry]) -> Given:
    """What became of a change, so that the model does not take what waits for what is done."""
    made = tuple(entries)
    if not made:
        return Given("That is there already; nothing was changed.", trust=Trust.AGENT)
    waiting = [f"{entry.patch.form} {entry.patch.name}" for entry in made if entry.step is Step.PROPOSED]
    if waiting:
        text = f"Not in force yet, it waits for a person's approval: {', '.join(waiting)}. Tell the user; do not retry."
        return Given(text, trust=Trust.AGENT)
    done = ", ".join(f"{entry.patch.form} {entry.patch.name}" for entry in made)
    return Given(f"Done: {done}. It counts from the next session on.", trust=Trust.AGENT)
