"""The lookout: while commands run, the folder is looked at again and again, and what git would run ends them."""

import threading
import time

from whet.agent.inspection.inspecting import Inspection, Leftover
from whet.agent.inspection.triggers import Care
from whet.agent.tools.processes import Process

PAUSE_SECONDS = 0.25
PAUSES_A_LOOK = 20  # so that looking takes a twentieth of the time at most


class Lookout:
    """Looks while commands run."""

    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection
        self._lock = threading.Lock()
        self._running: list[Process] = []
        self._thread: threading.Thread | None = None

    def watch(self, process: Process) -> Process:
        """Look from now on until this command has ended."""
        with self._lock:
            self._running.append(process)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="whet-lookout", daemon=True)
                self._thread.start()
        return process

    @property
    def is_watching(self) -> bool:
        """Whether a command runs that may still write."""
        return bool(self._alive())

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

    def _alive(self) -> list[Process]:
        with self._lock:
            self._running = [process for process in self._running if not process.done.is_set()]
            return list(self._running)

    def _look(self) -> None:
        pause = PAUSE_SECONDS
        while True:
            with self._lock:
                self._running = [process for process in self._running if not process.done.is_set()]
                if not self._running:
                    self._thread = None
                    return
                first = self._running[0]
            if first.done.wait(pause):
                continue  # whoever waited for it looks now
            began = time.monotonic()
            self.take(self._inspection.find())
            pause = max(PAUSE_SECONDS, PAUSES_A_LOOK * (time.monotonic() - began))
