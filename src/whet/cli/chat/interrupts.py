"""Ctrl-C while the agent works: once asks it to stop, twice leaves at once."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets. The second raises KeyboardInterrupt, wherever the program is."""
    stop = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the form of a signal handler
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
