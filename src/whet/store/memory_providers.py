"""Memories that the prompt can draw on: Whet's own notes, and a folder of Markdown notes that a person keeps."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.sessions.trust import Trust
from whet.store.files import Place, beneath, entries, read, remove, write
from whet.store.memory_files import NAMES, Shelf, load
from whet.text import toml
from whet.told import memory, note_pages
from whet.told.recall import Excerpt, best, excerpts

SETTINGS = "memory.toml"
HEAD = "# Your own notes that agents may read.\n"
NOTE = "whet.md"
DEEPEST = 8
MOST_FILES = 5_000
MOST_BYTES = 200_000


class OwnMemory(NamedTuple):
    """The notes in the home folder. Foreign text comes among them only by a person's hand or approval."""

    folder: Path

    def block(self, limit: int) -> str:
        found = [memory.block(load(Shelf(self.folder), name)) for name in NAMES]
        return note_pages.shown("\n\n".join(block for block in found if block), limit)

    def search(self, question: str, limit: int) -> tuple[Excerpt, ...]:
        kept = (load(Shelf(self.folder), name) for name in NAMES)
        notes = (Excerpt(f"{page.name}.md", note.text, Trust.AGENT) for page in kept for note in page.notes)
        return best(notes, question, limit=limit)


class Vault(NamedTuple):
    """A folder of Markdown files, such as an Obsidian vault.

    Only the one file that the person keeps for agents goes into the prompt. What a search finds is external: people
    keep pages of strangers among their own.
    """

    folder: Path
    note: str = NOTE

    @property
    def is_lost(self) -> bool:
        """Whether the folder is gone, as with a disk that was taken away."""
        return not self.folder.is_dir()

    def block(self, limit: int) -> str:
        return note_pages.shown(_text(beneath(self.folder, self.note)), limit)

    def search(self, question: str, limit: int) -> tuple[Excerpt, ...]:
        found = (excerpt for place in self._files() for excerpt in self._excerpts(place))
        return best(found, question, limit=limit)

    def _excerpts(self, place: Place) -> Iterator[Excerpt]:
        return excerpts("/".join(place.names), _text(place), Trust.EXTERNAL)

    def _files(self) -> Iterator[Place]:
        for number, place in enumerate(_markdown(self.folder, ())):
            if number >= MOST_FILES:
                return
            yield place


def connected(home: Path) -> Vault | None:
    """The vault that a person has connected, if any."""
    body = read(beneath(home, SETTINGS))
    if body is None:
        return None
    try:
        vault = tomllib.loads(body.decode("utf-8"))["vault"]
        return Vault(Path(str(vault["folder"])), str(vault.get("note", NOTE)))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise WhetError(
            f"{home / SETTINGS} cannot be read: {error}.", advice='Write [vault] and below it folder = "/path".'
        ) from error


def connect(home: Path, vault: Vault) -> None:
    """Remember the vault to draw on."""
    if not vault.folder.is_dir():
        raise WhetError(f"There is no folder {vault.folder}.", advice="Give the folder of your notes.")
    beneath(vault.folder, vault.note)
    place = beneath(home, SETTINGS)
    text = HEAD + toml.table({"vault": {"folder": str(vault.folder), "note": vault.note}})
    write(place, text.encode(), expected=read(place))


def disconnect(home: Path) -> bool:
    """Draw on no vault any more; False where there was none."""
    place = beneath(home, SETTINGS)
    body = read(place)
    if body is not None:
        remove(place, expected=body)
    return body is not None


def _markdown(root: Path, names: tuple[str, ...]) -> Iterator[Place]:
    """The files to search, without hidden folders, links, and what is too large to be a note."""
    for entry in entries(Place(root, names)):
        inner = (*names, entry.name)
        if entry.name.startswith("."):
            continue
        if entry.kind == "folder" and len(inner) < DEEPEST:
            yield from _markdown(root, inner)
        elif entry.kind == "file" and entry.name.endswith(".md") and entry.size_bytes <= MOST_BYTES:
            yield Place(root, inner)


def _text(place: Place) -> str:
    return (read(place) or b"").decode("utf-8", "replace")
