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
from whet.cli.template_import import import_command
from whet.cli.template_making import expect_usable, finish, made_template, one_group, split_tags
from whet.cli.trying import template_command
from whet.examples.choosing import Need, choose
from whet.examples.mining import WantedTemplate, mine
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
    epilog="Example: whet templates mine web-research --activity research",
    help="List the templates: a few real tool calls that worked, from which a new session can start.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    return 0 if context.invoked_subcommand else _list(None, (), as_json)


@command.command("list", epilog="Example: whet templates list --activity code", help="List the templates.")
@activity_option
@tag_option
@json_option
def list_(activity: str | None, tags: tuple[str, ...], as_json: bool) -> int:
    return _list(activity, tags, as_json)


@command.command(
    "create",
    epilog="Example: whet templates create 3fa9c1 --name release-notes",
    help="Create a template from one session: calls that worked, without words copied from a tool or a stranger. It "
    "needs your approval (`whet pending`).",
)
@click.argument("session", metavar="ID")
@click.option("--name", help="Name. Default: the activity and the session id.")
@click.option("--description", default="", help="What it is for. Default: what its examples show.")
@click.option(
    "--activity", type=click.Choice([each.value for each in Activity]), help="Its kind. Default: what its calls did."
)
@new_tags_option
@click.option(
    "--most", type=click.IntRange(1, MOST_EXAMPLES), default=10, show_default=True, help="Maximum number of examples."
)
@click.option("--went-well", is_flag=True, help="Confirm that the session went well, if its record does not show it.")
@click.option("--replace", is_flag=True, help="Replace an existing template of this name.")
@click.option("--dry-run", is_flag=True, help="Show the template, without saving it.")
@json_option
def create(
    session: str,
    name: str | None,
    description: str,
    activity: str | None,
    tags: tuple[str, ...],
    most: int,
    went_well: bool,
    replace: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    home = find_home(os.environ)
    expect_usable(home, name, tags, replace=replace or dry_run)
    wanted = WantedTemplate(fewest=1, most=most, is_vouched=went_well)
    with opened(home) as database:
        stored = find(database, session)
        mined = mine([load_session(database, stored)], wanted)
        if activity:
            mined = mined._replace(activity=Activity(activity))
        name = name or f"{mined.activity}-{stored.id[:6]}"
        made = made_template(mined, wanted, name, tags, description=description)
        author = author_at(home, database)
        if not is_believed(database, stored):  # another member's words wait for approval
            author = author._replace(trust=Trust.EXTERNAL)
        return finish(author, made, mined, replace=replace, dry_run=dry_run, as_json=as_json)


@command.command(
    "mine",
    epilog="Example: whet templates mine code-review --activity code --source claude-code --min-sessions 3",
    help="Create a template from many sessions of one agent in one project: different calls that worked, from "
    "sessions that went well. "
    "Evidence of success, strongest first: the session's own verdict, checks that passed after its last "
    "change, another session with the same request and result, a short record in which nothing failed.",
)
@click.argument("name", required=False)
@click.option("--activity", type=click.Choice([each.value for each in Activity]), help="Only sessions of this kind.")
@click.option(
    "--source",
    callback=one_name,
    help="Only sessions of this agent, such as claude-code. Default: the one with most sessions.",
)
@click.option(
    "--project", default="", help="Only this project, by name or folder. Default: the one with most sessions."
)
@click.option("--since", help="Only sessions since this date or age: 2026-10-01, 30d.")
@click.option(
    "--min-sessions", type=click.IntRange(1), default=2, show_default=True, help="Minimum number of sessions."
)
@click.option(
    "--max-sessions",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Maximum number of sessions to read, newest first.",
)
@new_tags_option
@click.option("--replace", is_flag=True, help="Replace an existing template of this name.")
@click.option("--dry-run", is_flag=True, help="Show the template, without saving it.")
@json_option
def mine_(
    name: str | None,
    activity: str | None,
    source: str | None,
    project: str,
    since: str | None,
    min_sessions: int,
    max_sessions: int,
    tags: tuple[str, ...],
    replace: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    home = find_home(os.environ)
    expect_usable(home, name, tags, replace=replace or dry_run)
    wanted = WantedTemplate(activity=Activity(activity) if activity else None, sessions=min_sessions)
    filters = Filters(source=source or "", since=point_in_time(since))
    with opened(home) as database:
        group = one_group(database, filters, project, limit=max_sessions)
        if not as_json and group.others:
            click.echo(f"Mining {group.title}; {many(group.others, 'session')} of others left out.", err=True)
        mined = mine(group.transcripts, wanted)
        made = made_template(mined, wanted, name or f"{mined.activity}-examples", tags)
        return finish(author_at(home, database), made, mined, replace=replace, dry_run=dry_run, as_json=as_json)


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


@command.command(
    "choose",
    epilog='Example: whet templates choose "Compare three vector databases" --activity research',
    help="Show which template a task would start from, and why. Exit code 1 if none.",
)
@click.argument("task", required=False, default="")
@activity_option
@tag_option
@click.option("--tool", "tools", multiple=True, help="Tool that the session has. Repeatable.")
@click.option("--model", default="", help="Model that the session uses.")
@json_option
def choose_(
    task: str, activity: str | None, tags: tuple[str, ...], tools: tuple[str, ...], model: str, as_json: bool
) -> int:
    home = find_home(os.environ)
    need = Need(task, Activity(activity) if activity else None, tags, tools, model)
    with opened(home) as database:
        usable = [found.template for found in list_templates(home.folder) if found.template]
        choice = choose(usable, known_worths(home, database), need, now=time.time())
    name = choice.template.name if choice.template else None
    if as_json:
        print_json({"template": name, "by": choice.by, "reason": choice.reason})
    else:
        say(f"{plain(name or 'None')}: {plain(choice.reason)}.")
    return 0 if name else 1


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


@command.command(
    "stats",
    epilog="Example: whet templates stats",
    help="Show what each template costs, how often it was used, its measured effect, and how live sessions went "
    "that `--warm auto` started with and without it.",
)
@activity_option
@tag_option
@json_option
def stats(activity: str | None, tags: tuple[str, ...], as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        known = TemplateRecords(uses(database), worths(database), outcomes(database))
    return print_stats(filtered(list_templates(home.folder), activity, tags), known, as_json=as_json)


command.add_command(template_command)
command.add_command(import_command)


def _list(activity: str | None, tags: tuple[str, ...], as_json: bool) -> int:
    shown = filtered(list_templates(find_home(os.environ).folder), activity, tags)
    if as_json:
        print_json([found_record(found) for found in shown])
    elif shown:
        print_list(shown)
    elif activity or tags:
        say("No template matches. To list all templates, run `whet templates`.")
    else:
        say("No templates yet. To create one from your sessions, run `whet templates mine`.")
    return 0
