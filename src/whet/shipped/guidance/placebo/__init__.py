"""Words with nothing to learn in them, for the placebo arm of a trial, and how they are read."""

from functools import cache
from importlib.resources import files


@cache
def filler() -> str:
    """All neutral words, in the order of their files, as one text."""
    found = sorted((file for file in files(__name__).iterdir() if file.name.endswith(".md")), key=lambda one: one.name)
    return " ".join(" ".join(file.read_text(encoding="utf-8").split()) for file in found)
