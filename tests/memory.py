"""How much memory a block of code takes."""

import contextlib
import tracemalloc
from collections.abc import Iterator


@contextlib.contextmanager
def peak() -> Iterator[list[int]]:
    """The most bytes that Python held at once in the block, put into the list at its end."""
    used: list[int] = []
    tracemalloc.start()
    try:
        yield used
    finally:
        used.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
