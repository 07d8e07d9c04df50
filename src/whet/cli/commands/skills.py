"""whet memory and whet skills: the notes that agents are told, and what they have learned to do."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import click

from whet.changes import writing
from whet.changes.pending import need_person
from whet.changes.places import is_agents
from whet.changes.writing import PERSONS, notes_of, remember
from whet.cli.acting import actor_of, author_at, careful, person_at, tell
from whet.cli.options import AskedRows, CommandList, json_group, own_store, yes_option
from whet.cli.output import cautions, copied, fields, give, moment, plain
from whet.errors import WhetError
from whet.ledger.patches import Action, PatchOrigin, PatchWriter
from whet.own.told.memory import LIMITS, Memory, Note, NoteChange, Reason, Refusal, complaint, find
from whet.own.told.skills import FILE, FOLDERS, compose, read
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.store.home import find_home, prepare_home
from whet.store.memory_files import NAMES, NOTE, Vault, connect, disconnect
from whet.store.recording import TextUse, skill_uses
from whet.store.skill_files import SkillFile, archived, list_skills, read_text, support_files
from whet.text.front_matter import FENCE, with_field
from whet.text.showing import shown
from whet.text.words import many


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
    at=lambda row: row.note.at,
)


@json_group(
    "memory",
    epilog='Example: whet memory add "The staging server is rebuilt every Monday."',
    help="List the notes that agents get: memory.md (about the environment) and user.md (about you) in the home folder."
    f" You can edit both by hand. They hold up to {LIMITS['memory']:,} and {LIMITS['user']:,} characters.",
)
@NOTES.options
def memory_command(asked: AskedRows) -> int:
    with own_store() as (home, database):
        author = author_at(home, database)
        pages = [notes_of(author, name) for name in NAMES]
    rows = NOTES.chosen((ListedNote(page.name, note) for page in pages for note in page.notes), asked)
    over = " (agents do not get what is beyond the limit)"
    sizes = (
        f"{page.name}.md: {page.size:,} of {page.limit:,} characters{over if page.size > page.limit else ''}."
        for page in pages
    )
    listed = NOTES.lines(rows, none="No notes yet. To add one, run `whet memory add TEXT`.")
    return give({page.name: _page_record(page) for page in pages}, (*listed, *sizes))


@memory_command.command("add", epilog='Example: whet memory add --about-user "Prefers tables."')
@click.argument("text")
@click.option(
    "--about-user", "user", is_flag=True, help="The note is about you (user.md), not about the environment (memory.md)."
)
@click.option(
    "--replace", "match", default="", metavar="MATCH", help="The note to replace: its id, or words only it has."
)
@yes_option
def add_note(text: str, user: bool, match: str, yes: bool) -> int:
    """Add a note, or replace one."""
    change = NoteChange(Action.CHANGE, text, match) if match else NoteChange(Action.ADD, text)
    return _make(change, user=user, yes=yes)


@memory_command.command("remove", epilog='Example: whet memory remove "staging server"')
@click.argument("match")
@yes_option
def remove_note(match: str, yes: bool) -> int:
    """Remove a note. Identify it by its id or by words that only it contains."""
    return _make(NoteChange(Action.REMOVE, match=match), user=False, yes=yes)


@memory_command.command("connect", epilog="Example: whet memory connect ~/Notes")
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


def _make(change: NoteChange, *, user: bool, yes: bool) -> int:
    with own_store() as (home, database):
        author, match = careful(author_at(home, database), yes=yes), change.match
        # The page that holds the note that is meant: about the setting, or else about the person.
        holding = (name for name in NAMES if match and isinstance(find(notes_of(author, name), match), Note))
        made = remember(author, "user" if user else next(holding, NAMES[0]), [change], limits=PERSONS)
    if isinstance(made, Refusal):
        if made.reason is Reason.MISSING:
            raise WhetError(made.message, advice="To list the notes, run `whet memory`.")
        raise complaint(made)
    return tell(made)


def _page_record(page: Memory) -> dict[str, object]:
    notes = [
        {**fields(each, "id", "text", "source"), "since": iso(each.at), "entry": each.entry or None}
        for each in page.notes
    ]
    return {"characters": page.size, "limit": page.limit, "notes": notes}


class ListedSkill(NamedTuple):
    """A skill of the home, who may change it, and how often it was read."""

    file: SkillFile
    writers: str
    use: TextUse | None


SKILLS: CommandList[ListedSkill] = CommandList(
    {
        "name": lambda row: row.file.name,
        "writers": lambda row: row.writers,
        "read": lambda row: row.use.views if row.use else 0,
        "last": lambda row: moment(row.use.last if row.use else None),
        "description": lambda row: shown(row.file.value.description) if row.file.value else f"✗ {row.file.fault}",
    },
    numbers=("read",),
)


@json_group("skills", epilog="Example: whet skills show release-notes")
@SKILLS.options
def skills_command(asked: AskedRows) -> int:
    """List the skills in the home folder (skills/NAME/SKILL.md, in the agentskills.io format): who owns each, how often
    it was read, and any error that keeps agents from using it.
    """
    with own_store() as (home, database):
        state, uses = author_at(home, database).state, skill_uses(database)
    every, away = list_skills(home.folder), archived(home.folder)
    listed = (
        ListedSkill(each, "agents" if is_agents(state, each.name) else "person", uses.get(each.name)) for each in every
    )
    rows = SKILLS.chosen(listed, asked)
    archive = f" In the archive: {', '.join(away)}." if away else ""
    following = "read one, run `whet skills show NAME`" if rows else "create one, run `whet skills create NAME -f FILE`"
    told = f"{many(len(rows), 'skill')}.{archive} To {following}."
    return give({"skills": list(map(_skill_record, rows)), "archived": list(away)}, SKILLS.lines(rows, told, none=told))


def _skill_record(row: ListedSkill) -> dict[str, object]:
    skill = row.file.value
    return {
        "name": row.file.name,
        "description": skill.description if skill else None,
        "writers": row.writers,
        "views": row.use.views if row.use else 0,
        "last_read": iso(row.use.last if row.use else None),
        "digest": skill.digest if skill else None,
        "fault": row.file.fault or None,
    }


@skills_command.command("show", epilog="Example: whet skills show release-notes")
@click.argument("name")
@click.argument("file", default=FILE)
def show(name: str, file: str) -> int:
    """Print a skill or one of its files."""
    folder = find_home(os.environ).folder
    text = read_text(folder, name, file)
    if text is None:
        what = f"skill {name}" if file == FILE else f"file {file} in the skill {name}"
        raise WhetError(f"There is no {what}.", advice="To list the skills, run `whet skills`.")
    files = support_files(folder, name)
    also = (f"[dim]also: {plain(each)}[/]" for each in files if file == FILE)
    record = {"name": name, "file": file, "text": text, "files": files}
    return give(record, (*copied(text.rstrip()), *cautions(text), *also))


@skills_command.command(
    "create",
    epilog='Example: whet skills create release-notes --description "Write release notes. Use before a release." -f -',
)
@click.argument("name")
@click.option("--description", default="", help="What it is for, and when to use it.")
@click.option(
    "-f", "--file", "source", required=True, type=click.Path(allow_dash=True), help="File with the instructions."
)
@yes_option
def create(name: str, description: str, source: str, yes: bool) -> int:
    """Create a skill from a file, or from standard input with -f -. A file that has front matter is used unchanged; a
    folder with a SKILL.md is copied with its support files.
    """
    folder = Path(source) if source != "-" and Path(source).is_dir() else None
    body = sys.stdin.read() if source == "-" else _text(folder / FILE if folder else Path(source))
    has_front_matter = body.startswith(FENCE)
    if not description and not has_front_matter:
        raise WhetError("The skill has no description.", advice="Give --description: what it is for, and when.")
    if not has_front_matter:
        body = compose(name, description, body)
    elif read(body).name != name:
        body = with_field(body, "name", name)
    if has_front_matter and description:
        body = with_field(body, "description", description)
    files: dict[str, str] = {}
    if folder:
        found = sorted(path for part in FOLDERS for path in (folder / part).rglob("*") if path.is_file())
        files = {path.relative_to(folder).as_posix(): _text(path) for path in found}
    with own_store() as (home, database):
        made = writing.add(careful(author_at(home, database), yes=yes), name, body, files)
    return tell(made)


@skills_command.command("adopt", epilog="Example: whet skills adopt release-notes")
@click.argument("name")
@yes_option
def adopt(name: str, yes: bool) -> int:
    """Allow agents to change one of your skills. To undo this, run `whet ledger undo`."""
    with own_store() as (home, database):
        author = person_at(home, database)._replace(
            trust=Trust.USER, origin=PatchOrigin(PatchWriter.PERSON, said="agents may change it")
        )
        made = writing.adopt(careful(author, yes=yes), name)
    return tell([made], done="Agents may now change")


@skills_command.command("archive", epilog="Example: whet skills archive release-notes")
@click.argument("name")
@click.option("--restore", "is_back", is_flag=True, help="Bring back the newest archived skill of this name instead.")
@yes_option
def archive(name: str, is_back: bool, yes: bool) -> int:
    """Move a skill with all its files to archive/skills in the home folder. Nothing is deleted."""
    with own_store() as (home, database):
        if is_back:
            made = writing.restore(careful(person_at(home, database), yes=yes), name)
            return tell([made], done="Brought back")
        author = careful(author_at(home, database), yes=yes)
        writing.view(author, name)
        made = writing.archive(author, name)
    return tell([made], done="Archived")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{path} cannot be read: {error}.", advice="Give a text file in UTF-8, or - .") from error
