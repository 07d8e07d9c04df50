"""A terminal that is only written at its end, and a line that says what is waited for."""

import os
import shutil
import threading
import time
from collections.abc import Mapping
from typing import TextIO

from whet.cli.output import fitted

BOLD, DIM = "1", "2"
RESET = "\x1b[0m"
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK_SECONDS = 0.1
CLEAR = "\r\x1b[K"
NARROWEST = 20


class Screen:
    """One stream, written by several threads. The waiting line is for terminals only, and is wiped before all else."""

    def __init__(self, stream: TextIO, environment: Mapping[str, str] = os.environ) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty() and environment.get("TERM") != "dumb"
        self.styled = self.is_terminal and not environment.get("NO_COLOR")
        self._lock = threading.Lock()
        self._label = ""
        self._since = 0.0
        self._waits = False  # whether the waiting line is on the screen
        self._at_start = True
        self._closed = threading.Event()
        self._ticker: threading.Thread | None = None

    @property
    def width(self) -> int:
        return max(shutil.get_terminal_size().columns, NARROWEST)

    def write(self, text: str) -> None:
        """Add text at the end, as it is."""
        if text:
            with self._lock:
                self._wipe()
                self._label = ""
                self._put(text)

    def markdown(self, text: str) -> None:
        """Add a whole text of markdown."""
        from whet.cli.chat.markdown import drawn  # large, and needed only once there is an answer

        self.write(drawn(text, width=self.width, styled=self.styled))

    def line(self, text: str = "", style: str = "") -> None:
        """Add whole lines, beginning on a line of their own."""
        dressed = f"\x1b[{style}m{text}{RESET}" if style and self.styled and text else text
        self.write(f"{'' if self._at_start else chr(10)}{dressed}\n")

    def end_line(self) -> None:
        if not self._at_start:
            self.write("\n")

    def wait(self, label: str) -> None:
        """Say what is being waited for, until something is written."""
        label = " ".join(label.split())
        if not self.is_terminal or label == self._label:
            return
        with self._lock:
            self._since = self._since if self._label else time.monotonic()
            self._label = label
            self._show()
        if self._ticker is None:
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()

    def rest(self) -> None:
        """Wait for nothing any more."""
        with self._lock:
            self._wipe()
            self._label = ""

    def close(self) -> None:
        self._closed.set()
        if self._ticker is not None:
            self._ticker.join()
        self.rest()

    def _tick(self) -> None:
        while not self._closed.wait(TICK_SECONDS):
            with self._lock:
                self._show()

    def _show(self) -> None:
        if not self._label or not self._at_start:
            return
        seconds = time.monotonic() - self._since
        frame = FRAMES[int(seconds / TICK_SECONDS) % len(FRAMES)]
        text = fitted(f"{frame} {self._label}{f' {seconds:.0f} s' if seconds >= 2 else ''}", self.width - 1)
        self._stream.write(f"{CLEAR}\x1b[2m{text}{RESET}" if self.styled else f"{CLEAR}{text}")
        self._stream.flush()
        self._waits = True

    def _wipe(self) -> None:
        if self._waits:
            self._stream.write(CLEAR)
            self._stream.flush()
            self._waits = False

    def _put(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
        self._at_start = text.endswith("\n")
