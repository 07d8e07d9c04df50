"""The lookout: while commands run, the folder is looked at again and again, and what git would run ends them."""

import threading
import time

from whet.agent.inspection.inspecting import Inspection, Leftover
from whet.agent.inspection.triggers import Care
from whet.agent.tools.processes import Process

PAUSE_SECONDS = 0.25
PAUSES_A_LOOK = 20  # so that looking takes a twentieth of the time at most
REST_SECONDS = 30.0


class Lookout:
    """Looks while commands run, and once more after the end of one that nobody waits for."""

    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection
        self._lock = threading.Lock()
        self._running: list[Process] = []
        self._thread: threading.Thread | None = None
        self._is_unattended = False
        self._needs_look = False

    def watch(self, process: Process, *, attended: bool) -> Process:
        """Look from now on until this command has ended. Whoever attends it looks at what it left."""
        with self._lock:
            self._running.append(process)
            self._needs_look = True
            self._is_unattended |= not attended
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="whet-lookout", daemon=True)
                self._thread.start()
        return process

    @property
    def is_watching(self) -> bool:
        """Whether a command runs that may still write."""
        return bool(self._alive())

    @property
    def needs_look(self) -> bool:
        """Whether a command ran, or still runs, since all had ended and what they left was seen to."""
        with self._lock:
            return self._needs_look

    def saw(self) -> None:
        """Somebody has seen to all that was left, after the last command had ended."""
        with self._lock:
            self._needs_look = self._is_unattended = False

    def take(self, found: tuple[Leftover, ...]) -> bool:
        """Move what git would run into the quarantine, if there is any.

        All commands are ended first, so that none can interfere.
        """
        if not any(each.spot.care is Care.REFUSED for each in found):
            return False
        for process in self._alive():
            process.stop()
        self._inspection.take_refused()
        return True

    def rest(self, seconds: float = REST_SECONDS) -> None:
        """Wait until there is nothing to look at any more."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _alive(self) -> list[Process]:
        with self._lock:
            self._running = [process for process in self._running if not process.done.is_set()]
            return list(self._running)

    def _look(self) -> None:
        pause = PAUSE_SECONDS
        while True:
            running = self._alive()
            if running:
                running[0].done.wait(pause)
            began = time.monotonic()
            if self._is_unattended or self._alive():
                self.take(self._inspection.find())
            pause = max(PAUSE_SECONDS, PAUSES_A_LOOK * (time.monotonic() - began))
            with self._lock:
                # A command that ended during the look may have written after it.
                if not running and all(process.done.is_set() for process in self._running):
                    self._thread = None
                    return
