"""whet memory: the notes that agents are told, and a vault of notes to draw on."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.table import Table

from whet.changes.author import Author
from whet.changes.pending import need_person
from whet.changes.skill_changes import PERSONS, notes_of, remember
from whet.cli.acting import actor_of
from whet.cli.authoring import author_at, careful, tell
from whet.cli.options import json_option, own_store, yes_option
from whet.cli.output import count, give, moment, plain, table
from whet.errors import WhetError
from whet.ledger.entries import Entry
from whet.ledger.patches import Action
from whet.sessions.exports import iso
from whet.store.home import find_home, prepare_home
from whet.store.memory_files import NAMES, NOTE, Vault, connect, disconnect
from whet.store.opening import opened
from whet.text.showing import shown
from whet.told.memory import LIMITS, Memory, Note, NoteChange, Reason, Refusal, complaint, find


@click.group(
    "memory",
    invoke_without_command=True,
    epilog='Example: whet memory add "The staging server is rebuilt every Monday."',
    help="List the notes that agents get: memory.md (about the environment) and user.md (about you) in the home folder."
    f" You can edit both by hand. They hold up to {LIMITS['memory']:,} and {LIMITS['user']:,} characters.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    with own_store() as (home, database):
        author = author_at(home, database)
        pages = [notes_of(author, name) for name in NAMES]
    return give({page.name: _record(page) for page in pages}, _lines(pages), as_json=as_json)


@command.command(
    "add", epilog='Example: whet memory add --about-user "Prefers tables."', help="Add a note, or replace one."
)
@click.argument("text")
@click.option(
    "--about-user", "user", is_flag=True, help="The note is about you (user.md), not about the environment (memory.md)."
)
@click.option(
    "--replace", "match", default="", metavar="MATCH", help="The note to replace: its id, or words only it has."
)
@yes_option
@json_option
def add(text: str, user: bool, match: str, yes: bool, as_json: bool) -> int:
    change = NoteChange(Action.CHANGE, text, match) if match else NoteChange(Action.ADD, text)
    return _make(change, user=user, yes=yes, as_json=as_json)


@command.command(
    "remove",
    epilog='Example: whet memory remove "staging server"',
    help="Remove a note. Identify it by its id or by words that only it contains.",
)
@click.argument("match")
@yes_option
@json_option
def remove(match: str, yes: bool, as_json: bool) -> int:
    return _make(NoteChange(Action.REMOVE, match=match), user=False, yes=yes, as_json=as_json)


@command.command(
    "connect",
    epilog="Example: whet memory connect ~/Notes",
    help="Connect a folder of Markdown files, such as an Obsidian vault. One of its files goes into the prompt; "
    "`whet search --notes` finds the rest. Without FOLDER, disconnect it.",
)
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option(
    "--note", default=NOTE, show_default=True, help="File at the top of the folder that goes into the prompt."
)
@json_option
def connect_(folder: Path | None, note: str, as_json: bool) -> int:
    need_person(actor_of(os.environ))
    home = find_home(os.environ)
    if folder is None:
        was = disconnect(home.folder)
        told = "Disconnected." if was else "Nothing was connected."
        return give({"disconnected": was}, (told,), as_json=as_json)
    prepare_home(home)
    vault = Vault(Path(os.path.abspath(os.path.expanduser(folder))), note)
    connect(home.folder, vault)
    missing = "" if (vault.folder / note).exists() else " once it exists"
    told = f"Connected {plain(vault.folder)}. {plain(note)} in it goes into the prompt{missing}."
    return give({"folder": str(vault.folder), "note": note}, (told,), as_json=as_json)


def _lines(pages: Sequence[Memory]) -> Iterator[str | Table]:
    rows = [
        (page.name, note.id, moment(note.at), note.source, shown(note.text)) for page in pages for note in page.notes
    ]
    if rows:
        yield table(("page", "id", "since", "source", "note"), rows)
    for page in pages:
        over = " (agents do not get what is beyond the limit)" if page.size > page.limit else ""
        yield f"{page.name}.md: {count(page.size)} of {count(page.limit)} characters{over}."
    if not rows:
        yield "No notes yet. To add one, run `whet memory add TEXT`."


def _make(change: NoteChange, *, user: bool, yes: bool, as_json: bool) -> int:
    home = find_home(os.environ)
    prepare_home(home)
    with opened(home) as database:
        author = careful(author_at(home, database), yes=yes)
        name = "user" if user else _page_with(author, change.match)
        return tell(_made(author, name, change), as_json=as_json)


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
