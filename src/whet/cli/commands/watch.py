"""whet watch: sessions with and without each canary and each template compared, and what they say done."""

import os
import time

import click

from whet.cli.options import json_option
from whet.cli.output import print_json


@click.command(
    "watch",
    epilog="Example: whet watch --json",
    help="Compare finished sessions with and without each canary, promote rules that clearly help and revert "
    "rules that harm. A rule that came of a lesson is compared by its own failure in sessions in its situation, as a "
    "detector sees it, with guards beside it. Templates chosen by `--warm auto` are compared like other rules; one "
    "that harms or is not worth its tokens is retired. The worker does this every hour.",
)
@click.option(
    "--settled",
    default=60.0,
    show_default=True,
    type=click.FloatRange(0),
    help="Minutes of inactivity after which a session counts as finished.",
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
