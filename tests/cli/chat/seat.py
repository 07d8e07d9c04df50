"""A person's seat at a terminal: the real command on a pseudo-terminal, typed to and read like one."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from patience import PATIENCE_SECONDS

ROWS, COLUMNS = 40, 100
CTRL_C, CTRL_D, ALT_ENTER, ENTER = "\x03", "\x04", "\x1b\r", "\r"
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>()][0-9A-B]?|\r")
CURSOR_QUESTION, CURSOR_ANSWER = b"\x1b[6n", b"\x1b[1;1R"
# The child makes the terminal its own, so that Ctrl-C reaches it as a signal.
LAUNCHER = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class Seat:
    """One process on a pseudo-terminal of a fixed size."""

    def __init__(self, command: Sequence[str], *, environment: Mapping[str, str], folder: Path) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**environment, "TERM": "xterm-256color"},
            cwd=folder,
        )
        os.close(slave)
        self.raw = ""
        self._seen = 0  # of the plain text

    @property
    def text(self) -> str:
        """All that was written, without the codes of the terminal."""
        return CODES.sub("", self.raw)

    def type(self, keys: str) -> Self:
        os.write(self._master, keys.encode())
        return self

    def say(self, words: str) -> Self:
        """Type words and send them."""
        return self.type(words).type(ENTER)

    def expect(self, words: str) -> Self:
        """Wait until the words appear behind what was expected before."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := self.text.find(words, self._seen)) < 0:
            if not self._read(deadline):
                raise AssertionError(f"{words!r} did not appear in:\n{self.text[self._seen :]}")
        self._seen = found + len(words)
        return self

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE_SECONDS)

    def leave(self) -> int:
        """Read all that comes until the end; gives the exit code."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._read(deadline):
            pass
        return self._process.wait(max(deadline - time.monotonic(), 1))

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE_SECONDS)
        os.close(self._master)

    def _read(self, deadline: float) -> bool:
        """Read some more; False at the end, or when it is too late."""
        ready, _, _ = select.select([self._master], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            return False
        try:
            body = os.read(self._master, 65536)
        except OSError:  # how a pseudo-terminal says that the other side is gone
            return False
        for _ in range(body.count(CURSOR_QUESTION)):
            os.write(self._master, CURSOR_ANSWER)
        self.raw += body.decode(errors="replace")
        return bool(body)


@contextlib.contextmanager
def seated(command: Sequence[str], *, environment: Mapping[str, str], folder: Path) -> Iterator[Seat]:
    seat = Seat(command, environment=environment, folder=folder)
    try:
        yield seat
    finally:
        seat.close()
