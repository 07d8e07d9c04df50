"""The order that a review is given, in the words that ship or in a person's own."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from whet.errors import WhetError
from whet.text.words import filled, places
from whet.told.review_when import ALLOWED, ReviewKind

FOLDER = "review"
TEXTS = ("order", "memory", "skill", "record")
PARTS = {ReviewKind.MEMORY: ("memory",), ReviewKind.SKILL: ("skill",), ReviewKind.COMBINED: ("memory", "skill")}


def order(kind: ReviewKind, own: Mapping[str, str]) -> str:
    """What a review of this kind is told to do. `own` are a person's texts, by the names of those that they replace."""
    parts = "\n\n".join(_text(name, own) for name in PARTS[kind])
    return filled(_text("order", own), {"tools": ", ".join(sorted(ALLOWED)), "parts": parts})


def record(body: str, own: Mapping[str, str], *, mark: str) -> str:
    """A conversation with another agent, as a review is shown it."""
    return filled(_text("record", own), {"body": body, "mark": mark})


def expect_sound(own: Mapping[str, str]) -> None:
    """Raise WhetError for a text that replaces none, or that lacks a place of the one it replaces."""
    for name, text in own.items():
        if name not in TEXTS:
            raise WhetError(
                f"The guidance {FOLDER}/{name}.md replaces no text of a review.",
                advice=f"The texts are {', '.join(f'{each}.md' for each in TEXTS)}.",
            )
        lost = sorted(places(_shipped(name)) - places(text))
        if lost:
            raise WhetError(
                f"The guidance {FOLDER}/{name}.md lacks {', '.join(f'{{{each}}}' for each in lost)}.",
                advice="Write it where Whet is to put it in.",
            )


def _text(name: str, own: Mapping[str, str]) -> str:
    return own.get(name, "").strip() or _shipped(name)


@cache
def _shipped(name: str) -> str:
    return files("whet.shipped.guidance").joinpath(FOLDER, f"{name}.md").read_text(encoding="utf-8").strip()
