"""whet templates: examples of work that went well, for a new session to begin with."""

import os
import time

import click
import msgspec

from whet.agent.warm_start import known_worths
from whet.changes.templates import remove
from whet.cli.authoring import author_at, tell
from whet.cli.options import json_option, one_name, point_in_time
from whet.cli.output import many, plain, print_json, say
from whet.cli.shown.templates import (
    TemplateRecords,
    as_wire,
    filtered,
    found_record,
    print_list,
    print_stats,
    print_template,
)
from whet.cli.template_making import expect_usable, finish, from_lesson, made_template, one_group, split_tags
from whet.examples.choosing import Need, choose
from whet.examples.mining import WantedTemplate, mine
from whet.examples.recovered import FEWEST
from whet.examples.templates import MOST_EXAMPLES
from whet.examples.warm_start import examples
from whet.sessions.activity import Activity
from whet.sessions.trust import Trust
from whet.shipped.guidance.warm import words
from whet.store.home import find_home
from whet.store.listing import Filters, find
from whet.store.opening import opened
from whet.store.sessions import is_believed
from whet.store.sessions import load as load_session
from whet.store.template_draws import outcomes
from whet.store.template_files import list_templates, load, uses, worths

MOST_SESSIONS = 1000
FORMS = ("openai", "anthropic", "hermes")
activity_option = click.option(
    "--activity", type=click.Choice([each.value for each in Activity]), help="Only this kind."
)
tag_option = click.option(
    "--tag",
    "tags",
    multiple=True,
    callback=split_tags,
    help="Only with this tag. Repeatable, or with commas.",
)
new_tags_option = click.option(
    "--tag", "--tags", "tags", multiple=True, callback=split_tags, help="Tag. Repeatable, or several with commas."
)


@click.group(
    "templates",
    invoke_without_command=True,
    epilog="Example: whet templates create --name web-research --activity research",
    help="List the templates: a few real tool calls that worked, from which a new session can start.",
)
@activity_option
@tag_option
@click.option(
    "--stats",
    is_flag=True,
    help="What each costs, how often it was used, its measured effect, and how live sessions went with and without it.",
)
@click.option(
    "--for", "task", metavar="TASK", help="Which template this task would start from, and why. Exit code 1 if none."
)
@json_option
@click.pass_context
def command(
    context: click.Context, activity: str | None, tags: tuple[str, ...], stats: bool, task: str | None, as_json: bool
) -> int:
    if context.invoked_subcommand:
        return 0
    if task is not None:
        return _choose(Need(task, Activity(activity) if activity else None, tags), as_json)
    return _stats(activity, tags, as_json) if stats else _list(activity, tags, as_json)


