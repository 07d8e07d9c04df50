"""What a judge is told, and how it is read."""

from functools import cache
from importlib.resources import files

from whet.text.words import filled


def system() -> str:
    return _text("system")


def order(*, rubric: str, answer: str) -> str:
    """The judge's task: the rubric, and the answer as data."""
    return filled(_text("order"), {"rubric": rubric.strip(), "answer": answer})


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
