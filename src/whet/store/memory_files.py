"""Memory on disk: memory.md and user.md in the home folder, and the files of Hermes' own memory."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.store.files import Folder, beneath, decoded, locked, read
from whet.told import memory
from whet.told.memory import Memory, Note, NoteChange, Refusal
from whet.told.note_pages import PageForm

NAMES = tuple(memory.LIMITS)
HERMES = {"memory": "MEMORY.md", "user": "USER.md"}


class Shelf(NamedTuple):
    """Where two pages of notes lie: the home folder, or Hermes' folder of memories."""

    folder: Path
    form: PageForm = PageForm.LIST

    def file(self, name: str) -> str:
        if name not in NAMES:
            raise WhetError(f"There are no notes called {name}.", advice="Use memory or user.")
        return HERMES[name] if self.form is PageForm.HERMES else f"{name}.md"


def hermes_shelf(hermes_home: Path) -> Shelf:
    return Shelf(hermes_home / "memories", PageForm.HERMES)


def load(shelf: Shelf, name: str, known: Iterable[Note] = ()) -> Memory:
    """The notes as they are now, with a person's edits; `known` are those that the ledger put there."""
    file = shelf.file(name)
    return memory.read(name, decoded(read(beneath(shelf.folder, file)) or b"", shelf.folder / file), known, shelf.form)


def change(shelf: Shelf, name: str, changes: Sequence[NoteChange]) -> Memory | Refusal:
    """Make all of the changes or none of them, on the notes as they are at this moment; for files with no ledger."""
    file = shelf.file(name)
    with _held(shelf, file) as folder:
        body = folder.read(file)
        before = memory.read(name, decoded(body or b"", shelf.folder / file), form=shelf.form)
        after = memory.change(before, changes)
        if isinstance(after, Memory) and after.page != before.page:
            folder.write(file, after.page.encode(), expected=body)
        return after


@contextlib.contextmanager
def _held(shelf: Shelf, file: str) -> Iterator[Folder]:
    with locked(shelf.folder) as folder, contextlib.ExitStack() as stack:
        if shelf.form is PageForm.HERMES:
            stack.enter_context(folder.holding(f"{file}.lock"))  # the one that Hermes itself takes
        yield folder
