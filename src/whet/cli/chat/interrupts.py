"""Ctrl-C while the agent works: once asks it to stop, twice leaves at once."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
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


def answered(ask: Callable[[], bool]) -> bool:
    """Ask in the middle of a turn. Ctrl-C is a no, and asks the agent to stop; elsewhere than before a person, no."""
    if threading.current_thread() is not threading.main_thread():
        return False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return ask()
    except KeyboardInterrupt:
        pass  # which only leaves the question: the handler of the turn is told below
    finally:
        signal.signal(signal.SIGINT, before)
    signal.raise_signal(signal.SIGINT)
    return False
