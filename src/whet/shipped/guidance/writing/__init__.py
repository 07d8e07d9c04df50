"""What a model is told that writes a rule, and how a person's correction becomes one."""

from functools import cache
from importlib.resources import files

from whet.text.words import filled


def system() -> str:
    return _text("system")


def order(facts: str) -> str:
    """The writer's task, with the facts of the lesson."""
    return filled(_text("order"), {"facts": facts})


def evidence_system(*, limit: int, nothing: str) -> str:
    return filled(_text("evidence_system"), {"limit": str(limit), "nothing": nothing})


def evidence_order(evidence: str, *, nothing: str) -> str:
    """The task of a writer that sees what sessions hold, with the marked evidence."""
    return filled(_text("evidence_order"), {"evidence": evidence, "nothing": nothing})


def correction(words: str) -> str:
    """A rule in the user's own words."""
    return filled(_text("correction"), {"words": words})


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
