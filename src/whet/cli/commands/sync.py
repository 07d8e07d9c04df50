"""whet sync: write what was learned to where other agents read it, and choose where that is."""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from whet.agents.registry import agents
from whet.cli.delivery import (
    FAILED,
    HookTellers,
    changes_record,
    exit_code,
    hook_tellers,
    order_of,
    print_changes,
    told_sentences,
)
from whet.cli.options import json_option
from whet.cli.output import console, plain, print_json, say, table
from whet.errors import WhetError
from whet.store.home import find_home
from whet.store.opening import opened
from whet.targets import settings
from whet.targets.reaching import UntoldProject, untold_projects
from whet.targets.sync import sync, withdraw
from whet.text.showing import shown
from whet.text.words import many

SHOWN = 5  # projects


@click.group(
    "sync",
    invoke_without_command=True,
    epilog="Example: whet sync add claude-code --project .",
    help="Write the active rules as one marked block into the file of every target, and the skills into its "
    "folder. Text outside the block is left alone; a block that was edited by hand is shown and kept. A target is an "
    f"agent ({', '.join(agent.name for agent in agents() if agent.files)}) or a file of your own.",
)
@click.option("--targets", "is_listing", is_flag=True, help="List the targets, and write nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, without writing it.")
@click.option(
    "--force", is_flag=True, help="Also replace blocks edited by hand; the edited text is saved in the home folder."
)
@json_option
@click.pass_context
def command(context: click.Context, is_listing: bool, dry_run: bool, force: bool, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    return _list(as_json) if is_listing else _sync(dry_run, force, as_json)


def _sync(dry_run: bool, force: bool, as_json: bool) -> int:
    home = find_home(os.environ)
    targets = settings.load(home)
    if not targets and not as_json:
        say("No targets yet, so no file is written. To add one, run `whet sync add claude-code`.")
    if not targets and not (home.database_url or home.database_path.exists()):
        if as_json:
            print_json({"changes": [], "held": []})
        return 0
    with opened(home) as database:
        order = order_of(home, database, dry_run=dry_run, force=force)
        changes = sync(order, targets)
        offer = order.offer()
        untold = untold_projects(database, (rule for rule in offer.rules if not rule.canary), targets)
    if as_json:
        print_json(
            {
                **changes_record(changes, held=offer.held, dry_run=dry_run),
                "untold": [each._asdict() for each in untold],
            }
        )
        return exit_code(changes, held=offer.held)
    if targets:
        print_changes(changes, held=offer.held, dry_run=dry_run, as_json=False)
    for words in _untold_lines(untold, hook_tellers(home)):
        say(words)
    return exit_code(changes, held=offer.held)


def _untold_lines(untold: tuple[UntoldProject, ...], tellers: HookTellers) -> Iterator[str]:
    """Rules that stand in no file, for they hold for projects without a target: who tells them, or what is missing."""
    if not untold:
        return
    number = sum(each.rules for each in untold)
    hold = f"{many(number, 'active rule')} {'holds' if number == 1 else 'hold'} for projects without a target here"
    if told := told_sentences(tellers, " there"):
        yield f"{hold}, so no file holds {'it' if number == 1 else 'them'}. {plain(' '.join(told))}"
        return
    yield f"{hold}. To write them to the project's own file:"
    for each in untold[:SHOWN]:
        yield f"  `{plain(each.command)}` ({many(each.rules, 'rule')} of {plain(shown(each.project))})"
    if len(untold) > SHOWN:
        yield f"  … and {many(len(untold) - SHOWN, 'more project')}."
    yield "Or run `whet setup`: hooks tell them in every project."


@command.command(
    "add",
    epilog="Example: whet sync add codex",
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


@command.command(
    "remove",
    epilog="Example: whet sync remove codex",
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
        say("No targets yet. To add one, run `whet sync add claude-code`.")
    else:
        rows = [(each.name, _short(each.file), _short(each.skills)) for each in targets]
        console().print(table(("target", "rules in", "skills in"), rows))
    return 0


def _short(path: str) -> str:
    """A path for a table: the person's own folder as a tilde."""
    own = f"{Path.home()}/"
    return f"~/{path.removeprefix(own)}" if path.startswith(own) else path or "–"
