"""Notes changed through the ledger: matched, checked against what is there, and undone like anything else."""

from collections.abc import Sequence

from whet.changes.author import Author, give
from whet.ledger.entries import Entry, State
from whet.ledger.patch_faults import LIMITS, TextLimits
from whet.store.memory_files import Shelf, load
from whet.told import memory
from whet.told.memory import Memory, Note, NoteChange, Refusal

# A person may write a note as long as its page.
PERSONS = TextLimits(note=max(memory.LIMITS.values()))


def notes_of(author: Author, name: str) -> Memory:
    """The notes as they are now, with the ids, sources and dates that the ledger has of them."""
    return load(Shelf(author.home.folder), name, known(author.state, name))


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
