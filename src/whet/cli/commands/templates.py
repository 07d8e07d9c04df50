"""whet templates: examples of work that went well, for a new session to begin with, and how they are made."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import click
import msgspec

from whet.agent.warm_start import known_worths
from whet.changes.writing import keep_template, remove_named
from whet.cli.acting import author_at, tell
from whet.cli.analysed import lesson_named
from whet.cli.options import AskedRows, CommandList, is_of_project, json_group, one_name, own_store
from whet.cli.output import fields, give, is_json, moment, plain, print_json, say
from whet.errors import WhetError
from whet.ledger.patches import Form
from whet.own.examples.mining import FEWEST, Mined, WantedTemplate, mine, mine_recoveries
from whet.own.examples.templates import (
    DESCRIPTION_CHARACTERS,
    MOST_EXAMPLES,
    TAG,
    Need,
    Template,
    TemplateEffect,
    choose,
    described,
)
from whet.own.examples.warm_start import as_anthropic, as_openai, examples
from whet.secrets.redactor import Redactor
from whet.sessions.activity import Activity
from whet.sessions.exports import iso
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import Filters, find, list_sessions
from whet.store.recording import template_uses
from whet.store.sessions import is_believed
from whet.store.sessions import load as load_session
from whet.store.template_files import (
    TemplateFile,
    list_templates,
    load,
    outcomes,
    read_text,
    stored_transcripts,
    worths,
)
from whet.telling.targets.known_projects import KnownProjects
from whet.text.words import many

MOST_SESSIONS, FEWEST_SESSIONS = 1000, 2
FORMS = ("openai", "anthropic", "hermes")
ACTIVITIES = click.Choice([each.value for each in Activity])
NONE = "No templates yet. To create one from your sessions, run `whet templates create`."
# What helps where too little could be mined: one session gets no better by importing others.
OF_ONE = "If you know that it went well, `whet templates create ID --went-well` takes your word for it."
OF_MANY = "Import more sessions; or `whet templates create --lesson ID` takes what worked after a failure."
UNMEASURED = (
    "Its effect has not been measured: `--warm auto` starts half of the sessions that it fits with it, until the watch"
    " can tell. To measure it now, run `whet try --template {name} --cases cases/`."
)
LINES_SHOWN = 6


class TemplateStats(NamedTuple):
    """A template with its uses, its effect as it was last measured, and how live sessions went with and without it."""

    template: Template
    uses: int
    last: float | None
    worth: TemplateEffect | None
    told: tuple[float, ...]  # how badly sessions went that began with it, by lot
    untold: tuple[float, ...]


TEMPLATES: CommandList[TemplateFile] = CommandList(
    {
        "name": lambda each: each.name,
        "activity": lambda each: each.value.activity if each.value else "–",
        "examples": lambda each: len(each.value.examples) if each.value else "–",
        "tokens": lambda each: each.value.tokens if each.value else "–",
        "tags": lambda each: ", ".join(each.value.tags) if each.value else "",
        "description": lambda each: each.value.description if each.value else f"✗ {each.fault}",
    },
    numbers=("examples", "tokens"),
    at=lambda each: each.value.created if each.value else None,
)
STATS: CommandList[TemplateStats] = CommandList(
    {
        "name": lambda row: row.template.name,
        "tokens": lambda row: row.template.tokens,
        "used": lambda row: row.uses,
        "last": lambda row: moment(row.last),
        "measured": lambda row: _effect(row.worth),
        "live: with": lambda row: _went(row.told),
        "without": lambda row: _went(row.untold),
    },
    numbers=("tokens", "used", "live: with", "without"),
)


def _one_group(database: Database, source: str, project: str) -> tuple[str, Iterator[Transcript], int]:
    """The sessions of one agent in one project: those asked for, else those of which there are most. First what they
    are called, last how many of others there are: other agents have other tools, and other projects other ways.
    """
    own, known = Filters(source=source, maker=database.member), KnownProjects(database)
    listed = list_sessions(database, own, limit=MOST_SESSIONS)
    counted = Counter((session.source, known.identity(session.folder)) for session in listed)
    groups = {key: number for key, number in counted.items() if is_of_project(key[1], project, known)}
    if not groups:
        raise WhetError("No sessions match.", advice="To import sessions, run `whet import`.")
    source, name = max(groups, key=lambda key: (groups[key], key))
    found = stored_transcripts(database, Filters(source=source), limit=MOST_SESSIONS)
    of_project = (each for each in found if known.identity(each.folder) == name)
    title = f"{source} in {known.shown(name)}" if name else source
    return title, of_project, sum(counted.values()) - groups[source, name]


def _from_lesson(home: Home, database: Database, name: str) -> Mined:
    """The calls that worked where a lesson says that others fail, from sessions of this member, oldest first.

    The lesson is named by its id or its number in the whole list. Of agents with other tools the one is taken that has
    most sessions.
    """
    evidence = lesson_named(home, database, name)[1].evidence
    found = (find(database, id) for id in evidence.session_ids)
    by_agent: dict[str, list[Transcript]] = {}
    for session in (each for each in found if is_believed(database, each)):
        by_agent.setdefault(session.source, []).append(load_session(database, session))
    of_one = max(by_agent.values(), key=len, default=[])
    began = {each.id: next((message.at for message in each.messages if message.at is not None), 0.0) for each in of_one}
    return mine_recoveries(sorted(of_one, key=lambda each: began[each.id]), evidence.pieces)


def _split_tags(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Tags one by one, or several with commas between them."""
    parts = (part.strip() for text in given for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _made_template(
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
            advice=f"{mined.passed_over} {OF_ONE if mined.seen == 1 else OF_MANY}".strip(),
        )
    words = " ".join(description.split())
    if len(words) > DESCRIPTION_CHARACTERS or Redactor().text(words) != words:
        raise WhetError(
            "The description is too long or contains a secret.", advice=f"Use {DESCRIPTION_CHARACTERS} characters."
        )
    said = words or described(mined.examples)
    return Template(name, mined.examples, mined.activity, said, tags, created=time.time())


def _expect_usable(home: Home, name: str | None, tags: tuple[str, ...], *, replace: bool) -> None:
    """Raise WhetError for a name or a tag that would be refused in the end: mining can take minutes."""
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise WhetError(f"{tag[:40]!r} is not a tag.", advice="Use lower-case words joined by hyphens.")
    if name is not None and read_text(home.folder, name) is not None and not replace:
        raise WhetError(f"A template named {name} already exists.", advice="Choose another name, or give --replace.")


@json_group("templates", epilog="Example: whet templates create --name web-research")
@click.option("--activity", type=ACTIVITIES, help="Only this kind.")
@click.option(
    "--tag", "tags", multiple=True, callback=_split_tags, help="Only with this tag. Repeatable, or with commas."
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
            [each.value for each in every if each.value], Need(task, Activity(activity) if activity else None, tags)
        )
    found = [each for each in every if _is_asked(each, activity, tags)]
    if stats:
        with own_store() as (_, database):
            rows = [_stats_of(each.value, database) for each in found if each.value]
        return give(list(map(_stats_record, rows)), STATS.lines(rows, none=NONE))
    totals = Counter(each.value.activity for each in found if each.value)
    total = ", ".join(f"{number} {activity}" for activity, number in totals.most_common())
    none = "No template matches. To list all templates, run `whet templates`." if activity or tags else NONE
    return give([_found_record(each) for each in found], TEMPLATES.lines(found, f"{total}.", none=none))


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
@click.option("--tag", "--tags", "tags", multiple=True, callback=_split_tags, help="Tag. Repeatable, or with commas.")
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
    _expect_usable(find_home(os.environ), name, tags, replace=replace or dry_run)
    with own_store() as (home, database):
        author = author_at(home, database)
        if session:
            wanted = WantedTemplate(fewest=1, most=most, is_vouched=went_well)
            stored = find(database, session)
            mined = mine([load_session(database, stored)], wanted)
            name = name or f"{mined.activity}-{stored.id[:6]}"
            if not is_believed(database, stored):  # another member's words wait for approval
                author = author._replace(trust=Trust.EXTERNAL)
        elif lesson:
            mined, wanted = _from_lesson(home, database, lesson), WantedTemplate(fewest=FEWEST, sessions=FEWEST)
            name = name or f"lesson-{lesson}"
        else:
            wanted = WantedTemplate(sessions=FEWEST_SESSIONS, most=most)
            title, transcripts, others = _one_group(database, source or "", project)
            if others and not is_json():
                click.echo(f"Mining {title}; {many(others, 'session')} of others left out.", err=True)
            mined = mine(transcripts, wanted)
            name = name or f"{mined.activity}-examples"
        made = _made_template(mined, wanted, name, tags, description=description)
        if dry_run:
            left_out = {**mined.left_out, **{f"session: {reason}": count for reason, count in mined.refused.items()}}
            record = {"template": made, **fields(mined, "seen", "used"), "left_out": left_out}
            return give(record, _template_lines(made))
        entry = keep_template(author, made, replace=replace)
    say(*_template_lines(made))
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
    return give(record, _template_lines(template))


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


def _found_record(found: TemplateFile) -> dict[str, object]:
    template = found.value
    if template is None:
        return {"name": found.name, "fault": found.fault}
    return {
        **fields(template, "name", "key", "activity", "description", "tags"),
        "examples": len(template.examples),
        **fields(template, "tools", "sessions", "tokens", "made"),
        "created": iso(template.created),
    }


def _template_lines(template: Template) -> Iterator[str]:
    tags = f"  {plain(', '.join(template.tags))}" if template.tags else ""
    yield f"[bold]{plain(template.name)}[/]  {template.activity}{tags}"
    yield f"{plain(template.description)}; about {many(template.tokens, 'token')}.\n"
    if template.addendum:
        yield f"Told before the examples:\n{plain(template.addendum)}\n"
    for number, group in enumerate(template.requests, start=1):
        first, last = group[0], group[-1]
        of_more = "" if first.is_whole or not first.intent else "  [dim](one step)[/]"
        yield f"{number}. {plain(first.intent or '(one step of longer work)')}{of_more}"
        for example in group:
            yield f"   [bold]{plain(example.tool)}[/] {plain(example.arguments)}"
            for line in (example.result.splitlines() or ["(nothing)"])[:LINES_SHOWN]:
                yield f"     [dim]{plain(line)}[/]"
        yield f"   [dim]{plain(last.session[:8])} {plain(last.evidence)}[/]\n"


def _stats_of(template: Template, database: Database) -> TemplateStats:
    """What is on record of a template."""
    use, drawn = template_uses(database).get(template.key), outcomes(database).get(template.key, ())
    worth = next((each for each in reversed(worths(database)) if each.key == template.key), None)
    told, untold = (tuple(each.loss for each in drawn if each.draw.told is side) for side in (True, False))
    return TemplateStats(template, use.sessions if use else 0, use.last if use else None, worth, told, untold)


def _stats_record(row: TemplateStats) -> dict[str, object]:
    return {
        **fields(row.template, "name", "key", "tokens"),
        "uses": row.uses,
        "last_used": iso(row.last),
        "worth": row.worth,
        "live": {
            "told": len(row.told),
            "untold": len(row.untold),
            "loss_told": fmean(row.told) if row.told else None,
            "loss_untold": fmean(row.untold) if row.untold else None,
        },
    }


def _effect(worth: TemplateEffect | None) -> str:
    if worth is None:
        return "not measured"
    return f"{worth.effect:+.2f} ({worth.low:+.2f} to {worth.high:+.2f}) over {many(worth.cases, 'case')}"


def _went(losses: Sequence[float]) -> str:
    return f"{fmean(losses):.2f} ({len(losses)})" if losses else "–"
