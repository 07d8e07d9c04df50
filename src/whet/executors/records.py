"""The record that an agent left in its config home, read by the importers as any other."""

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

from whet.executors.errands import Carried, Left, Validity
from whet.importers.source import Skipped
from whet.intake.reading import read_transcripts
from whet.sessions.transcripts import Transcript, Usage

WHY_CHARACTERS = 200
OUTPUT_LIMIT = 8 << 20
LIMITS = ("rate limit", "rate_limit", "usage limit", "quota", "429", "too many requests", "credit balance", "402")
LOGINS = ("401", "403", "unauthorized", "not logged in", "log in", "/login", "api key", "authentication")


def newest_transcript(folder: Path, pattern: str) -> Transcript | None:
    """The main session of the newest record below a folder; None where there is none that can be read."""
    files = sorted(
        (path for path in folder.rglob(pattern) if path.is_file() and not path.is_symlink()),
        key=lambda path: path.stat().st_mtime_ns,
    )
    for path in reversed(files):
        found = [item for item in read_transcripts(path) if not isinstance(item, Skipped)]
        own = [item for item in found if not item.parent and item.messages]
        if own:
            return max(own, key=lambda item: item.started or 0.0)
    return None


def without_record(left: Left) -> Carried:
    """An errand that left nothing to read: it tells nothing, and says why."""
    why = left.errors.strip() or left.output.strip() or "it left no record"
    validity = refusal_in(f"{left.errors}\n{left.output}") or Validity.CRASHED
    return Carried(None, Usage(), validity, why.splitlines()[-1][:WHY_CHARACTERS], seconds=left.seconds)


def refusal_in(said: str) -> Validity | None:
    """What a service refused, by the words of the program's own error; None where it did not."""
    words = said.lower()
    if any(each in words for each in LIMITS):
        return Validity.LIMITED
    return Validity.NO_LOGIN if any(each in words for each in LOGINS) else None


def events_of(output: str) -> list[dict[str, Any]]:
    """The objects that a program printed, one a line; what else it printed is left out."""
    found: list[dict[str, Any]] = []
    for line in output.splitlines():
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def text_of(path: Path) -> str:
    """What a program left in a file; a link that it put there is not followed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(OUTPUT_LIMIT).decode("utf-8", "replace")
    return ""
