"""The catalogue of rules that ships with the package, one rule a file, and how it is read."""

from functools import cache
from importlib.resources import files

from whet.told.remedies import Remedy, remedy_of


@cache
def catalogue() -> tuple[Remedy, ...]:
    """Every rule that comes with Whet, read once."""
    found = sorted(
        (file for file in files(__name__).iterdir() if file.name.endswith(".md")), key=lambda file: file.name
    )
    return tuple(remedy_of(file.name.removesuffix(".md"), file.read_text(encoding="utf-8")) for file in found)
