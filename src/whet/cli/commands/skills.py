"""whet skills: what agents have learned to do, and what a person has taught them."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import click

from whet.changes import skill_changes
from whet.changes.places import is_agents
from whet.cli.acting import author_at, careful, person_at, tell
from whet.cli.options import CommandList, json_group, own_store, sort_option, yes_option
from whet.cli.output import cautions, copied, give, moment, plain
from whet.errors import WhetError
from whet.ledger.entries import State
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.own.told.skills import FILE, FOLDERS, compose, read
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.store.home import find_home
from whet.store.skill_files import SkillFolder, SkillUse, archived, list_skills, read_text, skill_uses, support_files
from whet.text.front_matter import FENCE, with_field
from whet.text.showing import shown
from whet.text.words import many


class ListedSkill(NamedTuple):
    """A skill of the home, who may change it, and how often it was read."""

    file: SkillFolder
    writers: str
    views: int
    last: float | None


SKILLS: CommandList[ListedSkill] = CommandList(
    {
        "name": lambda row: row.file.name,
        "writers": lambda row: row.writers,
        "read": lambda row: row.views,
        "last": lambda row: moment(row.last),
        "description": lambda row: shown(row.file.skill.description) if row.file.skill else f"✗ {row.file.fault}",
    },
    {"name": lambda row: row.file.name, "read": lambda row: -row.views, "last": lambda row: -(row.last or 0.0)},
    numbers=("read",),
)


@json_group("skills", epilog="Example: whet skills show release-notes")
@sort_option(*SKILLS.orders)
def command(sort: str) -> int:
    """List the skills in the home folder (skills/NAME/SKILL.md, in the agentskills.io format): who owns each, how often
    it was read, and any error that keeps agents from using it.
    """
    with own_store() as (home, database):
        state, uses = author_at(home, database).state, skill_uses(database)
    every, away = list_skills(home.folder), archived(home.folder)
    rows = SKILLS.sorted((_listed(each, state, uses.get(each.name)) for each in every), sort)
    archive = f" In the archive: {', '.join(away)}." if away else ""
    following = "read one, run `whet skills show NAME`" if rows else "create one, run `whet skills create NAME -f FILE`"
    told = f"{many(len(rows), 'skill')}.{archive} To {following}."
    return give({"skills": list(map(_record, rows)), "archived": list(away)}, SKILLS.lines(rows, told, none=told))


def _listed(found: SkillFolder, state: State, use: SkillUse | None) -> ListedSkill:
    writers = "agents" if is_agents(state, found.name) else "person"
    return ListedSkill(found, writers, use.views if use else 0, use.last if use else None)


def _record(row: ListedSkill) -> dict[str, object]:
    skill = row.file.skill
    return {
        "name": row.file.name,
        "description": skill.description if skill else None,
        "writers": row.writers,
        "views": row.views,
        "last_read": iso(row.last),
        "digest": skill.digest if skill else None,
        "fault": row.file.fault or None,
    }


@command.command("show", epilog="Example: whet skills show release-notes")
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
    record = {"name": name, "file": file, "text": text, "files": list(files)}
    return give(record, (*copied(text.rstrip()), *cautions(text), *also))


@command.command(
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
    files = {file: _text(folder / file) for file in _support_files(folder)} if folder else {}
    with own_store() as (home, database):
        made = skill_changes.add(careful(author_at(home, database), yes=yes), name, body, files)
    return tell(made)


@command.command("adopt", epilog="Example: whet skills adopt release-notes")
@click.argument("name")
@yes_option
def adopt(name: str, yes: bool) -> int:
    """Allow agents to change one of your skills. To undo this, run `whet ledger undo`."""
    with own_store() as (home, database):
        author = person_at(home, database)._replace(
            trust=Trust.USER, origin=PatchOrigin(PatchWriter.PERSON, said="agents may change it")
        )
        made = skill_changes.adopt(careful(author, yes=yes), name)
    return tell([made], done="Agents may now change")


@command.command("archive", epilog="Example: whet skills archive release-notes")
@click.argument("name")
@click.option("--restore", "is_back", is_flag=True, help="Bring back the newest archived skill of this name instead.")
@yes_option
def archive(name: str, is_back: bool, yes: bool) -> int:
    """Move a skill with all its files to archive/skills in the home folder. Nothing is deleted."""
    with own_store() as (home, database):
        if is_back:
            made = skill_changes.restore(careful(person_at(home, database), yes=yes), name)
            return tell([made], done="Brought back")
        author = careful(author_at(home, database), yes=yes)
        skill_changes.view(author, name)
        made = skill_changes.archive(author, name)
    return tell([made], done="Archived")


def _support_files(folder: Path) -> list[str]:
    found = (path for part in FOLDERS for path in (folder / part).rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{path} cannot be read: {error}.", advice="Give a text file in UTF-8, or - .") from error
