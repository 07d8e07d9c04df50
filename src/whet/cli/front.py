"""What `whet` alone does."""

import os
import time
from pathlib import Path

from whet.cli.output import say
from whet.cli.shown.front import front_lines
from whet.setup.status import machine_status
from whet.store.home import find_home


def show_front() -> None:
    """Print how things stand, and what to do next."""
    for line in front_lines(machine_status(find_home(os.environ), Path.home(), os.environ, now=time.time())):
        say(line)
