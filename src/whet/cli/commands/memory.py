"""whet memory: the notes that agents are told, and a vault of notes to draw on."""

import os
from pathlib import Path

import click

from whet.changes.author import Author
from whet.changes.notes import PERSONS, notes_of, remember
from whet.changes.pending import need_person
from whet.cli.acting import actor_of
from whet.cli.authoring import author_at, careful, person_at, say_why, tell
from whet.cli.hermes_home import FROM_HERMES, hermes_home, hermes_option
from whet.cli.options import json_option, yes_option
from whet.cli.output import console, count, many, moment, plain, print_json, say, table
from whet.cli.shown.entries import entry_record
from whet.cli.shown.reviewing import reviewed
from whet.errors import WhetError
from whet.ledger.entries import Entry, Step
from whet.ledger.patches import Action
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.store.files import beneath, make_folder
from whet.store.home import find_home, prepare_home
from whet.store.memory_files import (
    NAMES,
    NOTE,
    OwnMemory,
    Shelf,
    Vault,
    connect,
    connected,
    disconnect,
    hermes_shelf,
    load,
)
from whet.store.memory_files import change as change_page
from whet.store.opening import opened
from whet.text.showing import shown
from whet.told.memory import LIMITS, Memory, Note, NoteChange, Reason, Refusal, complaint, find

page_option = click.option(
    "--about-user", "user", is_flag=True, help="The note is about you (user.md), not about the environment (memory.md)."
)


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
    return 0 if context.invoked_subcommand else _list(as_json)


@command.command("list", epilog="Example: whet memory list", help="List the notes and where each came from.")
@json_option
def list_(as_json: bool) -> int:
    return _list(as_json)


@command.command("add", epilog='Example: whet memory add --about-user "Prefers tables."', help="Add a note.")
@click.argument("text")
@page_option
@yes_option
@json_option
def add(text: str, user: bool, yes: bool, as_json: bool) -> int:
    return _make(NoteChange(Action.ADD, text), user=user, yes=yes, as_json=as_json)


@command.command(
    "replace",
    epilog='Example: whet memory replace "staging server" "The staging server is rebuilt every night."',
    help="Replace a note. Identify it by its id or by words that only it contains.",
)
@click.argument("match")
@click.argument("text")
@page_option
@yes_option
@json_option
def replace(match: str, text: str, user: bool, yes: bool, as_json: bool) -> int:
    return _make(NoteChange(Action.CHANGE, text, match), user=user, yes=yes, as_json=as_json)


@command.command(
    "remove",
    epilog='Example: whet memory remove "staging server"',
    help="Remove a note. Identify it by its id or by words that only it contains.",
)
@click.argument("match")
@page_option
@yes_option
@json_option
def remove(match: str, user: bool, yes: bool, as_json: bool) -> int:
    return _make(NoteChange(Action.REMOVE, match=match), user=user, yes=yes, as_json=as_json)


@command.command(
    "import-hermes",
    epilog="Example: whet memory import-hermes",
    help="Import the notes in Hermes' own memory (MEMORY.md and USER.md). You see them first and confirm.",
)
@hermes_option
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal, see the setting trust.commands.")
@json_option
def import_hermes(folder: Path | None, yes: bool, as_json: bool) -> int:
    shelf = hermes_shelf(hermes_home(folder))
    found = [(name, note.text) for name in NAMES for note in load(shelf, name).notes]
    if not found:
        raise WhetError(f"There are no notes in {shelf.folder}.", advice="Give Hermes' home with --folder.")
    if not as_json:
        for name, text in found:
            for line in (f"{name}:", *reviewed(text)):
                say(line)
    if not yes:
        click.confirm(f"Import {many(len(found), 'note')}?", abort=True, err=True)
    home = find_home(os.environ)
    with opened(home) as database:
        # Hermes wrote them, whoever asks for them.
        author = person_at(home, database)._replace(trust=Trust.AGENT, origin=FROM_HERMES)
        author = careful(author, yes=yes)
        made: list[Entry] = []
        left: list[dict[str, str]] = []
        for name, text in found:
            try:
                made += _made(author, name, NoteChange(Action.ADD, text))
            except WhetError as error:
                left.append({"note": text, "reason": error.message})
    if as_json:
        print_json({"entries": [entry_record(entry) for entry in made], "left_out": left})
    else:
        _print_left(left)
        say(f"Imported {many(sum(each.step is Step.APPLIED for each in made), 'note')}.")
        say_why(made)
    return 0 if made or not left else 1


