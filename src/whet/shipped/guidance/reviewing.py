"""The order that a review is given, in the words that ship or in a person's own."""

from collections.abc import Mapping

from whet.own.told.review_when import ALLOWED, ReviewKind
from whet.shipped.guidance.replacing import GuidanceFolder

TEXTS = GuidanceFolder("review", ("order", "memory", "skill", "record"), "a review")
PARTS = {ReviewKind.MEMORY: ("memory",), ReviewKind.SKILL: ("skill",), ReviewKind.COMBINED: ("memory", "skill")}


def order(kind: ReviewKind, own: Mapping[str, str]) -> str:
    """What a review of this kind is told to do. `own` are a person's texts, by the names of those that they replace."""
    parts = "\n\n".join(TEXTS.text(name, own) for name in PARTS[kind])
    return TEXTS.text("order", own, {"tools": ", ".join(sorted(ALLOWED)), "parts": parts})


def record(body: str, own: Mapping[str, str], *, mark: str) -> str:
    """A conversation with another agent, as a review is shown it."""
    return TEXTS.text("record", own, {"body": body, "mark": mark})
