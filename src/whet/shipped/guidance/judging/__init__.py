"""What a judge is told, and what an agent is told that goes on with somebody's work."""

from functools import cache
from importlib.resources import files

from whet.text.words import filled


def system() -> str:
    return _text("system")


def order(*, rubric: str, answer: str) -> str:
    """The judge's task: the rubric, and the answer as data."""
    return filled(_text("order"), {"rubric": rubric.strip(), "answer": answer})


def going_on(*, request: str, record: str) -> str:
    """A request, and what was done for it so far as data."""
    return filled(_text("going_on"), {"request": request.strip(), "record": record})


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
