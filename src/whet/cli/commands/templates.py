"""whet templates: examples of work that went well, for a new session to begin with, and how they are made."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click
import msgspec

from whet.agent.warm_start import known_worths
from whet.changes.writing import keep_template, remove_named
from whet.cli.acting import author_at, tell
from whet.cli.analysed import lesson_named
from whet.cli.options import AskedRows, json_group, one_name, own_store
from whet.cli.output import give, is_json, plain, print_json, say
from whet.cli.shown.templates import (
    STATS,
    TEMPLATES,
    found_record,
    left_out_record,
    stats_of,
    stats_record,
    template_lines,
    total_line,
)
from whet.errors import WhetError
from whet.ledger.patches import Form
from whet.own.examples.mining import FEWEST, Mined, WantedTemplate, mine, mine_recoveries
from whet.own.examples.templates import DESCRIPTION_CHARACTERS, MOST_EXAMPLES, TAG, Need, Template, choose, described
from whet.own.examples.warm_start import as_anthropic, as_openai, examples
from whet.secrets.redactor import Redactor
from whet.sessions.activity import Activity
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import Filters, find, list_sessions
from whet.store.opening import opened
from whet.store.sessions import is_believed
from whet.store.sessions import load as load_session
from whet.store.template_files import TemplateFile, list_templates, load, read_text, stored_transcripts
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project
from whet.text.words import many

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
        by_agent.setdefault(session.source, []).append(load_session(database, session))
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


MOST_SESSIONS, FEWEST_SESSIONS = 1000, 2
FORMS = ("openai", "anthropic", "hermes")
ACTIVITIES = click.Choice([each.value for each in Activity])
NONE = "No templates yet. To create one from your sessions, run `whet templates create`."


@json_group("templates", epilog="Example: whet templates create --name web-research")
@click.option("--activity", type=ACTIVITIES, help="Only this kind.")
@click.option(
    "--tag", "tags", multiple=True, callback=split_tags, help="Only with this tag. Repeatable, or with commas."
)
@click.option(
    "--stats",
    is_flag=True,
    help="What each costs, how often it was used, its measured effect, and how live sessions went with and without it.",
)
@click.option(
    "--for", "task", metavar="TASK", help="Which template this task would start from, and why. Exit code 1 if none."
)
@TEMPLATES.options
def command(activity: str | None, tags: tuple[str, ...], stats: bool, task: str | None, asked: AskedRows) -> int:
    """List the templates: a few real tool calls that worked, from which a new session can start."""
    every = TEMPLATES.chosen(list_templates(find_home(os.environ).folder), asked)
    if task is not None:
        return _choose(
            [each.value for each in every if each.value],
            Need(task, Activity(activity) if activity else None, tags),
        )
    found = [each for each in every if _is_asked(each, activity, tags)]
    if stats:
        with own_store() as (_, database):
            rows = [stats_of(each.value, database) for each in found if each.value]
        return give(list(map(stats_record, rows)), STATS.lines(rows, none=NONE))
    none = "No template matches. To list all templates, run `whet templates`." if activity or tags else NONE
    return give([found_record(each) for each in found], TEMPLATES.lines(found, total_line(found), none=none))


def _is_asked(found: TemplateFile, activity: str | None, tags: Sequence[str]) -> bool:
    """Whether it is of an activity and has all of the tags; what cannot be read is shown where nothing is asked for."""
    template = found.value
    if template is None:
        return not activity and not tags
    return activity in (None, template.activity) and set(tags) <= set(template.tags)


def _choose(usable: Sequence[Template], need: Need) -> int:
    with own_store() as (home, database):
        choice = choose(usable, known_worths(home, database), need, now=time.time())
    name = choice.template.name if choice.template else None
    record = {"template": name, "by": choice.by, "reason": choice.reason}
    return give(record, (f"{plain(name or 'None')}: {plain(choice.reason)}.",), code=int(not name))


@command.command("create", epilog="Example: whet templates create 3fa9c1 --name release-notes")
@click.argument("session", metavar="[ID]", required=False)
@click.option("--name", help="Name. Default: the activity and the session id.")
@click.option("--description", default="", help="What it is for. Default: what its examples show.")
@click.option("--tag", "--tags", "tags", multiple=True, callback=split_tags, help="Tag. Repeatable, or with commas.")
@click.option(
    "--most", type=click.IntRange(1, MOST_EXAMPLES), default=10, show_default=True, help="Maximum number of examples."
)
@click.option("--went-well", is_flag=True, help="Confirm that the session went well, if its record does not show it.")
@click.option("--source", callback=one_name, help="Only sessions of this agent. Default: the one with most sessions.")
@click.option("--lesson", default="", metavar="ID", help="Show what this lesson says works: its id or number.")
@click.option("--project", default="", help="Only this project, by name or folder. Default: that with most sessions.")
@click.option("--replace", is_flag=True, help="Replace an existing template of this name.")
@click.option("--dry-run", is_flag=True, help="Show the template, without saving it.")
def create(
    session: str | None,
    name: str | None,
    description: str,
    tags: tuple[str, ...],
    most: int,
    went_well: bool,
    source: str | None,
    lesson: str,
    project: str,
    replace: bool,
    dry_run: bool,
) -> int:
    """Create a template from one session: calls that worked, without words copied from a tool or a stranger. Without
    ID, from many sessions of one agent in one project that went well; evidence of success, strongest first: the
    session's own verdict, checks that passed after its last change, a short record in which nothing failed. With
    --lesson, the calls that worked where others had failed. It needs your approval (`whet lessons --waiting`).
    """
    home = find_home(os.environ)
    expect_usable(home, name, tags, replace=replace or dry_run)
    with opened(home) as database:
        author = author_at(home, database)
        if session:
            wanted = WantedTemplate(fewest=1, most=most, is_vouched=went_well)
            stored = find(database, session)
            mined = mine([load_session(database, stored)], wanted)
            name = name or f"{mined.activity}-{stored.id[:6]}"
            if not is_believed(database, stored):  # another member's words wait for approval
                author = author._replace(trust=Trust.EXTERNAL)
        elif lesson:
            mined, wanted = from_lesson(home, database, lesson), WantedTemplate(fewest=FEWEST, sessions=FEWEST)
            name = name or f"lesson-{lesson}"
        else:
            wanted = WantedTemplate(sessions=FEWEST_SESSIONS, most=most)
            group = one_group(database, Filters(source=source or ""), project, limit=MOST_SESSIONS)
            if group.others and not is_json():
                click.echo(f"Mining {group.title}; {many(group.others, 'session')} of others left out.", err=True)
            mined = mine(group.transcripts, wanted)
            name = name or f"{mined.activity}-examples"
        made = made_template(mined, wanted, name, tags, description=description)
        if dry_run:
            record = {"template": made, "seen": mined.seen, "used": mined.used, "left_out": left_out_record(mined)}
            return give(record, template_lines(made))
        entry = keep_template(author, made, replace=replace)
    say(*template_lines(made))
    code = tell([entry])
    say(UNMEASURED.format(name=plain(made.name)))
    return code


@command.command("show", epilog="Example: whet templates show web-research --as hermes > ~/.hermes/prefill.json")
@click.argument("name")
@click.option("--as", "form", type=click.Choice(FORMS), help="Print messages in this format.")
def show(name: str, form: str | None) -> int:
    """Show a template, or print it as messages that another agent can start from. For Hermes, save the output of --as
    hermes to the file named in its setting prefill_messages_file.
    """
    template = load(find_home(os.environ).folder, name)
    if form:
        messages = examples(template, words())  # Hermes takes those of OpenAI
        print_json(as_anthropic(messages) if form == "anthropic" else as_openai(messages))
        return 0
    record = {**msgspec.to_builtins(template), "key": template.key, "tokens": template.tokens}
    return give(record, template_lines(template))


@command.command("delete", epilog="Example: whet templates delete web-research")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(name: str, yes: bool) -> int:
    """Delete a template."""
    with own_store() as (home, database):
        if not yes:
            load(home.folder, name)
            click.confirm(f"Delete the template {name}?", abort=True, err=True)
        return tell([remove_named(author_at(home, database), Form.TEMPLATE, name)])
