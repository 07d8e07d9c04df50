"""The order that a review is given."""

from functools import cache
from importlib.resources import files

from whet.text.words import filled
from whet.told.review_when import ALLOWED, ReviewKind

FOLDER = "review"
PARTS = {ReviewKind.MEMORY: ("memory",), ReviewKind.SKILL: ("skill",), ReviewKind.COMBINED: ("memory", "skill")}


def order(kind: ReviewKind) -> str:
    """What a review of this kind is told to do."""
    parts = "\n\n".join(_text(name) for name in PARTS[kind])
    return filled(_text("order"), {"tools": ", ".join(sorted(ALLOWED)), "parts": parts})


def record(body: str, *, mark: str) -> str:
    """A conversation with another agent, as a review is shown it."""
    return filled(_text("record"), {"body": body, "mark": mark})


@cache
def _text(name: str) -> str:
    return files("whet.shipped.guidance").joinpath(FOLDER, f"{name}.md").read_text(encoding="utf-8").strip()
