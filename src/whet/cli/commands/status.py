"""whet status: how Whet stands on this machine, in ten lines."""

import os
import time
from pathlib import Path

from whet.cli.options import json_command
from whet.cli.output import give
from whet.cli.shown.status import status_lines, status_record
from whet.machine.status import machine_status
from whet.store.home import find_home


@json_command("status", epilog="Example: whet status --json")
def command() -> int:
    """Show what is installed, what runs, what was learned this week, what needs your approval, and what background work
    cost this week and today, against its daily limit.
    """
    found = machine_status(find_home(os.environ), Path.home(), os.environ, now=time.time())
    return give(status_record(found), status_lines(found))
