"""whet skills: what agents have learned to do, and what a person has taught them."""

import os
import sys
from pathlib import Path

import click

from whet.changes import skill_changes
from whet.changes.places import is_agents
from whet.cli.authoring import author_at, careful, person_at, tell
from whet.cli.options import json_option, own_store, yes_option
from whet.cli.output import give, moment, plain, table
from whet.cli.shown.reviewing import cautions, copied
from whet.errors import WhetError
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.sessions.exports import iso
from whet.sessions.trust import Trust
from whet.store.home import find_home
from whet.store.skill_files import archived, list_skills, read_text, skill_uses, support_files
from whet.text.front_matter import FENCE, with_field
from whet.text.showing import shown
from whet.text.words import many
from whet.told.skills import FILE, FOLDERS, compose, read


@click.group(
    "skills",
    invoke_without_command=True,
    epilog="Example: whet skills show release-notes",
    help="List the skills in the home folder (skills/NAME/SKILL.md, in the agentskills.io format): who owns each, "
    "how often it was read, and any error that keeps agents from using it.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    with own_store() as (home, database):
        state, uses = author_at(home, database).state, skill_uses(database)
    found, away = list_skills(home.folder), archived(home.folder)
    records = [
        {
            "name": each.name,
            "description": each.skill.description if each.skill else None,
            "writers": "agents" if is_agents(state, each.name) else "person",
            "views": uses[each.name].views if each.name in uses else 0,
            "last_read": iso(uses[each.name].last) if each.name in uses else None,
            "digest": each.skill.digest if each.skill else None,
            "fault": each.fault or None,
        }
        for each in found
    ]
    rows = [
        (
            record["name"],
            record["writers"],
            record["views"],
            moment(uses[each.name].last if each.name in uses else None),
            f"✗ {each.fault}" if each.fault else shown(str(record["description"])),
        )
        for each, record in zip(found, records, strict=True)
    ]
    listed = (table(("name", "writers", "read", "last", "description"), rows, numbers=("read",)),) if rows else ()
    archive = f" In the archive: {', '.join(away)}." if away else ""
    following = (
        "read one, run `whet skills show NAME`" if found else "create one, run `whet skills create NAME -f FILE`"
    )
    told = f"{many(len(found), 'skill')}.{archive} To {following}."
    return give({"skills": records, "archived": list(away)}, (*listed, told), as_json=as_json)


@command.command("show", epilog="Example: whet skills show release-notes", help="Print a skill or one of its files.")
@click.argument("name")
@click.argument("file", default=FILE)
@json_option
def show(name: str, file: str, as_json: bool) -> int:
    folder = find_home(os.environ).folder
    text = read_text(folder, name, file)
    if text is None:
        what = f"skill {name}" if file == FILE else f"file {file} in the skill {name}"
        raise WhetError(f"There is no {what}.", advice="To list the skills, run `whet skills`.")
    files = support_files(folder, name)
    also = (f"[dim]also: {plain(each)}[/]" for each in files if file == FILE)
    record = {"name": name, "file": file, "text": text, "files": list(files)}
    return give(record, (*copied(text.rstrip()), *cautions(text), *also), as_json=as_json)


@command.command(
    "create",
    epilog='Example: whet skills create release-notes --description "Write release notes. Use before a release." -f -',
    help="Create a skill from a file, or from standard input with -f -. A file that has front matter is used "
    "unchanged; a folder with a SKILL.md is copied with its support files.",
)
@click.argument("name")
@click.option("--description", default="", help="What it is for, and when to use it.")
@click.option(
    "-f", "--file", "source", required=True, type=click.Path(allow_dash=True), help="File with the instructions."
)
@yes_option
@json_option
def create(name: str, description: str, source: str, yes: bool, as_json: bool) -> int:
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
    return tell(made, as_json=as_json)


@command.command(
    "adopt",
    epilog="Example: whet skills adopt release-notes",
    help="Allow agents to change one of your skills. To undo this, run `whet ledger undo`.",
)
@click.argument("name")
@yes_option
@json_option
def adopt(name: str, yes: bool, as_json: bool) -> int:
    with own_store() as (home, database):
        author = person_at(home, database)._replace(
            trust=Trust.USER, origin=PatchOrigin(PatchWriter.PERSON, said="agents may change it")
        )
        made = skill_changes.adopt(careful(author, yes=yes), name)
    return tell([made], as_json=as_json, done="Agents may now change")


@command.command(
    "archive",
    epilog="Example: whet skills archive release-notes",
    help="Move a skill with all its files to archive/skills in the home folder. Nothing is deleted.",
)
@click.argument("name")
@click.option("--restore", "is_back", is_flag=True, help="Bring back the newest archived skill of this name instead.")
@yes_option
@json_option
def archive(name: str, is_back: bool, yes: bool, as_json: bool) -> int:
    with own_store() as (home, database):
        if is_back:
            made = skill_changes.restore(careful(person_at(home, database), yes=yes), name)
            return tell([made], as_json=as_json, done="Brought back")
        author = careful(author_at(home, database), yes=yes)
        skill_changes.view(author, name)
        made = skill_changes.archive(author, name)
    return tell([made], as_json=as_json, done="Archived")


def _support_files(folder: Path) -> list[str]:
    found = (path for part in FOLDERS for path in (folder / part).rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{path} cannot be read: {error}.", advice="Give a text file in UTF-8, or - .") from error
