"""The words around the examples of a warm start, and how they are read."""

from functools import cache
from pathlib import Path

from whet.own.examples.warm_start import WarmWords


@cache
def words() -> WarmWords:
    """The words that come with Whet, read once."""
    return WarmWords(
        *((Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8").strip() for name in WarmWords._fields)
    )
