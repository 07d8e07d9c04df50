"""A word on what waits for the person, after any command."""

import os
import sys
import time

from whet.changes.pending import waiting
from whet.errors import WhetError
from whet.store.home import find_home
from whet.store.opening import opened
from whet.text.words import many


def mention_pending() -> None:
    """Say on standard error how many changes wait for approval; only on a terminal, and only where there are some."""
    home = find_home(os.environ)
    if not sys.stderr.isatty() or not (home.database_url or home.database_path.exists()):
        return
    try:
        with opened(home) as database:
            number = waiting(home, database, now=time.time())
    except WhetError:
        return  # the command itself has said what is wrong with the store
    if number:
        verb = "needs" if number == 1 else "need"
        sys.stderr.write(f"{many(number, 'change')} {verb} your approval: whet lessons --waiting\n")
