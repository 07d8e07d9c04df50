"""What a run of a job is told, in front of the person's own words."""

from functools import cache
from importlib.resources import files

from whet.text.words import filled


def skill(name: str, body: str) -> str:
    """A skill that is loaded before the order."""
    return filled(_text("skill"), {"name": name, "body": body.strip()})


def material(body: str) -> str:
    """What the script printed, already between its marks."""
    return filled(_text("material"), {"body": body})


def order(**values: str) -> str:
    """How an unattended run works and ends, which model really serves it, and what that one cannot do."""
    return filled(_text("order"), values)


def limits(*names: str, window: int | None = None) -> str:
    """What the model that serves a run cannot do, and what it is to skip for that."""
    return " ".join(filled(_text(f"limit_{name}"), {"window": f"{window or 0:,}"}) for name in names)


def reminder() -> str:
    """What an agent is told that stopped without the call that ends a run."""
    return _text("reminder")


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