@command.command(
    "export-hermes",
    epilog="Example: whet memory export-hermes",
    help="Add the notes to Hermes' own memory (MEMORY.md and USER.md). Hermes' own notes are kept.",
)
@hermes_option
@json_option
def export_hermes(folder: Path | None, as_json: bool) -> int:
    need_person(actor_of(os.environ))
    home, hermes = find_home(os.environ), hermes_home(folder)
    if not hermes.is_dir():
        raise WhetError(f"There is no folder {hermes}.", advice="Give Hermes' home with --folder.")
    shelf = hermes_shelf(hermes)
    make_folder(beneath(hermes, shelf.folder.name))
    tried = [
        (note.text, change_page(shelf, name, [NoteChange(Action.ADD, note.text)]))
        for name in NAMES
        for note in load(Shelf(home.folder), name).notes
    ]
    refused = [(text, made) for text, made in tried if isinstance(made, Refusal)]
    left = [{"note": text, "reason": made.message} for text, made in refused if made.reason is not Reason.DUPLICATE]
    added = len(tried) - len(refused)
    if as_json:
        print_json({"added": added, "known": len(refused) - len(left), "left_out": left})
    else:
        _print_left(left)
        say(f"Added {many(added, 'note')} to {plain(shelf.folder)}; {len(refused) - len(left)} were already there.")
    return int(bool(left))


@command.command(
    "connect",
    epilog="Example: whet memory connect ~/Notes",
    help="Connect a folder of Markdown files, such as an Obsidian vault. One of its files goes into the prompt; "
    "`whet memory search` finds the rest.",
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--note", default=NOTE, show_default=True, help="File at the top of the folder that goes into the prompt."
)
@json_option
def connect_(folder: Path, note: str, as_json: bool) -> int:
    need_person(actor_of(os.environ))
    home = find_home(os.environ)
    prepare_home(home)
    vault = Vault(Path(os.path.abspath(os.path.expanduser(folder))), note)
    connect(home.folder, vault)
    if as_json:
        print_json({"folder": str(vault.folder), "note": note})
    else:
        missing = "" if (vault.folder / note).exists() else " once it exists"
        say(f"Connected {plain(vault.folder)}. {plain(note)} in it goes into the prompt{missing}.")
    return 0


@command.command("disconnect", epilog="Example: whet memory disconnect", help="Disconnect the connected folder.")
@json_option
def disconnect_(as_json: bool) -> int:
    need_person(actor_of(os.environ))
    was = disconnect(find_home(os.environ).folder)
    if as_json:
        print_json({"disconnected": was})
    else:
        say("Disconnected." if was else "Nothing was connected.")
    return 0


@command.command(
    "search",
    epilog="Example: whet memory search staging server",
    help="Search the notes and the connected folder.",
)
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Maximum number to list.")
@json_option
def search(words: tuple[str, ...], limit: int, as_json: bool) -> int:
    home = find_home(os.environ)
    vault = connected(home.folder)
    providers = (OwnMemory(home.folder), *((vault,) if vault else ()))
    found = [passage for provider in providers for passage in provider.search(" ".join(words), limit)][:limit]
    if as_json:
        print_json([{"place": each.place, "text": each.text, "trust": each.trust.label} for each in found])
    for each in [] if as_json else found:
        say(f"[bold]{plain(each.place)}[/bold]  {each.trust.label}")
        for line in (*reviewed(each.text), ""):
            say(line)
    if not found and not as_json:
        say("Nothing found.")
    return 0 if found else 1


def _list(as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        author = author_at(home, database)
        pages = [notes_of(author, name) for name in NAMES]
    if as_json:
        print_json({page.name: _record(page) for page in pages})
        return 0
    rows = [
        (page.name, note.id, moment(note.at), note.source, shown(note.text)) for page in pages for note in page.notes
    ]
    if rows:
        console().print(table(("page", "id", "since", "source", "note"), rows))
    for page in pages:
        over = " (agents do not get what is beyond the limit)" if page.size > page.limit else ""
        say(f"{page.name}.md: {count(page.size)} of {count(page.limit)} characters{over}.")
    if not rows:
        say("No notes yet. To add one, run `whet memory add TEXT`.")
    return 0


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


def _print_left(left: list[dict[str, str]]) -> None:
    for each in left:
        say(f"Left out: {plain(each['note'])}\n  {plain(each['reason'])}")


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
