"""What was typed before, kept in the home for its owner's eyes, without secrets."""

import os
from pathlib import Path

import msgspec

from whet.errors import WhetError
from whet.secrets.redactor import Redactor

FILE_NAME = "chat_history"
READ_BYTES = 256 * 1024


def typed_before(folder: Path) -> list[str]:
    """What was typed, the oldest first; a line that a crash cut short is left out."""
    try:
        with (folder / FILE_NAME).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - READ_BYTES, 0))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unusable(folder, error) from error
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=str))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return found


def remember(folder: Path, text: str, *, secrets: tuple[str, ...] = ()) -> None:
    """Add what was typed."""
    line = msgspec.json.encode(Redactor(secrets).text(text)) + b"\n"
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(folder / FILE_NAME, flags, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: OSError) -> WhetError:
    return WhetError(f"{folder / FILE_NAME} cannot be used: {error.strerror}.", advice="Move it away.")
