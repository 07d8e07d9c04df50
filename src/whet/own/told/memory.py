"""Memory: notes about the user and the setting, and changes to them that are unambiguous or refused."""

import hashlib
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from itertools import count
from typing import NamedTuple

from whet.errors import WhetError
from whet.ledger.patches import Action, Form, Patch, digest
from whet.own.told import note_pages
from whet.own.told.note_pages import PageForm, is_mistakable
from whet.text.characters import first_hidden
from whet.text.words import cut
from whet.values import Value

LIMITS = {"memory": 2200, "user": 1375}  # in characters; Hermes' own, so that what fits here fits there
PERSON = "person"
ID_BYTES = 4
SHOWN_CHARACTERS = 100


class Note(Value, frozen=True):
    """One fact. Its source, date and entry come from the ledger; a note that is not in it was written by a person."""

    id: str
    text: str
    source: str = PERSON
    at: float | None = None
    entry: int = 0


class Memory(Value, frozen=True):
    """The notes of one page, as they stand on it."""

    name: str  # memory or user
    page: str = ""
    notes: tuple[Note, ...] = ()
    form: PageForm = PageForm.LIST

    @property
    def limit(self) -> int:
        return LIMITS[self.name]

    @property
    def size(self) -> int:
        return note_pages.size(self.page, self.form)

    def get(self, note_id: str) -> Note | None:
        return next((note for note in self.notes if note.id == note_id), None)


class NoteChange(Value, frozen=True):
    """One change. `match` is a note's id or words that only one note holds; `id` is for a note that comes back."""

    action: Action
    text: str = ""
    match: str = ""
    id: str = ""


class Reason(StrEnum):
    """Why a change was refused."""

    EMPTY = "empty"
    CHARACTERS = "characters"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    FULL = "full"


class Refusal(NamedTuple):
    """A change that was not made, and the notes that stand in its way. Nothing of its batch was made either."""

    reason: Reason
    message: str
    advice: str
    candidates: tuple[Note, ...] = ()


def read(name: str, page: str, known: Iterable[Note] = (), form: PageForm = PageForm.LIST) -> Memory:
    """The notes of a page. One of which the very words are known keeps its id; any other is a person's own."""
    waiting: dict[str, Note] = {note.text: note for note in known}
    taken = {note.id for note in waiting.values()}
    notes: list[Note] = []
    for found in note_pages.placed(page, form):
        note = waiting.pop(found.text, None) or Note(new_id(found.text, taken), found.text)
        taken.add(note.id)
        notes.append(note)
    return Memory(name, page, tuple(notes), form)


def change(memory: Memory, changes: Iterable[NoteChange], *, limit: int = 0) -> Memory | Refusal:
    """The memory after all of the changes, or why one of them cannot be: a batch is made wholly or not at all."""
    limit = limit or memory.limit
    result = memory
    for one in changes:
        made = _changed(result, one)
        if isinstance(made, Refusal):
            return made
        result = made
    # What a person wrote beyond the limit stays; it is only not added to.
    return _full(memory, result.size, limit) if limit < result.size > memory.size else result


def difference(before: Memory, after: Memory) -> tuple[Patch, ...]:
    """The patches that lead from one state of a memory to another, one for each note, still without reason or trust."""
    old, new = ({note.id: note.text for note in memory.notes} for memory in (before, after))
    ids = [*(each for each in old if each not in new), *(each for each in new if old.get(each) != new[each])]

    def patch(id: str) -> Patch:
        action = Action.REMOVE if id not in new else Action.CHANGE if id in old else Action.ADD
        return Patch(Form.NOTE, action, f"{before.name}/{id}", new.get(id, ""), before=digest(old.get(id)))

    return tuple(map(patch, ids))


def overflow(name: str, before: str, after: str) -> Refusal | None:
    """The refusal of a page that grows beyond its limit; one that was too long already may still shrink."""
    size = note_pages.size(after)
    return _full(read(name, before), size, LIMITS[name]) if LIMITS[name] < size > note_pages.size(before) else None


