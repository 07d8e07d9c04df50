"""Every format that Whet reads, the most particular first; the first that knows a file reads it."""

from whet.importers import claude_code
from whet.importers.formats import Format
from whet.importers.source import Source

FORMATS: tuple[Format, ...] = (claude_code.FORMAT,)
BY_NAME = {known.name: known for known in FORMATS}


def recognise(source: Source) -> Format | None:
    """The format that a file is in, by its content."""
    return next((known for known in FORMATS if known.sniff(source)), None)
