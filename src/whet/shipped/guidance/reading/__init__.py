"""The texts of the readers of sessions and of files and of the sceptic, in the words that ship or a person's own."""

from collections.abc import Mapping

from whet.lessons.claims import MOST_LETTERS
from whet.shipped.guidance.replacing import GuidanceFolder

_NAMES = ("reader", "pass", "again", "sceptic", "doubts", "statements", "files", "looked")
TEXTS = GuidanceFolder("reading", _NAMES, "the reader")
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


def statements(own: Mapping[str, str], *, looks: int) -> str:
    """Who reads files for agents, and what is wrong with a statement."""
    return TEXTS.text("statements", own, {"looks": str(looks)})


def file_order(body: str, own: Mapping[str, str], *, mark: str, number: int, passes: int) -> str:
    """The order for one pass over files."""
    return TEXTS.text("files", own, {"body": body, "mark": mark, "number": str(number), "passes": str(passes)})


def looked(body: str, own: Mapping[str, str], *, mark: str) -> str:
    """What the reader of files asked to see, and what could not be used of its answer."""
    return TEXTS.text("looked", own, {"body": body, "mark": mark})
