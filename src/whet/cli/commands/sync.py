"""whet sync: write what was learned to where other agents read it."""

import os
from collections.abc import Iterator

import click

from whet.cli.delivery import changes_record, exit_code, order_of, print_changes
from whet.cli.options import json_option
from whet.cli.output import many, plain, print_json, say
from whet.cli.told_by_hooks import HookTellers, hook_tellers, told_sentences
from whet.store.home import find_home
from whet.store.opening import opened
from whet.targets.reaching import UntoldProject, untold_projects
from whet.targets.settings import load
from whet.targets.sync import sync
from whet.text.showing import shown

SHOWN = 5  # projects


@click.command(
    "sync",
    epilog="Example: whet sync --dry-run",
    help="Write the active rules as one marked block into the file of every target, and the skills into its "
    "folder. Text outside the block is left alone; a block that was edited by hand is shown and kept.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, without writing it.")
@click.option(
    "--force", is_flag=True, help="Also replace blocks edited by hand; the edited text is saved in the home folder."
)
@json_option
def command(dry_run: bool, force: bool, as_json: bool) -> int:
    home = find_home(os.environ)
    targets = load(home)
    if not targets and not as_json:
        say("No targets yet, so no file is written. To add one, run `whet target add claude-code`.")
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
