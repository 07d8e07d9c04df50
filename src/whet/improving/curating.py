"""Curating: what overlaps or is stale in memory and skills waits for a person, as changes with a diff."""

import itertools
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from whet.changes.pending import propose
from whet.changes.writing import known
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter, digest
from whet.own.told.memory import PERSON, Memory, Note
from whet.own.told.skills import Skill, umbrella
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.memory_files import MemoryFolder, load
from whet.store.recording import skill_uses
from whet.store.skill_files import usable
from whet.text.likeness import sense, similarity
from whet.values import Value

PAGES = ("memory", "user")
DAY = 86_400
STALE_DAYS = 180
ALIKE_NOTES = 0.55  # of the telling words; what is more alike than that is refused when it is written


class Overlap(Value, frozen=True):
    """What was found, in words for a person, the changes that would put it right, and those that wait or cannot be."""

    what: str
    patches: tuple[Patch, ...]
    pending: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()


def look(home: Home, database: Database, *, now: float) -> tuple[Overlap, ...]:
    """What overlaps or is stale, without proposing anything; each note once."""
    counted = skill_uses(database)
    skills = [
        replace(skill, uses=counted[skill.name].views) if skill.name in counted else skill
        for skill in usable(home.folder)
    ]
    state = ledger_of(home, database).state()
    found = list(_overlapping(skills))
    for page in PAGES:
        memory = load(MemoryFolder(home.folder), page, known(state, page))
        same = list(_alike(memory))
        named = {each.patches[0].name for each in same}
        found += [*same, *(each for each in _stale(memory, now=now) if each.patches[0].name not in named)]
    return tuple(found)


def curate(home: Home, database: Database, *, now: float) -> tuple[Overlap, ...]:
    """Propose what would put things right. A person decides on each change; nothing is changed here."""
    return tuple(_proposed(home, database, each, now) for each in look(home, database, now=now))


def _proposed(home: Home, database: Database, found: Overlap, now: float) -> Overlap:
    pending, refused = [], []
    for patch in found.patches:
        try:
            pending.append(propose(home, database, patch, actor=Actor.POLICY, now=now).number)
        except WhetError as error:
            refused.append(str(error))
    return replace(found, pending=tuple(pending), refused=tuple(refused))


def _overlapping(skills: Sequence[Skill]) -> Iterator[Overlap]:
    """Pairs of skills for one kind of task, each skill in one pair at most; the one used more takes the other in."""
    taken: set[str] = set()
    ordered = sorted(skills, key=lambda skill: (-skill.uses, -len(skill.text), skill.name))
    for skill in ordered:
        others = [other for other in ordered if other.name not in taken and other.name != skill.name]
        other = umbrella(skill.name, skill.description, others) if skill.name not in taken else None
        if other is None:
            continue
        taken |= {skill.name, other.name}
        what = f"The skills {skill.name} and {other.name} are for the same kind of task"
        text = f"{skill.text.rstrip()}\n\n## {other.name}\n\n{other.description}\n\n{other.body.strip()}\n"
        after = f"{what}. Approve this after the change to {skill.name}: it is archived with its files."
        joined = Patch(Form.SKILL, Action.CHANGE, skill.name, text, origin=_origin(f"{what}."), before=skill.digest)
        archived = Patch(Form.SKILL, Action.REMOVE, other.name, origin=_origin(after), before=other.digest)
        yield Overlap(what, (joined, archived))


def _alike(memory: Memory) -> Iterator[Overlap]:
    """Pairs of notes that say much the same: the newer one stays."""
    dated = sorted(memory.notes, key=lambda note: note.at or 0.0)
    gone: set[str] = set()
    for older, newer in itertools.combinations(dated, 2):
        first, second = sense(older.text), sense(newer.text)
        is_same = first.forbids == second.forbids and similarity(first.words, second.words) >= ALIKE_NOTES
        if older.id not in gone and is_same:
            gone.add(older.id)
            what = f"Two notes in {memory.name} are nearly the same; the newer one is “{newer.text}”"
            yield Overlap(what, (_removal(memory, older, what),))


def _stale(memory: Memory, *, now: float) -> Iterator[Overlap]:
    """Notes that an agent wrote long ago. A person's own note is never stale."""
    for note in memory.notes:
        if note.source != PERSON and note.at is not None and now - note.at > STALE_DAYS * DAY:
            what = f"A note in {memory.name} is {(now - note.at) / DAY:.0f} days old"
            yield Overlap(what, (_removal(memory, note, what),))


def _removal(memory: Memory, note: Note, what: str) -> Patch:
    name = f"{memory.name}/{note.id}"
    return Patch(Form.NOTE, Action.REMOVE, name, origin=_origin(f"{what}."), before=digest(note.text))


def _origin(said: str) -> PatchOrigin:
    return PatchOrigin(PatchWriter.POLICY, said=said)
