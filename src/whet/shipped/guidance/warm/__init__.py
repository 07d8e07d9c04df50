"""The words around the examples of a warm start, and how they are read."""

from functools import cache
from importlib.resources import files

from whet.own.examples.warm_start import WarmWords


@cache
def words() -> WarmWords:
    """The words that come with Whet, read once."""
    return WarmWords(
        *(files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip() for name in WarmWords._fields)
    )
