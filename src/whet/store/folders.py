"""An open folder: its files are named within it, so that no link or renamed parent leads a write elsewhere.

What systems do differently with open files: making sure that they are on the disk, and where they lie.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import random
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from whet.errors import WhetError

OPENED = "/proc/self/fd"
LONGEST_PATH = 1_024  # of macOS
MOST_GIVEN_BYTES = 100_000_000
PATIENCE_SECONDS = 120.0
LIMIT_BYTES = 16 * 1024 * 1024
NEW_FILE = 0o600
NEW_FOLDER = 0o700
TEMPORARY_PREFIX, TEMPORARY_SUFFIX = ".whet-", ".tmp"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
ADVICE = {
    errno.ENOSPC: "The disk is full. Free some space and run it again.",
    errno.EDQUOT: "Your disk quota is full. Free some space and run it again.",
    errno.EROFS: "The disk is read-only. Set WHET_HOME to a folder that you can write to.",
    errno.EACCES: "Check the permissions of the file and its folder.",
    errno.EPERM: "The file belongs to another account. Change its owner, or leave it as it is.",
    errno.EIO: "The disk failed. Check it before you continue.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}


def sync(descriptor: int) -> None:
    """Have a file or folder on the disk for good. On macOS `fsync` leaves it in the drive's cache, which power ends."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        with contextlib.suppress(OSError):  # network and foreign file systems have no such order
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def settle(folder: Path) -> None:
    """Make sure of the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locking(descriptor: int, how: int = fcntl.LOCK_EX) -> Iterator[bool]:
    """Hold the lock of an open file or folder, which is closed afterwards; False where another holds it."""
    try:
        is_held = True
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            is_held = False
        yield is_held
    finally:
        os.close(descriptor)


def place_of(descriptor: int, otherwise: Path) -> Path:
    """Where an open file really lies, spelled as on the disk as far as the system tells."""
    try:
        if hasattr(fcntl, "F_GETPATH"):  # macOS
            told = fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(LONGEST_PATH))
            return Path(os.fsdecode(told.rstrip(b"\0")))
        return Path(os.readlink(f"{OPENED}/{descriptor}"))
    except OSError:
        return Path(os.path.realpath(otherwise))


def spelled(path: Path) -> Path:
    """An existing path as it is spelled on the disk: where the file system ignores case, a name has many spellings."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return Path(os.path.realpath(path))
    try:
        return place_of(descriptor, path)
    finally:
        os.close(descriptor)


def ordinary_file(path: str | Path, *, within: int | None = None, over_links: bool = False) -> BinaryIO:
    """An ordinary file, open for reading. Raises OSError for a link, a folder, and a pipe, never waited for."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if over_links else os.O_NOFOLLOW)
    descriptor = os.open(path, flags, dir_fd=within)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not an ordinary file")
    return os.fdopen(descriptor, "rb")


def read_given(path: Path, *, advice: str, most: int = MOST_GIVEN_BYTES) -> bytes:
    """What a file that a person named holds. It may be a pipe; raises WhetError for what has no end in sight."""
    try:
        with path.open("rb") as file:
            body = file.read(most + 1)
    except OSError as error:
        raise WhetError(f"{path} cannot be read: {error.strerror}.", advice=advice) from error
    if len(body) > most:
        raise WhetError(f"{path} is larger than {most // 1_000_000} MB.", advice=advice)
    return body


def text_given(path: Path, *, advice: str, most: int = MOST_GIVEN_BYTES) -> str:
    """The same as text."""
    try:
        return read_given(path, advice=advice, most=most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WhetError(f"{path} is not UTF-8 text.", advice=advice) from error


class Conflict(WhetError):
    """The file is not as it was when it was read: somebody else changed it meanwhile. Nothing was written."""


class Folder(NamedTuple):
    """An open folder. What changes it may be called only while it is locked (`locked`)."""

    descriptor: int
    path: Path

    def read(self, name: str) -> bytes | None:
        """What a file holds, or None where there is none."""
        with explained(self.path, name):
            found = self._open(name)
            if found is None:
                return None
            with os.fdopen(found, "rb", buffering=0) as file:
                return file.readall()

    def read_in(self, name: str, file: str) -> bytes | None:
        """What a file in a folder of this one holds, or None where either is missing."""
        with explained(self.path, name):
            found = self.enter(name)
        if found is None:
            return None
        try:
            return Folder(found, self.path / name).read(file)
        finally:
            os.close(found)

    def write(self, name: str, body: bytes, *, expected: bytes | None, mode: int = NEW_FILE) -> None:
        """Put `body` in the place of `expected` (None: no file), durably: afterwards the file is old or new."""
        path, temporary = self.path / name, temporary_name(name)
        with explained(path):
            self._clear(temporary)
            try:
                old = self._status(name)
                self._write_temporary(temporary, body, old, mode)
                self._compare(name, expected)
                os.rename(temporary, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
            except BaseException:
                with contextlib.suppress(OSError):  # the first fault is the one to tell; a later write clears this
                    self._clear(temporary)
                raise
        self.settle(path)

    def remove(self, name: str, *, expected: bytes) -> None:
        """Take a file away that holds `expected`."""
        path = self.path / name
        with explained(path):
            self._compare(name, expected)
            os.unlink(name, dir_fd=self.descriptor)
        self.settle(path)

    def make(self, name: str, *, mode: int = NEW_FOLDER) -> None:
        """Make a folder in this one, unless it is there."""
        with explained(self.path, name):
            try:
                os.mkdir(name, mode, dir_fd=self.descriptor)
                sync(self.descriptor)
            except FileExistsError:
                return

    def enter(self, name: str) -> int | None:
        """A descriptor of a folder in this one, or None where there is none; a link is refused."""
        try:
            return os.open(name, DIRECTORY | os.O_NOFOLLOW, dir_fd=self.descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise _refused(self.path / name, "is a link or is not a folder") from error
            raise

    @contextlib.contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Hold another program's lock file, made if it is missing, so that it and Whet do not write at once."""
        path = self.path / name
        with explained(path):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, NEW_FILE, dir_fd=self.descriptor)
        try:
            _lock(Folder(descriptor, path), time.monotonic() + PATIENCE_SECONDS)
            yield
        finally:
            os.close(descriptor)

    def _open(self, name: str) -> int | None:
        try:
            # Non-blocking, for a pipe put in the file's place would make the reader wait for ever.
            found = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _refused(self.path / name, "is a link") from error
            raise
        try:
            status = os.fstat(found)
        except OSError:
            os.close(found)
            raise
        if not stat.S_ISREG(status.st_mode) or status.st_size > LIMIT_BYTES:
            os.close(found)
            what = (
                f"is larger than {LIMIT_BYTES:,} bytes" if stat.S_ISREG(status.st_mode) else "is not an ordinary file"
            )
            raise _refused(self.path / name, what)
        return found

    def _status(self, name: str) -> os.stat_result | None:
        try:
            status = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise _refused(self.path / name, "is not an ordinary file")
        if not status.st_mode & stat.S_IWUSR:
            raise WhetError(f"{self.path / name} is read-only.", advice="Make it writable, or leave it as it is.")
        return status

    def _write_temporary(self, temporary: str, body: bytes, old: os.stat_result | None, mode: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, NEW_FILE, dir_fd=self.descriptor)
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            new = os.fstat(descriptor)
            if old is not None and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
                os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, mode if old is None else stat.S_IMODE(old.st_mode))
            sync(descriptor)

    def _compare(self, name: str, expected: bytes | None) -> None:
        if self.read(name) != expected:
            raise Conflict(
                f"{self.path / name} was changed by someone else in the meantime; it was left unchanged.",
                advice="Look at it, then try again.",
            )

    def _clear(self, temporary: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=self.descriptor)

    def settle(self, path: Path) -> None:
        """Make sure of the names in this folder after a change, which stands in any case."""
        try:
            sync(self.descriptor)
        except OSError as error:
            raise WhetError(
                f"{path} was changed, but the disk did not confirm it: {error.strerror}.",
                advice="Check the disk and its free space, then check the file.",
            ) from error


