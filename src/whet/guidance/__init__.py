"""Guidance that ships with the package, one passage a file, and how it is read."""

from functools import cache
from importlib.resources import files

from whet.passages import Passage, passage_of

FOLDERS = ("", "hints")


@cache
def built_in() -> tuple[Passage, ...]:
    """Every passage that comes with Whet, read once."""
    found: list[Passage] = []
    for folder in FOLDERS:
        inside = files(__name__).joinpath(folder) if folder else files(__name__)
        for file in sorted(inside.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".md"):
                found.append(passage_of(file.name.removesuffix(".md"), file.read_text(encoding="utf-8")))
    return tuple(found)
