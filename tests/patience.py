"""Waiting for what must come: as long as the busiest machine may need, so that only what hangs fails."""

import threading
from collections.abc import Callable

PATIENCE_SECONDS = 300.0
GLANCE_SECONDS = 0.02


def until(is_so: Callable[[], object]) -> None:
    """Wait for it. How long that takes depends on the machine, and proves nothing."""
    tick = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / GLANCE_SECONDS)):
        if is_so():
            return
        tick.wait(GLANCE_SECONDS)
    raise AssertionError(f"it did not come in {PATIENCE_SECONDS:.0f} seconds")


def set_when(is_so: Callable[[], object]) -> threading.Event:
    """An event that is set when it has come: to interrupt what has begun, however long its beginning takes."""
    event = threading.Event()

    def watch() -> None:
        until(is_so)
        event.set()

    threading.Thread(target=watch, daemon=True).start()
    return event
