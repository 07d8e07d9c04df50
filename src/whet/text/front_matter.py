"""Front matter: fields in YAML between two lines of three dashes above a text, read strictly, edited as text.

Only where a field is more than plain words on one line is the library loaded that reads all of YAML.
"""

import functools
import math
import re
from typing import Any, NamedTuple

from whet.errors import WhetError
from whet.text.characters import first_hidden

Field = str | tuple["Field", ...] | dict[str, "Field"]
FENCE = "---"
MOST_CHARACTERS = 16_384
MOST_DEPTH = 8
ADVICE = "Write `---`, lines of `key: value`, and `---` again; put values with special characters in double quotes."
PLAINER = {
    "mapping values are not allowed here": "a value contains a colon; put it in quotes",
    "found character '\\t' that cannot start any token": "there is a tab; use spaces",
}
# What YAML reads as the very words that stand there.
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PLAIN = re.compile(r"[A-Za-z0-9][ -\"$-9;-~]*")
_CLOSING = re.compile(r"(?<=\n)---[^\S\n]*(?:\n|\Z)")


class FrontParts(NamedTuple):
    """A text in two: the front matter with its fences, and what stands below it."""

    head: str
    body: str


class Document(NamedTuple):
    """A text and the fields above it, each as one line of words."""

    fields: dict[str, str]
    text: str


def document(source: str, *, name: str) -> Document:
    """The fields and the text of a file of this name. Anything unclear is refused: a misread field would be obeyed."""
    text = source.removeprefix("\ufeff")
    try:
        fields = {key: _line(key, value) for key, value in parse(text).items()}
    except WhetError as error:
        raise WhetError(f"{name}: {error.message}", advice=error.advice) from error
    return Document(fields, "\n".join(split(text).body.splitlines()).strip())


def split(text: str) -> FrontParts:
    """The front matter and the rest; together they are the text, byte for byte."""
    if text.partition("\n")[0].rstrip() != FENCE:
        raise _fault(1, "the file does not start with a line of three dashes")
    closing = _CLOSING.search(text, len(FENCE))
    if closing is None:
        raise _fault(1, "the front matter has no second line of three dashes")
    return FrontParts(text[: closing.end()], text[closing.end() :])


def parse(text: str) -> dict[str, Field]:
    """The fields of a text; every scalar is a string, as written."""
    head = split(text).head
    pairs = [line.partition(": ") for line in head.split("\n")[1:-2]]
    is_plain = all(_KEY.fullmatch(key) and _PLAIN.fullmatch(value) and value[-1] != " " for key, _, value in pairs)
    if is_plain and len(head) <= MOST_CHARACTERS and head.endswith(f"\n{FENCE}\n"):
        fields: dict[str, Field] = {key: value for key, _, value in pairs}
        if len(fields) == len(pairs):
            return fields
    node = _node(head)
    return _mapping(node) if node else {}


def with_field(text: str, key: str, value: str) -> str:
    """The text with another value of one field, which is added if it is missing; every other byte stays."""
    fields = parse(text)
    head, body = split(text)
    node = _node(head)
    lines = head.split("\n")
    newline = "\r" if lines[0].endswith("\r") else ""
    closing = next(number for number, line in enumerate(lines) if number and line.rstrip() == FENCE)
    pairs = node.value if node else []
    first, last = next((_span(name, held) for name, held in pairs if name.value == key), (closing, closing))
    while last > first + 1 and not lines[last - 1].strip():
        last -= 1  # a block of text takes the blank lines after it for its own
    changed = "\n".join([*lines[:first], f"{key}: {scalar(value)}{newline}", *lines[last:]]) + body
    if parse(changed) != {**fields, key: " ".join(value.split())}:
        raise WhetError(f"The field {key} is written in a way that Whet cannot change.", advice="Edit the file itself.")
    return changed


def scalar(value: str) -> str:
    """A string as YAML on one line, in quotes where YAML would take it for a number, a date or a sign."""
    import yaml  # noqa: PLC0415 - as above

    line: str = yaml.safe_dump(" ".join(value.split()), allow_unicode=True, width=math.inf)
    return line.partition("\n")[0]


def words(value: str) -> tuple[str, ...]:
    """A value that lists words, with spaces or commas between them."""
    return tuple(value.replace(",", " ").split())


@functools.cache
def _loader() -> Any:
    import yaml  # noqa: PLC0415 - slow to load, and seldom needed

    def refusal(problem: str, event: Any) -> yaml.MarkedYAMLError:
        return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)

    class Loader(yaml.BaseLoader):
        """Every scalar is the string that was written. What makes one text stand for another is refused."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()  # type: ignore[no-untyped-call]  # of the library
            if isinstance(event, yaml.AliasEvent):
                raise refusal("an alias is not understood here", event)
            if event.anchor is not None:
                raise refusal("an anchor is not understood here", event)
            if event.tag is not None:
                raise refusal("a tag is not understood here", event)
            if self.depth >= MOST_DEPTH:
                raise refusal("the fields are nested too deeply", event)
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return Loader


def _node(head: str) -> Any:
    """The fields between the fences, with their places."""
    if len(head) > MOST_CHARACTERS:
        raise _fault(1, f"it is longer than {MOST_CHARACTERS:,} characters")
    for number, line in enumerate(head.split("\n"), start=1):
        if name := first_hidden(line.removesuffix("\r")):
            raise _fault(number, f"there is an invisible character, {name}")
    import yaml  # noqa: PLC0415 - as above

    try:
        node = _loader()(head.partition("\n")[2].rpartition(FENCE)[0]).get_single_node()
    except yaml.MarkedYAMLError as error:
        problem = str(error.problem or error.context)
        raise _fault(error.problem_mark.line + 2 if error.problem_mark else 1, PLAINER.get(problem, problem)) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # a character, or an escape, that stands for none
        raise _fault(1, "there is a character that does not exist") from error
    if node is not None and node.id != "mapping":
        raise _fault(node.start_mark.line + 2, "this is not `key: value`")
    return node


def _field(node: Any) -> Field:
    if node.id == "mapping":
        return _mapping(node)
    if node.id == "sequence":
        return tuple(_field(each) for each in node.value)
    value: str = node.value
    if name := first_hidden(value):
        raise _fault(node.start_mark.line + 2, f"an escape gives an invisible character, {name}")
    return value


def _mapping(node: Any) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for name, value in node.value:
        key, number = _field(name), name.start_mark.line + 2
        if not isinstance(key, str) or not key or key == "<<":
            raise _fault(number, "this is not `key: value`")
        if key in fields:
            raise _fault(number, f"{key} is given twice")
        fields[key] = _field(value)
    return fields


def _span(name: Any, value: Any) -> tuple[int, int]:
    """The lines of the head on which a field stands, the last one excluded."""
    end = _last(value).end_mark
    return name.start_mark.line + 1, end.line + 1 + (end.column > 0)


def _last(node: Any) -> Any:
    """The node at the end of a value. A list of lines ends behind the comments after it, so its last item counts."""
    while node.id != "scalar" and node.value and not node.flow_style:
        node = node.value[-1][1] if node.id == "mapping" else node.value[-1]
    return node


def _line(key: str, value: Field) -> str:
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        return ", ".join(map(str, value))
    if not isinstance(value, str):
        raise WhetError(f"The field {key} of the front matter is not one text.", advice=f"Write `{key}: text`.")
    return " ".join(value.split())


def _fault(number: int, what: str) -> WhetError:
    return WhetError(f"The front matter cannot be read: line {number}: {what}.", advice=ADVICE)
