"""whet templates: examples of work that went well, for a new session to begin with."""

import os
import time
from pathlib import Path

import click
import msgspec

from whet.activity import Activity
from whet.changes.author import Author
from whet.changes.templates import keep, remove
from whet.cli.authoring import author_at, person_at, tell
from whet.cli.options import json_option, point_in_time
from whet.cli.output import many, plain, print_json, say
from whet.cli.templates_shown import as_wire, filtered, found_record, print_list, print_stats, print_template
from whet.cli.trying import template_command
from whet.data import failure_weights
from whet.errors import WhetError
from whet.guidance.warm import words
from whet.importers import hermes_templates
from whet.ledger import Entry
from whet.mining import Mined, Wanted, mine
from whet.store.home import find_home, prepare_home
from whet.store.listing import Filters, find
from whet.store.opening import opened
from whet.store.sessions import load as load_session
from whet.store.template_files import list_templates, load, stored_transcripts, uses, worths
from whet.template_choice import Need, choose
from whet.templates import MOST_EXAMPLES, Template, described
from whet.warm_starts import examples

FILE_BYTES = 2_000_000
FORMS = ("openai", "anthropic", "hermes")
activity_option = click.option(
    "--activity", type=click.Choice([each.value for each in Activity]), help="Only this kind."
)
tag_option = click.option("--tag", "tags", multiple=True, help="Only with this tag; may be given again.")


@click.group(
    "templates",
    invoke_without_command=True,
    epilog="Example: whet templates mine web-research --activity research",
    help="List the templates: a few real calls that worked, with which a new session can begin.",
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
    help="Make a template from one session. Only what worked is taken, and nothing that a tool or a stranger wrote.",
)
@click.argument("session", metavar="ID")
@click.option("--name", help="Its name; made from the activity and the session's id if not given.")
@click.option("--tag", "tags", multiple=True, help="A tag for it; may be given again.")
@click.option("--most", type=click.IntRange(1, MOST_EXAMPLES), default=10, show_default=True, help="Examples at most.")
@click.option("--replace", is_flag=True, help="In the place of the one that has this name.")
@click.option("--dry-run", is_flag=True, help="Only show it.")
@json_option
def create(
    session: str, name: str | None, tags: tuple[str, ...], most: int, replace: bool, dry_run: bool, as_json: bool
) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        stored = find(database, session)
        mined = mine([load_session(database, stored)], Wanted(fewest=1, most=most), weights=failure_weights())
        made = _template(mined, name or f"{mined.activity}-{stored.id[:6]}", tags)
        return _finish(author_at(home, database), made, mined, replace=replace, dry_run=dry_run, as_json=as_json)


@command.command(
    "mine",
    epilog="Example: whet templates mine code-review --activity code --source claude-code --min-sessions 3",
    help="Make a template from many sessions: calls that worked, in sessions that went well, each different from the"
    " others. A verdict that a session carries counts before its failure score.",
)
@click.argument("name", required=False)
@click.option("--activity", type=click.Choice([each.value for each in Activity]), help="Only sessions of this kind.")
@click.option("--source", help="Only sessions of this agent, such as claude-code.")
@click.option("--since", help="Only sessions as new as this: 2026-10-01, or 30d ago.")
@click.option("--min-sessions", type=click.IntRange(1), default=2, show_default=True, help="From so many at least.")
@click.option("--max-sessions", type=click.IntRange(1), default=1000, show_default=True, help="Look at the newest.")
@click.option("--tag", "tags", multiple=True, help="A tag for it; may be given again.")
@click.option("--replace", is_flag=True, help="In the place of the one that has this name.")
@click.option("--dry-run", is_flag=True, help="Only show it.")
@json_option
def mine_(
    name: str | None,
    activity: str | None,
    source: str | None,
    since: str | None,
    min_sessions: int,
    max_sessions: int,
    tags: tuple[str, ...],
    replace: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    home = find_home(os.environ)
    wanted = Wanted(activity=Activity(activity) if activity else None, sessions=min_sessions)
    filters = Filters(source=source or "", since=point_in_time(since))
    with opened(home) as database:
        found = stored_transcripts(database, filters, limit=max_sessions)
        mined = mine(found, wanted, weights=failure_weights())
        made = _template(mined, name or f"{mined.activity}-examples", tags)
        return _finish(author_at(home, database), made, mined, replace=replace, dry_run=dry_run, as_json=as_json)


@command.command(
    "show",
    epilog="Example: whet templates show web-research --as hermes > ~/.hermes/prefill.json",
    help="Show a template, or print it in a wire form. The form hermes is a file that its setting"
    " prefill_messages_file takes.",
)
@click.argument("name")
@click.option("--as", "form", type=click.Choice(FORMS), help="As the messages that a request begins with.")
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
    help="Say which template a task would begin with, and why; exit code 1 if none.",
)
@click.argument("task", required=False, default="")
@activity_option
@tag_option
@click.option("--tool", "tools", multiple=True, help="A tool that the session has; may be given again.")
@click.option("--model", default="", help="The model that the session uses.")
@json_option
def choose_(
    task: str, activity: str | None, tags: tuple[str, ...], tools: tuple[str, ...], model: str, as_json: bool
) -> int:
    home = find_home(os.environ)
    need = Need(task, Activity(activity) if activity else None, tags, tools, model)
    with opened(home) as database:
        usable = [found.template for found in list_templates(home.folder) if found.template]
        choice = choose(usable, worths(database), need, now=time.time())
    name = choice.template.name if choice.template else None
    if as_json:
        print_json({"template": name, "by": choice.by, "reason": choice.reason})
    else:
        say(f"{plain(name or 'None')}: {plain(choice.reason)}.")
    return 0 if name else 1


