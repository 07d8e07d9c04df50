"""The models of this machine as a list: each file with what is known of it, and capable ones that its memory holds."""

import os
from typing import NamedTuple

from whet.agent.providers.local import known_model
from whet.agent.providers.local_weights import EMBEDDED, KeptWeights, facts_of, kept
from whet.errors import WhetError
from whet.own.runs.settings import Settings
from whet.store.home import Home
from whet.values import Value

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
