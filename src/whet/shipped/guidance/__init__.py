"""Guidance that ships with the package, one text a file, and how it is read: passages, notices, orders, fillers.

Some texts a person may replace by files of their own in the home.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from whet.errors import WhetError
from whet.own.told.passages import Passage, PassageSlot, passage_of
from whet.text.words import filled, places

HERE = Path(__file__).parent
FOLDERS = ("", "hints")
PLACEBO = ("garden", "journey", "kitchen")


@cache
def built_in() -> tuple[Passage, ...]:
    """Every passage that comes with Whet, read once."""
    found: list[Passage] = []
    for folder in FOLDERS:
        for file in sorted((HERE / folder).glob("*.md")):
            found.append(passage_of(file.stem, file.read_text(encoding="utf-8")))
    return tuple(found)


def frame(slot: PassageSlot) -> str:
    """The built-in frame of a slot that is filled outside the prompt."""
    return next(passage.text for passage in built_in() if passage.slot is slot)


def notice(name: str, **values: str) -> str:
    """What a program says to a model in the course of a conversation, in one line, with its places filled."""
    return filled(" ".join(_shipped("notices", name).split()), values)


def text(name: str, /, **values: str) -> str:
    """A text by its folder and name, with its places filled."""
    folder, _, plain = name.partition("/")
    return filled(_shipped(folder, plain), values)


def filler() -> str:
    """Words with nothing to learn in them, for the placebo arm of a trial."""
    return " ".join(" ".join(_shipped("placebo", name).split()) for name in PLACEBO)


class GuidanceFolder(NamedTuple):
    """A folder of texts, and what they are for; `own` are a person's, by the names of those that they replace."""

    name: str
    texts: tuple[str, ...]
    use: str

    def text(self, name: str, own: Mapping[str, str], /, **values: str) -> str:
        """One of them, with its places filled."""
        return filled(own.get(name, "").strip() or _shipped(self.name, name), values)

    def expect_sound(self, own: Mapping[str, str]) -> None:
        """Raise WhetError for a text that replaces none, or that lacks a place of the one it replaces."""
        for name, text in own.items():
            if name not in self.texts:
                raise WhetError(
                    f"The guidance {self.name}/{name}.md replaces no text of {self.use}.",
                    advice=f"The texts are {', '.join(f'{each}.md' for each in self.texts)}.",
                )
            lost = sorted(places(_shipped(self.name, name)) - places(text))
            if lost:
                raise WhetError(
                    f"The guidance {self.name}/{name}.md lacks {', '.join(f'{{{each}}}' for each in lost)}.",
                    advice="Write it where Whet is to put it in.",
                )


REVIEW = GuidanceFolder("review", ("order", "memory", "skill", "record"), "a review")
READING = GuidanceFolder(
    "reading", ("reader", "pass", "again", "sceptic", "doubts", "statements", "files", "looked"), "the reader"
)


@cache
def _shipped(folder: str, name: str) -> str:
    return (HERE / folder / f"{name}.md").read_text(encoding="utf-8").strip()