@contextlib.contextmanager
def entered(root: Path, names: tuple[str, ...], *, make: bool = False) -> Iterator[Folder | None]:
    """The folder that `names` lead to beneath `root`, step by step and over no link; None where it is missing."""
    with contextlib.ExitStack() as stack:
        yield _walk(stack, root, names, make=make)


def _walk(stack: contextlib.ExitStack, root: Path, names: tuple[str, ...], *, make: bool) -> Folder | None:
    with explained(root, "/".join(names)):
        try:
            descriptor = os.open(root, DIRECTORY)
        except FileNotFoundError:
            if make:
                raise
            return None
        stack.callback(os.close, descriptor)
        folder = Folder(descriptor, root)
        for name in names:
            if make:
                folder.make(name)
            found = folder.enter(name)
            if found is None:
                return None
            stack.callback(os.close, found)
            folder = Folder(found, folder.path / name)
        return folder


@contextlib.contextmanager
def locked(root: Path, names: tuple[str, ...] = (), *, make: bool = True) -> Iterator[Folder]:
    """The folder, with nobody else of Whet's writing in it until the end; raises Conflict where it is missing.

    The lock is on the folder itself, so that it leaves no file behind in other people's folders.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with entered(root, names, make=make) as folder:
            if folder is None:
                raise Conflict(f"{root.joinpath(*names)} no longer exists.", advice="Look for it, then try again.")
            _lock(folder, deadline)
            if _is_still_there(folder, root, names):  # else it was moved or made anew while we waited
                yield folder
                return


def _is_still_there(folder: Folder, root: Path, names: tuple[str, ...]) -> bool:
    with entered(root, names) as found, explained(folder.path):
        return found is not None and os.path.samestat(os.fstat(found.descriptor), os.fstat(folder.descriptor))


@contextlib.contextmanager
def explained(folder: Path, name: str = "") -> Iterator[None]:
    """Say what a person can do where the disk or the permissions are at fault; the old state stands."""
    try:
        yield
    except OSError as error:
        raise WhetError(
            f"{folder / name} cannot be used: {error.strerror or error}; nothing was changed.",
            advice=ADVICE.get(error.errno or 0, "Check the path, its permissions and the disk."),
        ) from error


def temporary_name(name: str) -> str:
    """One fixed name for each file: whoever holds the lock may clear what a crash left under it."""
    return f"{TEMPORARY_PREFIX}{hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()}{TEMPORARY_SUFFIX}"


def is_temporary(name: str) -> bool:
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX)


def _lock(folder: Folder, deadline: float) -> None:
    while not _take_lock(folder):
        if time.monotonic() > deadline:
            raise WhetError(
                f"Another process kept {folder.path} locked for {PATIENCE_SECONDS:.0f} seconds.",
                advice="Wait for it to end, then run this again.",
            )
        time.sleep(random.uniform(0.0005, 0.01))


def _take_lock(folder: Folder) -> bool:
    with explained(folder.path):
        try:
            fcntl.flock(folder.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _refused(path: Path, what: str) -> WhetError:
    return WhetError(f"{path} {what}, so Whet does not use it.", advice="Put an ordinary file or folder there.")
