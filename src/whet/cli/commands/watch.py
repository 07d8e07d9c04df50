"""whet watch: sessions with and without each canary and each template compared, and what they say done."""

import os
import time

import click

from whet.cli.options import json_option
from whet.cli.output import print_json


@click.command(
    "watch",
    epilog="Example: whet watch --json",
    help="Count the sessions that have settled since the last look, compare those that were told a canary with those"
    " that were not, promote what clearly helps and revert what harms. In the same way, sessions that `--warm auto`"
    " began with a template are compared with those that it began without, and a template that harms or is not worth"
    " its tokens is retired. The worker does this once an hour by itself.",
)
@click.option(
    "--settled", default=60.0, show_default=True, type=click.FloatRange(0), help="Minutes after which a session counts."
)
@json_option
def command(settled: float, as_json: bool) -> int:
    from whet.cli.shown.canaries import canary_record, show_canaries
    from whet.cli.shown.measured_templates import measured_record, show_measured
    from whet.improving.watch import look
    from whet.store.home import find_home
    from whet.store.opening import opened

    home = find_home(os.environ)
    with opened(home) as database:
        found = look(home, database, now=time.time(), settled_seconds=60 * settled)
    if as_json:
        canaries = [canary_record(each) for each in found.canaries]
        print_json({"canaries": canaries, "templates": [measured_record(each) for each in found.templates]})
        return 0
    if found.canaries or not found.templates:
        show_canaries(found.canaries)
    show_measured(found.templates)
    return 0
