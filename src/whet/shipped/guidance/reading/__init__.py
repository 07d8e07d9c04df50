"""The texts of the reader and of the sceptic, in the words that ship or in a person's own."""

from collections.abc import Mapping

from whet.lessons.claims import MOST_LETTERS
from whet.shipped.guidance.replacing import GuidanceFolder

TEXTS = GuidanceFolder("reading", ("reader", "pass", "again", "sceptic", "doubts"), "the reader")
_LIMIT = {"limit": str(MOST_LETTERS)}


def reader(own: Mapping[str, str]) -> str:
    """Who the reader is and what it looks for. `own` are a person's texts, by the names of those that they replace."""
    return TEXTS.text("reader", own, _LIMIT)


def sceptic(own: Mapping[str, str]) -> str:
    return TEXTS.text("sceptic", own, _LIMIT)


def pass_order(body: str, own: Mapping[str, str], *, mark: str, number: int, passes: int) -> str:
    """The order for one pass over sessions."""
    return TEXTS.text("pass", own, {"body": body, "mark": mark, "number": str(number), "passes": str(passes)})


def again(faults: str, own: Mapping[str, str]) -> str:
    """What a reader is told of what could not be used of its answer."""
    return TEXTS.text("again", own, {"faults": faults})


def doubts(body: str, own: Mapping[str, str], *, mark: str, claims: int) -> str:
    """The order for the sceptic."""
    return TEXTS.text("doubts", own, {"body": body, "mark": mark, "claims": str(claims)})
