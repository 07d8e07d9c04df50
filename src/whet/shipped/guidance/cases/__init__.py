"""A case to start from, with comments, and how it is read."""

from functools import cache
from importlib.resources import files


@cache
def example() -> str:
    """A case for a person to edit."""
    return files(__name__).joinpath("example.toml").read_text(encoding="utf-8")
