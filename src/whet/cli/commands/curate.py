"""whet curate: overlapping skills and stale notes, proposed to be merged."""

import os
import time

import click

from whet.cli.options import json_option
from whet.cli.output import many, plain, print_json, say


@click.command(
    "curate",
    epilog="Example: whet curate --dry-run",
    help="Find overlapping skills, duplicate notes and stale notes, and propose to merge or retire them. Nothing "
    "changes until you approve it with `whet lessons --waiting`. An archived skill keeps all its files; `whet ledger "
    "undo` restores it.",
)
@click.option(
    "--days", default=180.0, show_default=True, type=click.FloatRange(1), help="Age in days from which a note is stale."
)
@click.option("--dry-run", is_flag=True, help="Show the findings, without proposing changes.")
@json_option
def command(days: float, dry_run: bool, as_json: bool) -> int:
    from whet.improving.curating import Proposed, curate, look
    from whet.store.home import find_home
    from whet.store.opening import opened

    home = find_home(os.environ)
    with opened(home) as database:
        if dry_run:
            found = tuple(Proposed(finding, ()) for finding in look(home, database, now=time.time(), days=days))
        else:
            found = curate(home, database, now=time.time(), days=days)
    if as_json:
        print_json(
            [
                {
                    "what": each.finding.what,
                    "pending": [entry.number for entry in each.entries],
                    "refused": list(each.refused),
                }
                for each in found
            ]
        )
        return 0
    for each in found:
        numbers = ", ".join(str(entry.number) for entry in each.entries)
        say(f"{plain(each.finding.what)}.{f' Pending as {numbers}.' if numbers else ''}")
        for reason in each.refused:
            say(f"  [dim]{plain(reason)}[/]")
    if not found:
        say("No overlapping skills and no stale notes.")
    elif not dry_run:
        say(f"{many(sum(len(each.entries) for each in found), 'change')} pending. Next: `whet lessons show ID`.")
    return 0
