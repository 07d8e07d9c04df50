"""After a command that may have changed a rule: what hooks tell is brought up to date."""

import os

from whet.errors import WhetError
from whet.hooks.places import has_hooks
from whet.store.home import find_home
from whet.store.opening import opened


def refresh_hooks() -> None:
    """Compile the rules anew, where there are hooks to tell them."""
    try:
        home = find_home(os.environ)
        if not has_hooks(home.folder):
            return
        from whet.hooks.compiling import refresh_compiled

        with opened(home) as database:
            refresh_compiled(home, database)
    except WhetError:
        return  # the command itself has said what is wrong with the store
