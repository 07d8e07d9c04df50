"""whet status: how Whet stands on this machine, in ten lines."""

import os
import time
from pathlib import Path

import click

from whet.cli.options import json_option
from whet.cli.output import print_json, say


@click.command(
    "status",
    epilog="Example: whet status --json",
    help="Show what is installed, what runs, what was learned this week, what needs your approval, and what "
    "background work cost this week and today, against its daily limit.",
)
@json_option
def command(as_json: bool) -> int:
    show_status(as_json=as_json)
    return 0


def show_status(*, as_json: bool = False) -> None:
    """Print how Whet stands on this machine."""
    from whet.cli.shown.status import status_lines, status_record
    from whet.machine.status import machine_status
    from whet.store.home import find_home

    found = machine_status(find_home(os.environ), Path.home(), os.environ, now=time.time())
    if as_json:
        print_json(status_record(found))
        return
    for line in status_lines(found):
        say(line)