@command.command("delete", epilog="Example: whet templates delete web-research", help="Take a template away.")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(name: str, yes: bool, as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        if not yes:
            load(home.folder, name)
            click.confirm(f"Take the template {name} away?", abort=True, err=True)
        return tell([remove(author_at(home, database), name)], as_json=as_json)


@command.command(
    "stats",
    epilog="Example: whet templates stats",
    help="What each template costs, how often it was used, and what was measured of it.",
)
@activity_option
@tag_option
@json_option
def stats(activity: str | None, tags: tuple[str, ...], as_json: bool) -> int:
    home = find_home(os.environ)
    with opened(home) as database:
        used, measured = uses(database), worths(database)
    return print_stats(filtered(list_templates(home.folder), activity, tags), used, measured, as_json=as_json)


@command.command(
    "import-hermes",
    epilog="Example: whet templates import-hermes",
    help="Bring in the session templates and warm sessions of a Hermes home. Nobody knows where their words come from:"
    " each waits for your approval (`whet pending`).",
)
@click.option("--folder", type=click.Path(path_type=Path), help="Hermes' home; ~/.hermes or HERMES_HOME if not given.")
@json_option
def import_hermes(folder: Path | None, as_json: bool) -> int:
    base = folder or Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes")
    paths = [path for name in hermes_templates.FOLDERS for path in sorted((base / name).glob("*.json"))]
    if not paths:
        raise WhetError(f"There are no templates in {base}.", advice="Give Hermes' home with --folder.")
    home = find_home(os.environ)
    prepare_home(home)
    made: list[Entry] = []
    left: list[dict[str, str]] = []
    with opened(home) as database:
        author = person_at(home, database)._replace(reason="brought in from Hermes")
        for path in paths:
            try:
                made.append(keep(author, hermes_templates.read(_text(path), stem=path.stem)))
            except WhetError as error:
                left.append({"file": str(path), "reason": error.message})
    if as_json:
        print_json({"waiting": [entry.number for entry in made], "left_out": left})
    else:
        for each in left:
            say(f"Left out: {plain(each['file'])}: {plain(each['reason'])}")
        say(f"{many(len(made), 'template')} wait for your approval: `whet pending`.")
    return 0 if made else 1


command.add_command(template_command)


def _list(activity: str | None, tags: tuple[str, ...], as_json: bool) -> int:
    shown = filtered(list_templates(find_home(os.environ).folder), activity, tags)
    if as_json:
        print_json([found_record(found) for found in shown])
    elif shown:
        print_list(shown)
    else:
        say("No template. `whet templates mine` makes one from your sessions.")
    return 0 if shown or not (activity or tags) else 1


def _template(mined: Mined, name: str, tags: tuple[str, ...]) -> Template:
    if not mined.examples:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(mined.left_out.items()) if count)
        raise WhetError(
            f"Of {many(mined.seen, 'session')} {mined.used} could be mined, and too few examples are left.",
            advice=f"Left out: {reasons or 'nothing'}. Import more sessions, or ask for less.",
        )
    return Template(name, mined.examples, mined.activity, described(mined.examples), tags, created=time.time())


def _finish(author: Author, template: Template, mined: Mined, *, replace: bool, dry_run: bool, as_json: bool) -> int:
    if dry_run:
        if as_json:
            print_json({"template": template, "seen": mined.seen, "used": mined.used, "left_out": mined.left_out})
        else:
            print_template(template)
        return 0
    if not as_json:
        print_template(template)
    return tell([keep(author, template, replace=replace)], as_json=as_json)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > FILE_BYTES:
            raise WhetError(f"{path.name} is too large.", advice="It is left out.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{path.name} cannot be read.", advice="It is left out.") from error
