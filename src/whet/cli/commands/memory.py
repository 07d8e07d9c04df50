"""whet memory: the notes that agents are told, and a vault of notes to draw on."""

import os
from pathlib import Path
from typing import NamedTuple

import click

from whet.changes.author import Author
from whet.changes.pending import need_person
from whet.changes.skill_changes import PERSONS, notes_of, remember
from whet.cli.acting import actor_of, author_at, careful, tell
from whet.cli.options import CommandList, json_group, own_store, sort_option, yes_option
from whet.cli.output import count, give, moment, plain
from whet.errors import WhetError
from whet.ledger.entries import Entry
from whet.ledger.patches import Action
from whet.own.told.memory import LIMITS, Memory, Note, NoteChange, Reason, Refusal, complaint, find
from whet.sessions.exports import iso
from whet.store.home import find_home, prepare_home
from whet.store.memory_files import NAMES, NOTE, Vault, connect, disconnect
from whet.text.showing import shown


class ListedNote(NamedTuple):
    """A note, and the page on which it stands."""

    page: str
    note: Note


NOTES: CommandList[ListedNote] = CommandList(
    {
        "page": lambda row: row.page,
        "id": lambda row: row.note.id,
        "since": lambda row: moment(row.note.at),
        "source": lambda row: row.note.source,
        "note": lambda row: shown(row.note.text),
    },
    {"page": lambda row: NAMES.index(row.page), "newest": lambda row: -(row.note.at or 0.0)},
)


@json_group(
    "memory",
    epilog='Example: whet memory add "The staging server is rebuilt every Monday."',
    help="List the notes that agents get: memory.md (about the environment) and user.md (about you) in the home folder."
    f" You can edit both by hand. They hold up to {LIMITS['memory']:,} and {LIMITS['user']:,} characters.",
)
@sort_option(*NOTES.orders)
def command(sort: str) -> int:
    with own_store() as (home, database):
        author = author_at(home, database)
        pages = [notes_of(author, name) for name in NAMES]
    rows = NOTES.sorted((ListedNote(page.name, note) for page in pages for note in page.notes), sort)
    listed = (NOTES.table(rows),) if rows else ()
    none = () if rows else ("No notes yet. To add one, run `whet memory add TEXT`.",)
    return give({page.name: _record(page) for page in pages}, (*listed, *map(_size_line, pages), *none))


@command.command("add", epilog='Example: whet memory add --about-user "Prefers tables."')
@click.argument("text")
@click.option(
    "--about-user", "user", is_flag=True, help="The note is about you (user.md), not about the environment (memory.md)."
)
@click.option(
    "--replace", "match", default="", metavar="MATCH", help="The note to replace: its id, or words only it has."
)
@yes_option
def add(text: str, user: bool, match: str, yes: bool) -> int:
    """Add a note, or replace one."""
    change = NoteChange(Action.CHANGE, text, match) if match else NoteChange(Action.ADD, text)
    return _make(change, user=user, yes=yes)


@command.command("remove", epilog='Example: whet memory remove "staging server"')
@click.argument("match")
@yes_option
def remove(match: str, yes: bool) -> int:
    """Remove a note. Identify it by its id or by words that only it contains."""
    return _make(NoteChange(Action.REMOVE, match=match), user=False, yes=yes)


@command.command("connect", epilog="Example: whet memory connect ~/Notes")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option(
    "--note", default=NOTE, show_default=True, help="File at the top of the folder that goes into the prompt."
)
def connect_(folder: Path | None, note: str) -> int:
    """Connect a folder of Markdown files, such as an Obsidian vault. One of its files goes into the prompt; `whet
    search --notes` finds the rest. Without FOLDER, disconnect it.
    """
    need_person(actor_of(os.environ))
    home = find_home(os.environ)
    if folder is None:
        was = disconnect(home.folder)
        told = "Disconnected." if was else "Nothing was connected."
        return give({"disconnected": was}, (told,))
    prepare_home(home)
    vault = Vault(Path(os.path.abspath(os.path.expanduser(folder))), note)
    connect(home.folder, vault)
    missing = "" if (vault.folder / note).exists() else " once it exists"
    told = f"Connected {plain(vault.folder)}. {plain(note)} in it goes into the prompt{missing}."
    return give({"folder": str(vault.folder), "note": note}, (told,))


def _size_line(page: Memory) -> str:
    over = " (agents do not get what is beyond the limit)" if page.size > page.limit else ""
    return f"{page.name}.md: {count(page.size)} of {count(page.limit)} characters{over}."


def _make(change: NoteChange, *, user: bool, yes: bool) -> int:
    with own_store() as (home, database):
        author = careful(author_at(home, database), yes=yes)
        name = "user" if user else _page_with(author, change.match)
        return tell(_made(author, name, change))


def _page_with(author: Author, match: str) -> str:
    """The page that holds the note that is meant: about the setting, or else about the person."""
    holding = (name for name in NAMES if match and isinstance(find(notes_of(author, name), match), Note))
    return next(holding, NAMES[0])


def _made(author: Author, name: str, change: NoteChange) -> list[Entry]:
    made = remember(author, name, [change], limits=PERSONS)
    if isinstance(made, Refusal):
        if made.reason is Reason.MISSING:
            raise WhetError(made.message, advice="To list the notes, run `whet memory`.")
        raise complaint(made)
    return list(made)


def _record(page: Memory) -> dict[str, object]:
    return {
        "characters": page.size,
        "limit": page.limit,
        "notes": [
            {"id": n.id, "text": n.text, "source": n.source, "since": iso(n.at), "entry": n.entry or None}
            for n in page.notes
        ],
    }