def complaint(refusal: Refusal) -> WhetError:
    """A refusal for people, with the notes that it is about."""
    lines = ((note.id, cut(" ".join(note.text.split()), SHOWN_CHARACTERS)) for note in refusal.candidates)
    listed = "".join(f"\n  {id}  {line}" for id, line in lines)
    return WhetError(f"{refusal.message}{listed}", advice=refusal.advice)


def normalised(text: str) -> str:
    """A note's text as it is kept: composed characters, plain newlines, no blanks at the ends of lines."""
    plain = unicodedata.normalize("NFC", text).replace("\r\n", "\n")
    return "\n".join(line.rstrip() for line in plain.split("\n")).strip()


def block(memory: Memory, *, limit: int = 0) -> str:
    """What an agent is told of it."""
    return note_pages.shown(memory.page, limit or memory.limit, memory.form)


def find(memory: Memory, match: str) -> Note | Refusal:
    """The one note that an id or a piece of text means."""
    by_id = memory.get(match)
    if by_id:
        return by_id
    wanted = _folded(match)
    found = tuple(note for note in memory.notes if wanted and wanted in _folded(note.text))
    exact = tuple(note for note in found if _folded(note.text) == wanted)
    if len(exact) == 1 or len(found) == 1:
        return (exact or found)[0]
    if found:
        advice = "Give an id, or more of the words of the one you mean."
        return Refusal(Reason.AMBIGUOUS, f"{len(found)} notes contain {match!r}.", advice, found)
    return Refusal(Reason.MISSING, f"No note contains {match!r}.", "Look at the existing notes.", memory.notes)


def new_id(text: str, taken: Iterable[str]) -> str:
    """An id for a new note, from its text; another one where that is taken."""
    used = frozenset(taken)
    made = (hashlib.blake2b(f"{number}\0{text}".encode(), digest_size=ID_BYTES).hexdigest() for number in count())
    return next(each for each in made if each not in used)


def _changed(memory: Memory, one: NoteChange) -> Memory | Refusal:
    """The memory after one change."""
    old = None if one.action is Action.ADD else find(memory, one.match)
    if isinstance(old, Refusal):
        return old
    text, page, form, notes = normalised(one.text), memory.page, memory.form, list(memory.notes)
    refusal = None if one.action is Action.REMOVE else _wrong(memory, text, but=old.id if old else "")
    if refusal:
        return refusal
    if old is None:
        page = note_pages.added(page, text, form)
        place = next(index for index, found in enumerate(note_pages.placed(page, form)) if found.text == text)
        taken = [note.id for note in notes]
        notes.insert(place, Note(one.id if one.id and one.id not in taken else new_id(text, taken), text))
    else:
        place = notes.index(old)
        there = note_pages.placed(page, form)[place]
        if one.action is Action.REMOVE:
            page = note_pages.removed(page, there, form)
            del notes[place]
        else:
            page = note_pages.replaced(page, there, text, form)
            notes[place] = Note(old.id, text)
    return Memory(memory.name, page, tuple(notes), form)


def _wrong(memory: Memory, text: str, *, but: str) -> Refusal | None:
    """Why a text can be no note beside the others."""
    if not text:
        return Refusal(Reason.EMPTY, "The note is empty.", "Write one fact.")
    if name := first_hidden(text):
        message = f"The note contains an invisible character: {name}."
        return Refusal(Reason.CHARACTERS, message, "Write it without that character.")
    wrong = next((line for line in text.split("\n") if is_mistakable(line)), None)
    if wrong is not None:
        return Refusal(
            Reason.CHARACTERS,
            f"The line {wrong.strip()!r} would be read as the end of a note or as a comment.",
            "Use other characters.",
        )
    same = tuple(note for note in memory.notes if note.id != but and _folded(note.text) == _folded(text))
    return Refusal(Reason.DUPLICATE, "The same note already exists.", "Nothing to do.", same) if same else None


def _full(memory: Memory, size: int, limit: int) -> Refusal:
    longest = tuple(sorted(memory.notes, key=lambda note: len(note.text), reverse=True)[:5])
    return Refusal(
        Reason.FULL,
        f"The notes would be {size:,} characters; {limit:,} is the limit.",
        "Join notes that belong together, shorten the longest, or remove what no longer holds, in the same batch.",
        longest,
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