def _choose(need: Need, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        usable = [found.template for found in list_templates(home.folder) if found.template]
        choice = choose(usable, known_worths(home, database), need, now=time.time())
    name = choice.template.name if choice.template else None
    if as_json:
        print_json({"template": name, "by": choice.by, "reason": choice.reason})
    else:
        say(f"{plain(name or 'None')}: {plain(choice.reason)}.")
    return 0 if name else 1


def _stats(activity: str | None, tags: tuple[str, ...], as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        known = TemplateRecords(uses(database), worths(database), outcomes(database))
    return print_stats(filtered(list_templates(home.folder), activity, tags), known, as_json=as_json)


@command.command(
    "create",
    epilog="Example: whet templates create 3fa9c1 --name release-notes",
    help="Create a template from one session: calls that worked, without words copied from a tool or a stranger. "
    "Without ID, from many sessions of one agent in one project that went well; evidence of success, strongest first: "
    "the session's own verdict, checks that passed after its last change, another session with the same request and "
    "result, a short record in which nothing failed. With --lesson, the calls that worked where others had failed. "
    "It needs your approval (`whet lessons --waiting`).",
)
@click.argument("session", metavar="[ID]", required=False)
@click.option("--name", help="Name. Default: the activity and the session id.")
@click.option("--description", default="", help="What it is for. Default: what its examples show.")
@click.option(
    "--activity",
    type=click.Choice([each.value for each in Activity]),
    help="Its kind, and that of the sessions. Default: what its calls did.",
)
@new_tags_option
@click.option(
    "--most", type=click.IntRange(1, MOST_EXAMPLES), default=10, show_default=True, help="Maximum number of examples."
)
@click.option("--went-well", is_flag=True, help="Confirm that the session went well, if its record does not show it.")
@click.option("--source", callback=one_name, help="Only sessions of this agent. Default: the one with most sessions.")
@click.option("--lesson", default="", metavar="ID", help="Show what this lesson says works: its id or number.")
@click.option("--project", default="", help="Only this project, by name or folder. Default: that with most sessions.")
@click.option("--since", help="Only sessions since this date or age: 2026-10-01, 30d.")
@click.option(
    "--min-sessions", type=click.IntRange(1), default=2, show_default=True, help="Minimum number of sessions."
)
@click.option("--replace", is_flag=True, help="Replace an existing template of this name.")
@click.option("--dry-run", is_flag=True, help="Show the template, without saving it.")
@json_option
def create(
    session: str | None,
    name: str | None,
    description: str,
    activity: str | None,
    tags: tuple[str, ...],
    most: int,
    went_well: bool,
    source: str | None,
    lesson: str,
    project: str,
    since: str | None,
    min_sessions: int,
    replace: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    home, kind = find_home(os.environ), Activity(activity) if activity else None
    expect_usable(home, name, tags, replace=replace or dry_run)
    with opened(home) as database:
        author = author_at(home, database)
        if session:
            wanted = WantedTemplate(fewest=1, most=most, is_vouched=went_well)
            stored = find(database, session)
            mined = mine([load_session(database, stored)], wanted)
            mined = mined._replace(activity=kind) if kind else mined
            name = name or f"{mined.activity}-{stored.id[:6]}"
            if not is_believed(database, stored):  # another member's words wait for approval
                author = author._replace(trust=Trust.EXTERNAL)
        elif lesson:
            mined, wanted = from_lesson(home, database, lesson), WantedTemplate(fewest=FEWEST, sessions=FEWEST)
            name = name or f"lesson-{lesson}"
        else:
            wanted = WantedTemplate(activity=kind, sessions=min_sessions, most=most)
            filters = Filters(source=source or "", since=point_in_time(since))
            group = one_group(database, filters, project, limit=MOST_SESSIONS)
            if not as_json and group.others:
                click.echo(f"Mining {group.title}; {many(group.others, 'session')} of others left out.", err=True)
            mined = mine(group.transcripts, wanted)
            name = name or f"{mined.activity}-examples"
        made = made_template(mined, wanted, name, tags, description=description)
        return finish(author, made, mined, replace=replace, dry_run=dry_run, as_json=as_json)


@command.command(
    "show",
    epilog="Example: whet templates show web-research --as hermes > ~/.hermes/prefill.json",
    help="Show a template, or print it as messages that another agent can start from. For Hermes, save the output "
    "of --as hermes to the file named in its setting prefill_messages_file.",
)
@click.argument("name")
@click.option("--as", "form", type=click.Choice(FORMS), help="Print messages in this format.")
@json_option
def show(name: str, form: str | None, as_json: bool) -> int:
    template = load(find_home(os.environ).folder, name)
    if form:
        print_json(as_wire(examples(template, words()), form))
    elif as_json:
        print_json({**msgspec.to_builtins(template), "key": template.key, "tokens": template.tokens})
    else:
        print_template(template)
    return 0


@command.command("delete", epilog="Example: whet templates delete web-research", help="Delete a template.")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def delete(name: str, yes: bool, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        if not yes:
            load(home.folder, name)
            click.confirm(f"Delete the template {name}?", abort=True, err=True)
        return tell([remove(author_at(home, database), name)], as_json=as_json)


def _list(activity: str | None, tags: tuple[str, ...], as_json: bool) -> int:
    shown = filtered(list_templates(find_home(os.environ).folder), activity, tags)
    if as_json:
        print_json([found_record(found) for found in shown])
    elif shown:
        print_list(shown)
    elif activity or tags:
        say("No template matches. To list all templates, run `whet templates`.")
    else:
        say("No templates yet. To create one from your sessions, run `whet templates create`.")
    return 0
