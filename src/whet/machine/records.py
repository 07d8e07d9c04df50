"""What `whet setup` did, kept in the home, so that it can be taken back exactly."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from whet.errors import WhetError
from whet.store import files
from whet.store.folders import explained, locking
from whet.store.home import Home, prepare_home
from whet.store.records import hash_of
from whet.values import Value

FILE_NAME = "setup.json"
LOCK_NAME = ".setup.lock"


class WrittenFile(Value, frozen=True):
    """A file as it was left, by its digest, and the bytes that stood there before, None where there was no file.

    `folders` were made for it, the innermost first.
    """

    path: str
    digest: str
    before: bytes | None = None
    folders: tuple[str, ...] = ()


class HookedAgent(Value, frozen=True):
    """An agent whose hooks were put into its own folder, and the file that holds them.

    With a program, that one installed the plugin, of which this is the digest, and noted it in the file.
    """

    agent: str
    config: str
    file: WrittenFile
    program: str = ""
    plugin: str = ""


class SetupRecord(Value, frozen=True):
    """All that was done: what is not listed was there before, and stays."""

    service: WrittenFile | None = None
    hooks: tuple[HookedAgent, ...] = ()
    targets: tuple[str, ...] = ()
    job: WrittenFile | None = None

    @property
    def is_empty(self) -> bool:
        return self == SetupRecord()


def load_record(home: Home) -> SetupRecord:
    """What was done before; nothing where nothing was."""
    body = files.read(_place(home))
    if body is None:
        return SetupRecord()
    try:
        return msgspec.json.decode(body, type=SetupRecord)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        path = _place(home).path
        raise WhetError(f"{path} cannot be read: {error}.", advice="Restore a copy, or delete it.") from error


def save_record(home: Home, record: SetupRecord) -> None:
    """Keep what was done; an empty record leaves no file."""
    prepare_home(home)
    before = files.read(_place(home))
    if not record.is_empty:
        files.write(_place(home), msgspec.json.format(msgspec.json.encode(record), indent=2), expected=before)
    elif before is not None:
        files.remove(_place(home), expected=before)


@contextlib.contextmanager
def alone(home: Home) -> Iterator[None]:
    """Nobody else sets up this home or takes that back meanwhile; raises WhetError where somebody does."""
    prepare_home(home)
    with explained(home.folder, LOCK_NAME):
        descriptor = os.open(home.folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with locking(descriptor) as is_free:
        if not is_free:
            raise WhetError(
                "Another `whet setup` is under way in this home.", advice="Wait for it to end, then try again."
            )
        yield


def is_as_left(written: WrittenFile) -> bool:
    """Whether the file holds what was written there."""
    body = files.read(files.at(Path(written.path)))
    return body is not None and hash_of(body) == written.digest


def _place(home: Home) -> files.Place:
    return files.beneath(home.folder, FILE_NAME)
