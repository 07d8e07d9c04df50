"""Curation: what has grown side by side in memory and skills, and how it could be one. Nothing here deletes."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Action, Form, Patch, digest
from whet.own.told.memory import PERSON, Memory, Note
from whet.own.told.skills import Skill, umbrella
from whet.text.likeness import sense, similarity
from whet.values import Value

DAY = 86_400
STALE_DAYS = 180.0
ALIKE_NOTES = 0.55  # of the telling words; what is more alike than that is refused when it is written


class Overlap(Value, frozen=True):
    """What was found, in words for a person, and the changes that would put it right."""

    what: str
    patches: tuple[Patch, ...]


def overlapping(skills: Sequence[Skill]) -> Iterator[Overlap]:
    """Pairs of skills for one kind of task, each skill in one pair at most; the one used more takes the other in."""
    taken: set[str] = set()
    ordered = sorted(skills, key=lambda skill: (-skill.uses, -len(skill.text), skill.name))
    for skill in ordered:
        others = [other for other in ordered if other.name not in taken and other.name != skill.name]
        if skill.name in taken:
            continue
        found = umbrella(skill.name, skill.description, others)
        if found is not None:
            taken |= {skill.name, found.name}
            yield _merging(skill, found)


def alike(memory: Memory) -> Iterator[Overlap]:
    """Pairs of notes that say much the same: the newer one stays."""
    dated = sorted(memory.notes, key=lambda note: note.at or 0.0)
    gone: set[str] = set()
    for older, newer in itertools.combinations(dated, 2):
        if older.id not in gone and _says_the_same(older, newer):
            gone.add(older.id)
            what = f"Two notes in {memory.name} are nearly the same; the newer one is “{newer.text}”"
            yield Overlap(what, (_removal(memory, older, what),))


def stale(memory: Memory, *, now: float, days: float = STALE_DAYS) -> Iterator[Overlap]:
    """Notes that an agent wrote long ago. A person's own note is never stale."""
    for note in memory.notes:
        if note.source != PERSON and note.at is not None and now - note.at > days * DAY:
            what = f"A note in {memory.name} is {(now - note.at) / DAY:.0f} days old"
            yield Overlap(what, (_removal(memory, note, what),))


def findings(skills: Sequence[Skill], memories: Iterable[Memory], *, now: float, days: float) -> tuple[Overlap, ...]:
    """Everything that was found, each note once."""
    found = list(overlapping(skills))
    for memory in memories:
        same = list(alike(memory))
        named = {patch.name for finding in same for patch in finding.patches}
        old = [each for each in stale(memory, now=now, days=days) if each.patches[0].name not in named]
        found += [*same, *old]
    return tuple(found)


def merged(skill: Skill, other: Skill) -> str:
    """The text of a skill with another one's instructions below its own."""
    return f"{skill.text.rstrip()}\n\n## {other.name}\n\n{other.description}\n\n{other.body.strip()}\n"


def _merging(skill: Skill, other: Skill) -> Overlap:
    what = f"The skills {skill.name} and {other.name} are for the same kind of task"
    return Overlap(
        what,
        (
            Patch(
                Form.SKILL,
                Action.CHANGE,
                skill.name,
                merged(skill, other),
                origin=_origin(f"{what}."),
                before=skill.digest,
            ),
            Patch(
                Form.SKILL,
                Action.REMOVE,
                other.name,
                origin=_origin(
                    f"{what}. Approve this after the change to {skill.name}: it is archived with its files."
                ),
                before=other.digest,
            ),
        ),
    )


def _origin(said: str) -> PatchOrigin:
    return PatchOrigin(PatchWriter.POLICY, said=said)


def _removal(memory: Memory, note: Note, what: str) -> Patch:
    return Patch(
        Form.NOTE, Action.REMOVE, f"{memory.name}/{note.id}", origin=_origin(f"{what}."), before=digest(note.text)
    )


def _says_the_same(one: Note, other: Note) -> bool:
    first, second = sense(one.text), sense(other.text)
    return first.forbids == second.forbids and similarity(first.words, second.words) >= ALIKE_NOTES
