"""Memory on disk: memory.md and user.md in the home, the files of Hermes' own memory, and connected notes."""

import itertools
import tomllib
from collections.abc import Iterable, Iterator
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.ledger.patches import Action
from whet.own.told import memory, note_pages
from whet.own.told.memory import Memory, Note, NoteChange, Refusal
from whet.own.told.note_pages import PageForm
from whet.sessions.trust import Trust
from whet.store.files import Place, below, beneath, decoded, locked, read, remove, write
from whet.text import toml
from whet.text.likeness import sense
from whet.values import Value

EXCERPT_CHARACTERS = 2_000
NAMES = tuple(memory.LIMITS)
HERMES = {"memory": "MEMORY.md", "user": "USER.md"}
SETTINGS = "memory.toml"
HEAD = "# Your own notes that agents may read.\n"
NOTE = "whet.md"
DEEPEST = 8
MOST_FILES = 5_000
MOST_BYTES = 200_000


class Excerpt(Value, frozen=True):
    """A piece of a memory: where it stands, its words, and how far they may be believed."""

    place: str
    text: str
    trust: Trust


def excerpts(place: str, text: str, trust: Trust) -> Iterator[Excerpt]:
    """The paragraphs of a text, each under the heading that it stands below."""
    heading = ""
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        words = paragraph.strip()
        if words.startswith("#"):
            heading, _, words = (part.strip() for part in words.partition("\n"))
        if words:
            yield Excerpt(place, f"{heading}\n{words}".strip()[:EXCERPT_CHARACTERS], trust)


def best(found: Iterable[Excerpt], question: str, *, limit: int) -> tuple[Excerpt, ...]:
    """The excerpts that hold most words of the question, the shorter of two alike first; none that holds no word."""
    wanted = sense(question).words
    scored = ((len(wanted & sense(f"{each.place} {each.text}").words), each) for each in found)
    fitting = (pair for pair in scored if pair[0])
    chosen = nlargest(limit, fitting, key=lambda pair: (pair[0], -len(pair[1].text), pair[1].place))
    return tuple(excerpt for _, excerpt in chosen)


class MemoryFolder(NamedTuple):
    """Where two pages of notes lie: the home folder, or Hermes' folder of memories."""

    folder: Path
    form: PageForm = PageForm.LIST

    def file(self, name: str) -> str:
        if name not in NAMES:
            raise WhetError(f"There are no notes called {name}.", advice="Use memory or user.")
        return HERMES[name] if self.form is PageForm.HERMES else f"{name}.md"


def hermes_shelf(hermes_home: Path) -> MemoryFolder:
    return MemoryFolder(hermes_home / "memories", PageForm.HERMES)


def load(shelf: MemoryFolder, name: str, known: Iterable[Note] = ()) -> Memory:
    """The notes as they are now, with a person's edits; `known` are those that the ledger put there."""
    file = shelf.file(name)
    return memory.read(name, decoded(read(beneath(shelf.folder, file)) or b"", shelf.folder / file), known, shelf.form)


def add_to_hermes(hermes_home: Path, name: str, text: str) -> Memory | Refusal:
    """Add a note to Hermes' own memory while nobody else writes there; Hermes takes the same lock."""
    shelf = hermes_shelf(hermes_home)
    file = shelf.file(name)
    with locked(hermes_home, (shelf.folder.name,)) as folder, folder.holding(f"{file}.lock"):
        body = folder.read(file)
        before = memory.read(name, decoded(body or b"", shelf.folder / file), form=shelf.form)
        after = memory.change(before, [NoteChange(Action.ADD, text)])
        if isinstance(after, Memory) and after.page != before.page:
            folder.write(file, after.page.encode(), expected=body)
        return after


def search_own(folder: Path, question: str, limit: int) -> tuple[Excerpt, ...]:
    """The notes in the home folder that fit a question best."""
    kept = (load(MemoryFolder(folder), name) for name in NAMES)
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
        files = below(Place(self.folder, ()), deepest=DEEPEST - 1)
        notes = (place for place, file in files if file.name.endswith(".md") and file.size_bytes <= MOST_BYTES)
        places = itertools.islice(notes, MOST_FILES)
        found = (excerpts("/".join(each.names), _text(each), Trust.EXTERNAL) for each in places)
        return best(itertools.chain.from_iterable(found), question, limit=limit)


def connected(home: Path) -> Vault | None:
    """The vault that a person has connected, if any."""
    body = read(beneath(home, SETTINGS))
    if body is None:
        return None
    try:
        vault = tomllib.loads(body.decode("utf-8"))["vault"]
        return Vault(Path(str(vault["folder"])), str(vault.get("note", NOTE)))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, RecursionError) as error:
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


def _text(place: Place) -> str:
    return (read(place) or b"").decode("utf-8", "replace")
