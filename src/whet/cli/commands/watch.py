"""whet watch: sessions with and without each canary compared, and what they say done."""

import os
import time

import click

from whet.cli.options import json_option
from whet.cli.output import print_json


@click.command(
    "watch",
    epilog="Example: whet watch --json",
    help="Count the sessions that have settled since the last look, compare those that were told a canary with those"
    " that were not, promote what clearly helps and revert what harms. The worker does this once an hour by itself.",
)
@click.option(
    "--settled", default=60.0, show_default=True, type=click.FloatRange(0), help="Minutes after which a session counts."
)
@json_option
def command(settled: float, as_json: bool) -> int:
    from whet.cli.canaries_shown import canary_record, show_canaries
    from whet.learning.watch import look
    from whet.store.home import find_home
    from whet.store.opening import opened

    home = find_home(os.environ)
    with opened(home) as database:
        found = look(home, database, now=time.time(), settled_seconds=60 * settled)
    if as_json:
        print_json({"canaries": [canary_record(each) for each in found]})
    else:
        show_canaries(found)
    return 0
