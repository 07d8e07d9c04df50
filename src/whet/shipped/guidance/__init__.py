"""Guidance that ships with the package, one passage a file, and how it is read."""

from functools import cache
from importlib.resources import files

from whet.own.told.passages import Passage, PassageSlot, passage_of
from whet.text.words import filled

FOLDERS = ("", "hints")
NOTICES = "notices"


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


def frame(slot: PassageSlot) -> str:
    """The built-in frame of a slot that is filled outside the prompt."""
    return next(passage.text for passage in built_in() if passage.slot is slot)


def notice(name: str, **values: str) -> str:
    """What a program says to a model in the course of a conversation, with its places filled."""
    return filled(_notices()[name], values)


@cache
def _notices() -> dict[str, str]:
    texts = files(__name__).joinpath(NOTICES).iterdir()
    return {text.name.removesuffix(".md"): " ".join(text.read_text(encoding="utf-8").split()) for text in texts}
