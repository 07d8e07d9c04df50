"""whet target: choose where other agents read what was learned."""

import os
from pathlib import Path

import click

from whet.agents.registry import agents
from whet.cli.delivery import FAILED, order_of, print_changes
from whet.cli.options import json_option
from whet.cli.output import console, plain, print_json, say, table
from whet.errors import WhetError
from whet.store.home import find_home
from whet.store.opening import opened
from whet.targets import settings
from whet.targets.sync import withdraw


@click.group(
    "target",
    invoke_without_command=True,
    epilog="Example: whet target add claude-code --project .",
    help="Choose which agents receive what was learned: "
    f"{', '.join(agent.name for agent in agents() if agent.files)}, or a file of your own. "
    "Without a command, list the targets.",
)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    return 0 if context.invoked_subcommand else _list(as_json)


@command.command(
    "add",
    epilog="Example: whet target add codex",
    help="Add a target: an agent's name or a file. `whet sync` writes to it.",
)
@click.argument("name", metavar="AGENT|FILE")
@click.option("--project", type=click.Path(exists=True, file_okay=False), help="Only for the project in this folder.")
@click.option("--unattended", is_flag=True, help="The agent runs unattended, with nobody to answer its questions.")
@json_option
def add(name: str, project: str | None, unattended: bool, as_json: bool) -> int:
    folder = Path(project).absolute() if project else None
    target = settings.choose(name, person=Path.home(), environment=os.environ, project=folder, unattended=unattended)
    if not target.file and not target.skills:
        raise WhetError(f"{name} reads nothing there.", advice="Try it with --project FOLDER.")
    added = settings.add(find_home(os.environ), target)
    if as_json:
        print_json({"added": added, "target": target})
        return 0
    say(f"{'Added target' if added else 'Unchanged: target'} {plain(target.name)}.")
    say(
        f"Rules go to {plain(target.file)}." if target.file else "The agent reads no rules there; try --project FOLDER."
    )
    if target.skills:
        say(f"Skills go to {plain(target.skills)}.")
    say("To write them, run `whet sync`.")
    return 0


@command.command("list", epilog="Example: whet target list", help="List the targets.")
@json_option
def listing(as_json: bool) -> int:
    return _list(as_json)


@command.command(
    "remove",
    epilog="Example: whet target remove codex",
    help="Remove a target and everything Whet wrote for it. The rest of the file stays unchanged.",
)
@click.argument("name")
@click.option(
    "--force",
    is_flag=True,
    help="Remove it even if it was edited by hand; the edited text is saved in the home folder.",
)
@json_option
def remove(name: str, force: bool, as_json: bool) -> int:
    home = find_home(os.environ)
    targets = settings.load(home)
    target = settings.named(targets, name)
    others = tuple(each for each in targets if each is not target)
    with opened(home) as database:
        changes = withdraw(order_of(home, database, force=force), target, others)
    # A target stays while something of Whet's is still in its place, unless a person says that it does not matter.
    if force or not any(change.kind in FAILED for change in changes):
        settings.remove(home, target.name)
        if not as_json:
            say(f"Removed the target {plain(target.name)}.")
    told = tuple(change for change in changes if as_json or change.kind != "unchanged")
    return print_changes(told, dry_run=False, as_json=as_json) if told or as_json else 0


def _list(as_json: bool) -> int:
    targets = settings.load(find_home(os.environ))
    if as_json:
        print_json({"targets": targets})
    elif not targets:
        say("No targets yet. To add one, run `whet target add claude-code`.")
    else:
        rows = [(each.name, _short(each.file), _short(each.skills)) for each in targets]
        console().print(table(("target", "rules in", "skills in"), rows))
    return 0


def _short(path: str) -> str:
    """A path for a table: the person's own folder as a tilde."""
    own = f"{Path.home()}/"
    return f"~/{path.removeprefix(own)}" if path.startswith(own) else path or "–"
