"""Where things in force stand in the home folder, what may not be done to them, and how their files are changed."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from whet.agents.places import is_read_by_agents
from whet.errors import WhetError
from whet.ledger.entries import Actor, Key, State
from whet.ledger.folding import Move
from whet.ledger.marked_block import find_passage, passage_place, replace_passage
from whet.ledger.patches import Action, Form, Patch, digest
from whet.own.told import note_pages, skills
from whet.own.told.memory import complaint, overflow
from whet.own.told.skills import FILE, Skill
from whet.sessions.trust import Trust
from whet.store import files
from whet.store.files import Conflict, Place
from whet.store.home import Home
from whet.store.skill_files import FOLDER, archive, bring_back, read_text, usable

WRITABLE = 0o222
PAGES: dict[tuple[str, ...], str] = {("memory.md",): "memory", ("user.md",): "user"}


class Edit(NamedTuple):
    """One file from one content to another."""

    place: Place
    before: bytes | None
    after: bytes | None


def place_of(home: Home, key: Key) -> Place:
    """The file that a thing stands in. Its name was checked by its form; each part of it is checked again here."""
    match key.form:
        case Form.NOTE:
            return files.beneath(home.folder, f"{key.name.partition('/')[0]}.md")
        case Form.SKILL:
            return files.beneath(home.folder, "skills", key.name, "SKILL.md")
        case Form.FILE:
            return files.beneath(home.folder, "skills", *key.name.split("/"))
        case Form.TEMPLATE:
            return files.beneath(home.folder, "templates", f"{key.name}.json")
        case Form.JOB:
            return files.beneath(home.folder, "jobs", f"{key.name}.toml")
        case Form.STATEMENT:
            return files.at(Path(passage_place(key.name).path))
        case Form.RULE:
            raise AssertionError("rules stand in the ledger alone")


def current(home: Home, key: Key, wanted: str) -> str | None:
    """The text that stands there now. On a page of notes, a note is known by the digest of its words."""
    place = place_of(home, key)
    text = _decoded(place, files.read(place))
    if key.form is Form.STATEMENT and text is not None:
        return find_passage(text, passage_place(key.name), wanted)
    if key.form is not Form.NOTE or text is None:
        return text
    return next((note.text for note in note_pages.placed(text) if digest(note.text) == wanted), None)


def is_done(home: Home, move: Move) -> bool:
    """Whether things stand as the move would leave them."""
    if move.key.form is Form.NOTE and move.after is None:
        return current(home, move.key, digest(move.before)) is None
    return current(home, move.key, digest(move.after)) == move.after


def edits(home: Home, moves: Iterable[Move]) -> tuple[Edit, ...]:
    """The changes of files that the moves come to, one for each file; raises Conflict where a text is another."""
    made: dict[Place, Edit] = {}
    for move in moves:
        place = place_of(home, move.key)
        body = files.read(place)
        edit = made.get(place, Edit(place, body, body))
        text = _decoded(place, edit.after)
        after = _CHANGED.get(move.key.form, _file)(place, text, move)
        made[place] = edit._replace(after=None if after is None else after.encode())
    # Files of a skill before the skill itself, which goes to the archive with all that is in its folder.
    changed = (edit for edit in made.values() if edit.before != edit.after)
    return tuple(sorted(changed, key=lambda edit: bool(_skill_of(edit.place))))


def expect_fitting(planned: Iterable[Edit]) -> None:
    """Raise WhetError where a page of notes would grow beyond its limit."""
    for edit in planned:
        name = PAGES.get(edit.place.names)
        if name:
            before, after = (_decoded(edit.place, body) or "" for body in (edit.before, edit.after))
            if refusal := overflow(name, before, after):
                raise complaint(refusal)


def write(edit: Edit) -> None:
    """Carry an edit out, durably; raises Conflict if the file changed since it was read."""
    root, skill = edit.place.root, _skill_of(edit.place)
    if edit.after is not None:
        if edit.before is not None or not skill or not bring_back(root, skill, edit.after):
            files.write(edit.place, edit.after, expected=edit.before)
    elif edit.before is not None and skill:
        archive(root, skill, expected=edit.before)
    elif edit.before is not None:
        files.remove(edit.place, expected=edit.before)


def _skill_of(place: Place) -> str:
    """The name of the skill whose SKILL.md this is: it goes to the archive, and comes back, with all its files."""
    return place.names[1] if place.names[::2] == (FOLDER, FILE) else ""


def _passage(place: Place, text: str | None, move: Move) -> str | None:
    """The file with a passage in the place of another, all other bytes kept."""
    if move.before is None or move.after is None or text is None:
        raise conflict(move.key, place)
    if not place.path.stat().st_mode & WRITABLE:
        raise WhetError(f"{place.path} is read-only.", advice="Make it writable first, or edit it yourself.")
    changed = replace_passage(text, move.before, move.after)
    if changed is None:
        raise conflict(move.key, place)
    return changed


def _file(place: Place, text: str | None, move: Move) -> str | None:
    if text != move.before:
        raise conflict(move.key, place)
    return move.after


def _page(place: Place, page: str | None, move: Move) -> str:
    old = None if move.before is None else _find(page or "", move.before)
    if (old is None) is not (move.before is None) or (move.after is not None and _find(page or "", move.after)):
        raise conflict(move.key, place)
    if move.after is None:
        return note_pages.removed(page or "", old) if old else page or ""
    after = note_pages.replaced(page or "", old, move.after) if old else note_pages.added(page or "", move.after)
    if _find(after, move.after) is None:
        raise WhetError(
            f"This text cannot be one note in {place.path}.",
            advice="Use plain lines, without headings and without spaces at the start or end.",
        )
    return after


_CHANGED = {Form.NOTE: _page, Form.STATEMENT: _passage}


def _find(page: str, text: str) -> note_pages.PlacedNote | None:
    return next((note for note in note_pages.placed(page) if note.text == text), None)


def _decoded(place: Place, body: bytes | None) -> str | None:
    return None if body is None else files.decoded(body, place.path)


def conflict(key: Key, place: Place) -> Conflict:
    return Conflict(
        f"The {key.form} {key.name} in {place.path} was edited by someone and was left unchanged.",
        advice="To continue, restore the text in `whet ledger show ID`, or keep the edit and change something else.",
    )


def expect_allowed(
    home: Home, state: State, patch: Patch, *, actor: Actor, beside: frozenset[str] = frozenset()
) -> None:
    """Raise WhetError where a patch would write no skill, change a person's, or double one that is there.

    `beside` are the skills of the same batch.
    """
    if patch.form is Form.STATEMENT and not is_read_by_agents(passage_place(patch.name).path):
        raise WhetError(f"No agent reads {patch.name.partition('#')[0]}.", advice="Edit it yourself.")
    if patch.form not in (Form.SKILL, Form.FILE):
        return
    name = patch.name.partition("/")[0]
    text = read_text(home.folder, name)
    if patch.form is Form.FILE and text is None and not (name in beside and patch.action is Action.ADD):
        raise WhetError(
            f"There is no skill {name}.", advice="Create or approve the skill first, then its support files."
        )
    if actor is not Actor.PERSON and text is not None and not is_agents(state, name):
        raise WhetError(
            f"The skill {name} belongs to a person and is read-only to agents.",
            advice=f"To let agents change it, a person can run `whet skills adopt {name}`.",
        )
    if patch.form is Form.SKILL and patch.action is not Action.REMOVE:
        _expect_sound(home, patch, text, actor=actor)


def is_agents(state: State, name: str) -> bool:
    """Whether agents may change a skill: one that was learned, or that a person handed over."""
    item = state.get(Form.SKILL, name)
    return item is not None and item.trust < Trust.OPERATOR


def _expect_sound(home: Home, patch: Patch, text: str | None, *, actor: Actor) -> None:
    skill = skills.read(patch.text)
    wrong = skills.faults(skill, folder=patch.name)
    if actor is not Actor.PERSON and text is None:
        wrong = skills.strict_faults(skill, folder=patch.name)
        _expect_new(home, skill)
    if wrong:
        raise WhetError(
            f"The skill {patch.name} is not a valid skill: {'; '.join(wrong)}.",
            advice="Front matter needs a name and a description; the instructions go below it.",
        )


def _expect_new(home: Home, skill: Skill) -> None:
    if skills.particular(skill.name):
        raise WhetError(
            f"{skill.name} names a single case, not a class of tasks.",
            advice="Name the class, such as release-notes, or add to an existing skill.",
        )
    known = skills.umbrella(skill.name, skill.description, usable(home.folder))
    if known:
        raise WhetError(
            f"The skill {known.name} already covers this: {known.description[:200]}",
            advice=f"Change {known.name}, or give it a support file.",
        )
