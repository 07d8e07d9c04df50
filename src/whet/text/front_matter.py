"""Front matter: the `key: value` lines between two lines of three dashes at the top of a text."""

from typing import NamedTuple

from whet.errors import WhetError

FENCE = "---"


class Document(NamedTuple):
    """A text and the fields above it, each one line, as written."""

    fields: dict[str, str]
    text: str


def split(source: str, *, name: str) -> Document:
    """The fields and the text below them. Anything unclear is refused: a field that was misread would be obeyed."""
    lines = source.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        raise _fault(name, "does not begin with a line of three dashes")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), 0)
    if not end:
        raise _fault(name, "has front matter that never ends")
    fields: dict[str, str] = {}
    for line in lines[1:end]:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, value = line.partition(":")
        if not colon or key != key.strip() or not key:
            raise _fault(name, f"has a line that is not `key: value`: {line.strip()[:80]}")
        if key in fields:
            raise _fault(name, f"gives {key} twice")
        fields[key] = value.strip()
    return Document(fields, "\n".join(lines[end + 1 :]).strip())


def words(value: str) -> tuple[str, ...]:
    """A value that lists words, with spaces or commas between them."""
    return tuple(value.replace(",", " ").split())


def _fault(name: str, what: str) -> WhetError:
    return WhetError(f"{name} {what}.", advice="Front matter is `---`, lines of `key: value`, and `---` again.")
