"""Capable models for this machine, by its memory: what to pull instead of the embedded one."""

import os
from typing import NamedTuple

GIGABYTE = 1_000_000_000
HEADROOM_BYTES = 2 * GIGABYTE  # the system's own, and a conversation
OVERHEAD = 1.25  # of the weights, once they are loaded
HUB = "hf:bartowski/Qwen2.5-{size}-Instruct-GGUF/Qwen2.5-{size}-Instruct-Q4_K_M.gguf"


class RecommendedWeights(NamedTuple):
    """Weights on the hub: what to give to `whet models pull`, which checks the hub's checksum; about how large."""

    name: str
    address: str
    size_bytes: int

    @property
    def memory_bytes(self) -> int:
        return int(self.size_bytes * OVERHEAD) + HEADROOM_BYTES


CAPABLE = tuple(
    RecommendedWeights(f"Qwen2.5-{size}-Instruct-Q4_K_M", HUB.format(size=size), int(gigabytes * GIGABYTE))
    for size, gigabytes in (("32B", 19.9), ("14B", 9.0), ("7B", 4.7), ("3B", 1.9), ("1.5B", 1.0))
)


def recommended(memory_bytes: int) -> tuple[RecommendedWeights, ...]:
    """The two largest that fit, the largest first; none where not even the smallest does."""
    return tuple(each for each in CAPABLE if each.memory_bytes <= memory_bytes)[:2]


def memory_of_machine() -> int:
    """How many bytes of memory this machine has; 0 where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0
