"""whet sync: write what was learned to where other agents read it."""

import os

import click

from whet.cli.delivery import order_of, print_changes
from whet.cli.options import json_option
from whet.cli.output import print_json, say
from whet.store.home import find_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.settings_file import load as settings_of
from whet.targets.settings import load
from whet.targets.sync import sync
from whet.targets.unproved import told_of, unproved


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
    if not targets:
        if as_json:
            print_json({"changes": [], "held": []})
        else:
            say("No targets yet. To add one, run `whet target add claude-code`.")
        return 0
    with opened(home) as database:
        order = order_of(home, database, dry_run=dry_run, force=force)
        changes = sync(order, targets)
        offer = order.offer()
        found = unproved(offer.rules, ledger_of(home, database).entries(), targets)
        line = told_of(found, tries=settings_of(home).rules.unproved == "canary")
    return print_changes(changes, held=offer.held, unproved=line, dry_run=dry_run, as_json=as_json)
