"""The end of a worker: none of the engine's threads may be in a database while Python takes itself apart."""

import os
import sys
import threading
import time
from collections.abc import Collection
from typing import NoReturn

from whet.engine.library import DBOS

PATIENCE_SECONDS = 5
WAIT_SECONDS = 20.0


def end_engine(before: Collection[threading.Thread], *, is_busy: bool) -> None:
    """Stop the engine, and wait for the threads that began with it: its own wait is shorter than a slow disk."""
    # Asked to be patient, the engine waits a second even where nothing runs.
    DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=PATIENCE_SECONDS if is_busy else 0)
    deadline = time.monotonic() + WAIT_SECONDS
    for thread in threading.enumerate():
        if thread.daemon and thread not in before:
            thread.join(max(0.0, deadline - time.monotonic()))


def leave(code: int) -> NoReturn:
    """Exit. Where a thread will not end, in a step or in a locked database, nothing is torn down under it."""
    if threading.active_count() > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
