"""How much of each route is tried: all of it by hand, every so-many-th attempt in a short run."""

from collections.abc import Iterable
from typing import TypeVar

_Attempt = TypeVar("_Attempt")
_every = [1]


def take_every(number: int) -> None:
    """Set the stride of this run."""
    _every[0] = number


def sampled(attempts: Iterable[_Attempt]) -> tuple[_Attempt, ...]:
    """The attempts of this run, at least the first."""
    return tuple(attempts)[:: _every[0]]
