"""whet sync: write what was learned to where other agents read it, and choose where that is."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from whet.agents.registry import agents
from whet.cli.delivery import FAILED, HookTellers, change_lines, hook_tellers, told_sentences
from whet.cli.options import json_group
from whet.cli.output import give, is_json, plain, say, table
from whet.errors import WhetError
from whet.store.home import find_home
from whet.store.opening import opened
from whet.telling.targets import settings
from whet.telling.targets.settings import UntoldProject, untold_projects
from whet.telling.targets.sync import TargetChange, order_of, sync, withdraw
from whet.text.showing import shown
from whet.text.words import many

SHOWN = 5  # projects


@json_group(
    "sync",
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
def command(is_listing: bool, dry_run: bool, force: bool) -> int:
    return _list() if is_listing else _sync(dry_run, force)


def _sync(dry_run: bool, force: bool) -> int:
    home = find_home(os.environ)
    targets = settings.load(home)
    if not targets:
        say("No targets yet, so no file is written. To add one, run `whet sync add claude-code`.")
    if not targets and not (home.database_url or home.database_path.exists()):
        return give({"changes": [], "held": []}, ())
    with opened(home) as database:
        order = order_of(home, database, now=time.time(), dry_run=dry_run, force=force)
        changes = sync(order, targets)
        offer = order.offer()
        untold = untold_projects(database, (rule for rule in offer.rules if not rule.canary), targets)
    record = {**_record(changes, offer.held, dry_run=dry_run), "untold": [each._asdict() for each in untold]}
    lines = (
        *(change_lines(changes, held=offer.held, dry_run=dry_run) if targets else ()),
        *_untold_lines(untold, hook_tellers(home)),
    )
    return give(record, lines, code=int(bool(offer.held) or _has_failed(changes)))


def _record(changes: Iterable[TargetChange], held: tuple[str, ...] = (), *, dry_run: bool = False) -> dict[str, object]:
    return {"changes": [each._asdict() for each in changes], "held": held, "dry_run": dry_run}


def _has_failed(changes: Iterable[TargetChange]) -> bool:
    return any(change.kind in FAILED for change in changes)


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


@command.command("add", epilog="Example: whet sync add codex")
@click.argument("name", metavar="AGENT|FILE")
@click.option("--project", type=click.Path(exists=True, file_okay=False), help="Only for the project in this folder.")
@click.option("--unattended", is_flag=True, help="The agent runs unattended, with nobody to answer its questions.")
def add(name: str, project: str | None, unattended: bool) -> int:
    """Add a target: an agent's name or a file. `whet sync` writes to it."""
    folder = Path(project).absolute() if project else None
    target = settings.choose(name, person=Path.home(), environment=os.environ, project=folder, unattended=unattended)
    if not target.file and not target.skills:
        raise WhetError(f"{name} reads nothing there.", advice="Try it with --project FOLDER.")
    added = settings.add(find_home(os.environ), target)
    rules = f"Rules go to {plain(target.file)}." if target.file else "It reads no rules there; try --project FOLDER."
    lines = (
        f"{'Added target' if added else 'Unchanged: target'} {plain(target.name)}.",
        rules,
        *((f"Skills go to {plain(target.skills)}.",) if target.skills else ()),
        "To write them, run `whet sync`.",
    )
    return give({"added": added, "target": target}, lines)


@command.command("remove", epilog="Example: whet sync remove codex")
@click.argument("name")
@click.option(
    "--force",
    is_flag=True,
    help="Remove it even if it was edited by hand; the edited text is saved in the home folder.",
)
def remove(name: str, force: bool) -> int:
    """Remove a target and everything Whet wrote for it. The rest of the file stays unchanged."""
    home = find_home(os.environ)
    targets = settings.load(home)
    target = settings.named(targets, name)
    others = tuple(each for each in targets if each is not target)
    with opened(home) as database:
        order = order_of(home, database, now=time.time(), dry_run=False, force=force)
        changes = withdraw(order, target, others)
    # A target stays while something of Whet's is still in its place, unless a person says that it does not matter.
    if force or not _has_failed(changes):
        settings.remove(home, target.name)
        say(f"Removed the target {plain(target.name)}.")
    told = tuple(change for change in changes if is_json() or change.kind != "unchanged")
    lines = change_lines(told, dry_run=False) if told else ()
    return give(_record(told), lines, code=int(_has_failed(changes)))


def _list() -> int:
    targets = settings.load(find_home(os.environ))
    own = f"{Path.home()}/"
    places = ((each.file, each.skills) for each in targets)
    short = ([f"~/{path.removeprefix(own)}" if path.startswith(own) else path or "–" for path in two] for two in places)
    rows = [(each.name, *two) for each, two in zip(targets, short, strict=True)]
    none = "No targets yet. To add one, run `whet sync add claude-code`."
    return give({"targets": targets}, (table(("target", "rules in", "skills in"), rows) if rows else none,))
