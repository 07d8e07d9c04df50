"""Templates made at the command line: from which sessions, checked before the long work, shown and kept."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import click

from whet.changes.author import Author
from whet.changes.templates import keep
from whet.cli.analysed import lesson_named
from whet.cli.authoring import tell
from whet.cli.output import many, plain, print_json, say
from whet.cli.shown.templates import left_out_record, print_template
from whet.errors import WhetError
from whet.examples.mining import Mined, WantedTemplate
from whet.examples.recovered import mine_recoveries
from whet.examples.templates import DESCRIPTION_CHARACTERS, TAG, Template, described
from whet.secrets.redactor import Redactor
from whet.sessions.transcripts import Transcript
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters, find, list_sessions
from whet.store.sessions import is_believed, load
from whet.store.template_files import read_text, stored_transcripts
from whet.targets.known_projects import KnownProjects
from whet.targets.project_names import name_of_project

UNMEASURED = (
    "Its effect has not been measured: `--warm auto` starts half of the sessions that it fits with it, until the watch"
    " can tell. To measure it now, run `whet try --template {name} --cases cases/`."
)


class MinedGroup(NamedTuple):
    """The sessions of one agent in one project, and how many of other agents and projects were not looked at."""

    source: str
    project: str
    place: str  # its project as people read it
    transcripts: Iterator[Transcript]
    others: int

    @property
    def title(self) -> str:
        return f"{self.source} in {self.place}" if self.project else self.source


def one_group(database: Database, filters: Filters, project: str, *, limit: int) -> MinedGroup:
    """One agent's sessions in one project: those asked for, else those of which there are most.

    Other agents have other tools, and other projects other ways.
    """
    own, known = filters._replace(maker=database.member), KnownProjects(database)
    counted = Counter(
        (session.source, known.identity(session.folder)) for session in list_sessions(database, own, limit=limit)
    )
    groups = {key: number for key, number in counted.items() if not project or _is_meant(known, key[1], project)}
    if not groups:
        raise WhetError("No sessions match.", advice="To import sessions, run `whet import`.")
    source, name = max(groups, key=lambda key: (groups[key], key))
    found = stored_transcripts(database, filters._replace(source=source), limit=limit)
    of_project = (each for each in found if known.identity(each.folder) == name)
    return MinedGroup(source, name, known.shown(name), of_project, sum(counted.values()) - groups[source, name])


def _is_meant(known: KnownProjects, name: str, project: str) -> bool:
    """Whether a project is the one that a person named: by its name, the end of it, or a folder in it."""
    is_named = any(f"/{each}".endswith(f"/{project}") for each in (name, known.shown(name)))
    return is_named or name == name_of_project(os.path.abspath(project))


def from_lesson(home: Home, database: Database, name: str) -> Mined:
    """The calls that worked where a lesson says that others fail, from sessions of this member, oldest first.

    The lesson is named by its id or its number in the whole list. Of agents with other tools the one is taken that has
    most sessions.
    """
    evidence = lesson_named(home, database, name).evidence
    found = (find(database, id) for id in evidence.session_ids)
    by_agent: dict[str, list[Transcript]] = {}
    for session in (each for each in found if is_believed(database, each)):
        by_agent.setdefault(session.source, []).append(load(database, session))
    of_one = max(by_agent.values(), key=len, default=[])
    return mine_recoveries(sorted(of_one, key=_began), evidence.pieces)


def _began(transcript: Transcript) -> float:
    return next((message.at for message in transcript.messages if message.at is not None), 0.0)


def split_tags(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Tags one by one, or several with commas between them."""
    parts = (part.strip() for text in given for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def made_template(
    mined: Mined, wanted: WantedTemplate, name: str, tags: tuple[str, ...], *, description: str = ""
) -> Template:
    """The template of what was mined; raises WhetError where that is too little."""
    if not mined.seen:
        raise WhetError("No sessions match.", advice="To import sessions, run `whet import`.")
    if not mined.examples:
        needed = f"{many(wanted.fewest, 'example')} from {many(wanted.sessions, 'session')}"
        raise WhetError(
            f"Too few examples: of {many(mined.seen, 'session')} {mined.used:,} could be mined, with"
            f" {many(mined.fitting, 'example')}; a template needs at least {needed}.",
            advice=f"{mined.passed_over} {_more_of(mined)}".strip(),
        )
    words = " ".join(description.split())
    if len(words) > DESCRIPTION_CHARACTERS or Redactor().text(words) != words:
        raise WhetError(
            "The description is too long or contains a secret.",
            advice=f"Use {DESCRIPTION_CHARACTERS} characters.",
        )
    said = words or described(mined.examples)
    return Template(name, mined.examples, mined.activity, said, tags, created=time.time())


def _more_of(mined: Mined) -> str:
    """What helps where too little could be mined: one session gets no better by importing others."""
    if mined.seen == 1:
        return "If you know that it went well, `whet templates create ID --went-well` takes your word for it."
    return "Import more sessions; or `whet templates create --lesson ID` takes what worked after a failure."


def expect_usable(home: Home, name: str | None, tags: tuple[str, ...], *, replace: bool) -> None:
    """Raise WhetError for a name or a tag that would be refused in the end: mining can take minutes."""
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise WhetError(f"{tag[:40]!r} is not a tag.", advice="Use lower-case words joined by hyphens.")
    if name is not None and read_text(home.folder, name) is not None and not replace:
        raise WhetError(f"A template named {name} already exists.", advice="Choose another name, or give --replace.")


def finish(author: Author, template: Template, mined: Mined, *, replace: bool, dry_run: bool, as_json: bool) -> int:
    """Show the template, and let it wait for the person's yes unless it is only to be seen."""
    if dry_run:
        if as_json:
            print_json(
                {"template": template, "seen": mined.seen, "used": mined.used, "left_out": left_out_record(mined)}
            )
        else:
            print_template(template)
        return 0
    entry = keep(author, template, replace=replace)
    if not as_json:
        print_template(template)
    code = tell([entry], as_json=as_json)
    if not as_json:
        say(UNMEASURED.format(name=plain(template.name)))
    return code
