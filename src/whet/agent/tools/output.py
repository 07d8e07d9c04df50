"""What programs print, made fit to read: bounded, head and tail, without control sequences."""

import re
import threading
from typing import NamedTuple

# Sequences that move a cursor, set colours, titles, links or the clipboard; and single controls.
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]{0,65536}(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b[ -/]*[0-~]|\x1b"
)
_ERASED = re.compile(r"[^\n\x08]\x08")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\n])", re.MULTILINE)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
HEAD_SHARE = 0.4
ERASING_ROUNDS = 80


class Taped(NamedTuple):
    """What was printed: its beginning and its end, and how many bytes are missing between them."""

    head: bytes
    tail: bytes
    missing: int

    @property
    def text(self) -> str:
        if not self.missing:
            return plain((self.head + self.tail).decode("utf-8", "replace"))
        head, tail = (plain(part.decode("utf-8", "ignore")) for part in (self.head, self.tail))
        return f"{head.rstrip()}\n[… {self.missing:,} bytes left out …]\n{tail.lstrip()}"


class Tape:
    """Keeps the beginning and the end of what is added, in bounded memory. Safe to use from two threads."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._head_limit = int(limit * HEAD_SHARE)
        self._tail_limit = limit - self._head_limit
        self._head, self._tail, self._missing = b"", b"", 0

    def add(self, piece: bytes) -> None:
        with self._lock:
            room = self._head_limit - len(self._head)
            if room > 0:
                self._head, piece = self._head + piece[:room], piece[room:]
            self._tail += piece
            # Cut only now and then: cutting at every piece would copy the tail each time.
            if len(self._tail) > 2 * self._tail_limit + 65_536:
                self._cut()

    def take(self) -> Taped:
        """What was added since the last time."""
        with self._lock:
            self._cut()
            taped = Taped(self._head, self._tail, self._missing)
            self._head, self._tail, self._missing = b"", b"", 0
            return taped

    def _cut(self) -> None:
        over = len(self._tail) - self._tail_limit
        if over > 0:
            self._tail, self._missing = self._tail[over:], self._missing + over


def plain(text: str) -> str:
    """The text as a terminal would leave it: overwritten lines in their last state, no sequences, no controls."""
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text)
    for _ in range(ERASING_ROUNDS):
        erased = _ERASED.sub("", text) if "\b" in text else text
        if erased == text:
            break
        text = erased
    return _CONTROL.sub("", text)
