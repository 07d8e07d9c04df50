"""A terminal that is only written at its end: Markdown block by block, and a line that says what is waited for."""

import os
import re
import shutil
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self, TextIO

from rich.cells import cell_len, set_cell_size

from whet.text.characters import safe

BOLD, DIM = "1", "2"
RESET = "\x1b[0m"
WIDEST = 100
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
PADDING = re.compile(r" +((?:\x1b\[0m)?)$", re.MULTILINE)


class Markdown:
    """One answer. `feed` gives the blocks that are whole by now, `finish` the rest."""

    def __init__(self, width: int, *, styled: bool = True, style: str = "") -> None:
        self._width, self._styled, self._style = min(width, WIDEST), styled, style
        self._held = ""  # what is not yet drawn
        self._is_first = True

    @property
    def pending(self) -> str:
        """The line that is being written, of what is not yet drawn."""
        return self._held.rstrip("\n").rpartition("\n")[2]

    def feed(self, text: str) -> str:
        """The blocks that this piece of the stream completes."""
        self._held += safe(text)
        end = _end_of_blocks(self._held) if "\n" in self._held else 0
        whole, self._held = self._held[:end], self._held[end:]
        return self._drawn(whole)

    def finish(self) -> str:
        """All that is left."""
        rest, self._held = self._held, ""
        return self._drawn(rest)

    def _drawn(self, text: str) -> str:
        if not text.strip():
            return ""
        from whet.cli.chat.blocks import laid_out  # large, and needed only once there is an answer

        style = "dim" if self._style == DIM else None
        laid = laid_out(text, width=self._width, styled=self._styled, style=style)
        between, self._is_first = "" if self._is_first else "\n", False
        return between + PADDING.sub(r"\1", laid).strip("\n") + "\n"


def _end_of_blocks(text: str) -> int:
    """Where the last block ends that nothing can be added to: an empty line outside of code, then a new beginning."""
    end = place = 0
    fence, is_empty = "", False
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        if not fence and is_empty and not line[0].isspace():
            end = place
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and line.strip() == found[1]:
            fence = ""
        is_empty = not fence and not line.strip()
        place += len(line)
    return end


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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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

    def line(self, text: str = "", style: str = "") -> None:
        """Add whole lines, beginning on a line of their own."""
        dressed = f"\x1b[{style}m{text}{RESET}" if style and self.styled and text else text
        self.write(f"{'' if self._at_start else chr(10)}{dressed}\n")

    def end_line(self) -> None:
        if not self._at_start:
            self.write("\n")

    def wait(self, label: str) -> None:
        """Say what is being waited for, until something is written."""
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
        text = cut(f"{frame} {self._label}{f' {seconds:.0f} s' if seconds >= 2 else ''}", self.width - 1)
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


def drawn(text: str, screen: Screen) -> str:
    """A whole text of markdown, as this screen shows it."""
    markdown = Markdown(screen.width, styled=screen.styled)
    return markdown.feed(text) + markdown.finish()


def cut(text: str, width: int) -> str:
    """One line of at most this width."""
    flat = " ".join(text.split())
    return flat if cell_len(flat) <= width else f"{set_cell_size(flat, max(width - 1, 1)).rstrip()}…"
