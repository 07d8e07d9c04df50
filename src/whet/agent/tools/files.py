"""Files of the working folder: read, write and edit."""

import contextlib
import difflib
import os
import stat
import uuid
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from whet.agent.tools.aftermath import write
from whet.agent.tools.situation import CallContext, ToolOutput, failed
from whet.errors import WhetError
from whet.store.folders import ordinary_file

LINE_CHARACTERS = 2_000
READ_BYTES = 60_000
SCANNED_BYTES = 256 * 1024 * 1024
EDITED_BYTES = 16 * 1024 * 1024
SNIFFED_BYTES = 8_192
CONTEXT_LINES = 2

Path_ = Annotated[str, Meta(description="from the working folder, or absolute")]


def read_file(
    occasion: CallContext,
    *,
    path: Path_,
    offset: Annotated[int, Meta(ge=1, description="first line")] = 1,
    limit: Annotated[int, Meta(ge=1, le=5_000, description="how many lines")] = 1_000,
) -> ToolOutput:
    """Read lines of a text file."""
    guard = occasion.workplace.guard
    trust = occasion.workplace.trust_of_place(Path(os.path.realpath(guard.path(path))))
    with guard.reading(path) as descriptor:
        size = os.fstat(descriptor).st_size
        if b"\0" in os.pread(descriptor, SNIFFED_BYTES, 0):
            return failed(f"{path} is a binary file of {size:,} bytes. Use the terminal to look into it.")
        lines, last, has_more = _page(descriptor, offset, limit)
    if not lines:
        if size == 0:
            return ToolOutput("[the file is empty]")
        return failed(f"{path} has only {last} lines.")
    text = "\n".join(lines)
    if has_more:
        text += f"\n[lines {offset} to {last}; more from offset {last + 1}; {size:,} bytes in all]"
    return ToolOutput(text, trust=trust)


def write_file(occasion: CallContext, *, path: Path_, content: str) -> ToolOutput:
    """Write a whole file in the working folder, making its folders; what was there is replaced."""
    body = content.encode("utf-8", "surrogatepass")

    def put() -> ToolOutput:
        with occasion.workplace.guard.writing(path, make=True) as (folder, name):
            old = _status(folder, name, path)
            _put(folder, name, body, mode=stat.S_IMODE(old.st_mode) if old else None)
        return ToolOutput(f"{'Replaced' if old else 'Wrote'} {path}: {len(body):,} bytes.")

    return write(occasion, "write_file", path, content, put)


def edit(
    occasion: CallContext,
    *,
    path: Path_,
    old: Annotated[str, Meta(min_length=1, description="the exact text to replace, which occurs once")],
    new: str,
    all: Annotated[bool, Meta(description="replace every occurrence")] = False,
) -> ToolOutput:
    """Replace text in a file of the working folder."""
    if old == new:
        return failed("old and new are the same: nothing to do.")
    return write(
        occasion, "edit", path, f"- {old}\n+ {new}", lambda: _edit(occasion, path, old=old, new=new, every=all)
    )


def _edit(occasion: CallContext, path: str, *, old: str, new: str, every: bool) -> ToolOutput:
    with occasion.workplace.guard.writing(path, make=False) as (folder, name):
        status = _status(folder, name, path)
        if status is None:
            raise FileNotFoundError(2, os.strerror(2))
        text = _whole(folder, name, path)
        count = text.count(old)
        if count == 0 and "\r\n" in text and "\r\n" not in old:
            old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
            count = text.count(old)
        if count == 0:
            return _missed(text, old, path)
        if count > 1 and not every:
            lines = ", ".join(str(line) for line in _lines_of(text, old)[:10])
            return failed(f"old occurs {count} times in {path}, at lines {lines}. Give more of the text around it.")
        body = text.replace(old, new).encode("utf-8", "surrogatepass")
        _put(folder, name, body, mode=stat.S_IMODE(status.st_mode))
    return ToolOutput(
        f"Replaced {count} occurrence{'s' if count > 1 else ''} in {path}, at line {_lines_of(text, old)[0]}."
    )


def _page(descriptor: int, offset: int, limit: int) -> tuple[list[str], int, bool]:
    """The lines asked for, the number of the last, and whether there are more; what is too long is cut."""
    lines: list[str] = []
    number, scanned, size = 0, 0, 0
    with open(descriptor, "rb", closefd=False) as file:
        while line := file.readline(SCANNED_BYTES):
            scanned += len(line)
            if scanned > SCANNED_BYTES:
                raise WhetError("The lines lie too far into the file.", advice="Use sed or grep in the terminal.")
            if number + 1 >= offset and (len(lines) == limit or size > READ_BYTES):
                return lines, number, True
            number += 1
            if number >= offset:
                lines.append(_shown(line))
                size += len(lines[-1])
    return lines, number, False


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\r\n").decode("utf-8", "replace")
    if len(text) <= LINE_CHARACTERS:
        return text
    return f"{text[:LINE_CHARACTERS]}[… {len(text) - LINE_CHARACTERS:,} characters left out]"


def _status(folder: int, name: str, path: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "a folder" if stat.S_ISDIR(status.st_mode) else "no file"
        raise WhetError(f"{path} is {kind} and is not written.", advice="Name an ordinary file.")
    return status


def _put(folder: int, name: str, body: bytes, *, mode: int | None) -> None:
    """Old or new, never torn. A new file takes the old one's name, so that no other name of the old one is written."""
    temporary = f".{uuid.uuid4().hex}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            if mode is not None:
                os.fchmod(descriptor, mode & 0o777)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):  # the first fault is the one to tell
            os.unlink(temporary, dir_fd=folder)
        raise


def _whole(folder: int, name: str, path: str) -> str:
    with ordinary_file(name, within=folder) as file:
        if os.fstat(file.fileno()).st_size > EDITED_BYTES:
            raise WhetError(f"{path} is too large to be edited.", advice="Use the terminal.")
        try:
            return file.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise WhetError(f"{path} is not UTF-8 text.", advice="Use the terminal.") from error


def _lines_of(text: str, part: str) -> list[int]:
    """The line on which each occurrence begins."""
    lines, place, line, done = [], text.find(part), 1, 0
    while place >= 0:
        line += text.count("\n", done, place)
        done = place
        lines.append(line)
        place = text.find(part, place + len(part))
    return lines


def _missed(text: str, old: str, path: str) -> ToolOutput:
    """What to say of a text that is not there: the lines most like it, to copy from, are the file's own words."""
    lines = text.splitlines()
    wanted = next((line for line in old.splitlines() if line.strip()), "")
    near = difflib.get_close_matches(wanted, lines[:5_000], n=1, cutoff=0.6)
    if not near:
        return failed(f"old does not occur in {path}. Read the file again, and copy the text from it.")
    first = max(0, lines.index(near[0]) - CONTEXT_LINES)
    shown = "\n".join(lines[first : lines.index(near[0]) + len(old.splitlines()) + CONTEXT_LINES])[:2_000]
    return ToolOutput(f"old does not occur in {path}. The nearest lines, from line {first + 1}:\n{shown}", error=True)
