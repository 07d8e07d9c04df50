"""The front matter of a skill: the part of YAML that skills use, read strictly; anything else is refused by name."""

import itertools
import json
import re
from typing import NamedTuple

from whet.errors import WhetError
from whet.text.quoting import visible

Field = str | tuple[str, ...] | dict[str, "Field"]
FENCE = "---"

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)[ ]*:(?:[ ]+(.*))?$")
_BLOCK = re.compile(r"([|>])(-?)[ ]*(?:#.*)?$")
_ITEM = re.compile(r"-(?:[ ]+(.*))?$")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_CLOSING = re.compile(r"(?<=\n)---[^\S\n]*(?:\n|\Z)")
_COMMENT = re.compile(r"(?:^|(?<=[ ]))#.*$")
_PLAIN = re.compile(r"[A-Za-z0-9(/.$_][^\n]*")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "t": "\t", " ": " "}
NOT_UNDERSTOOD = {
    "{": "a mapping in braces",
    "&": "an anchor",
    "*": "an alias",
    "!": "a tag",
    "%": "a directive",
    "@": "a reserved sign",
    "`": "a reserved sign",
    "|": "a block with more than a hyphen after it",
    ">": "a block with more than a hyphen after it",
    "?": "a complex key",
    "]": "a bracket",
    "}": "a brace",
    ",": "a comma",
}


class SkillParts(NamedTuple):
    """A skill's text in two: the front matter with its fences, and the instructions below it."""

    head: str
    body: str


class _Line(NamedTuple):
    number: int
    indent: int
    text: str  # without its indent; empty of a blank line
    raw: str


def split(text: str) -> SkillParts:
    """The front matter and the rest; together they are the text, byte for byte."""
    if text.partition("\n")[0].rstrip() != FENCE:
        raise _fault(1, "the file does not begin with a line of three dashes")
    closing = _CLOSING.search(text, len(FENCE))
    if closing is None:
        raise _fault(1, "the front matter has no second line of three dashes")
    return SkillParts(text[: closing.end()], text[closing.end() :])


def parse(text: str) -> dict[str, Field]:
    """The fields of a skill's text; every scalar is a string, as written."""
    reader = _Reader(_lines(split(text).head))
    fields = reader.mapping(0)
    reader.expect_end()
    return fields


def with_field(text: str, key: str, value: str) -> str:
    """The text with another value of one field, which is added if it is missing; every other byte stays."""
    parse(text)
    head, body = split(text)
    lines = head.split("\n")
    newline = "\r" if lines[0].endswith("\r") else ""
    written = f"{key}: {scalar(value)}{newline}"
    start = next((n for n, line in enumerate(lines) if (found := _KEY.match(line.rstrip())) and found[1] == key), None)
    closing = next(n for n, line in enumerate(lines) if n and line.rstrip() == FENCE)
    if start is None:
        return "\n".join([*lines[:closing], written, *lines[closing:]]) + body
    end = next((n for n in range(start + 1, closing) if _KEY.match(lines[n].rstrip())), closing)
    while end > start + 1 and not lines[end - 1].lstrip("- \r").split("#")[0]:
        end -= 1  # blank lines and comments after the field are not part of it
    return "\n".join([*lines[:start], written, *lines[end:]]) + body


def scalar(value: str) -> str:
    """A string as YAML on one line: plain where nothing in it could mean something else."""
    plain = " ".join(value.split())
    if _PLAIN.fullmatch(plain) and ": " not in plain and " #" not in plain and not plain.endswith(":"):
        return plain
    return json.dumps(plain, ensure_ascii=False)


def _lines(head: str) -> list[_Line]:
    found = []
    hidden = visible(head) != head.replace("\r\n", "\n")
    for number, raw in enumerate(head.split("\n")[1:], start=2):
        line = raw.rstrip("\r")
        if line.rstrip() == FENCE:
            break
        if "\t" in line:
            raise _fault(number, "there is a tab; use spaces")
        if hidden and visible(line) != line:
            raise _fault(number, "there are characters that people cannot see")
        found.append(_Line(number, len(line) - len(line.lstrip(" ")), line.strip(" "), line))
    return found


class _Reader:
    """The lines that are still to be read."""

    def __init__(self, lines: list[_Line]) -> None:
        self._lines = lines
        self._at = 0

    def mapping(self, indent: int) -> dict[str, Field]:
        fields: dict[str, Field] = {}
        while (line := self._next()) and line.indent == indent and not _ITEM.match(line.text):
            found = _KEY.match(line.text)
            if not found:
                raise _fault(line.number, f"this is not `key: value`: {line.text[:60]}")
            key, rest = found[1], _uncommented(found[2] or "")
            if key in fields:
                raise _fault(line.number, f"{key} is given twice")
            self._at += 1
            fields[key] = self._value(line, rest)
        return fields

    def expect_end(self) -> None:
        line = self._next()
        if line:
            raise _fault(line.number, f"this line is not where it belongs: {line.text[:60]}")

    def _value(self, line: _Line, rest: str) -> Field:
        if not rest:
            return self._nested(line)
        block = _BLOCK.match(rest)
        if block:
            return self._block(line.indent, folded=block[1] == ">", chomp=block[2])
        if rest[0] == "[":
            return _flow(rest, line.number)
        if rest[0] in "\"'":
            return _quoted(rest, line.number)
        return self._plain(line, rest)

    def _nested(self, line: _Line) -> Field:
        below = self._next()
        if not below or below.indent < line.indent or (below.indent == line.indent and not _ITEM.match(below.text)):
            return ""
        if _ITEM.match(below.text):
            return self._items(below.indent)
        if below.indent > line.indent and _KEY.match(below.text):
            return self.mapping(below.indent)
        raise _fault(below.number, f"this is neither `key: value` nor an item of a list: {below.text[:60]}")

    def _items(self, indent: int) -> tuple[str, ...]:
        items: list[str] = []
        while (line := self._next()) and line.indent == indent and (found := _ITEM.match(line.text)):
            self._at += 1
            item = _uncommented(found[1] or "")
            if item[:1] in ("[", "-") or _BLOCK.match(item):
                raise _fault(line.number, "a list holds words only here, no lists or blocks")
            items.append(_quoted(item, line.number) if item[:1] in ("'", '"') else _checked(item, line.number))
        return tuple(items)

    def _plain(self, line: _Line, rest: str) -> str:
        pieces = [_checked(rest, line.number)]
        commented = rest != line.text.partition(":")[2].strip()
        blanks = 0
        while self._at < len(self._lines):
            more = self._lines[self._at]
            if more.text and (more.indent <= line.indent or more.text.startswith("#")):
                break
            self._at += 1
            if not more.text:
                blanks += 1
                continue
            if commented or _COMMENT.search(more.text):
                raise _fault(more.number, "a comment stands within a value of several lines")
            pieces.append("\n" * blanks + ("" if blanks else " ") + _checked(more.text, more.number, first=False))
            blanks = 0
        return "".join(pieces)

    def _block(self, indent: int, *, folded: bool, chomp: str) -> str:
        lines: list[_Line] = []
        while self._at < len(self._lines) and (not self._lines[self._at].text or self._lines[self._at].indent > indent):
            lines.append(self._lines[self._at])
            self._at += 1
        width = next((line.indent for line in lines if line.text), 0)
        uneven = next((line for line in lines if (line.indent < width if line.text else len(line.raw) > width)), None)
        if uneven:
            raise _fault(uneven.number, "the lines of a block are indented unevenly")
        texts = [line.raw[width:] for line in lines]
        while texts and not texts[-1].strip():
            texts.pop()
        if not texts:
            return ""
        joined = _folded(texts) if folded else "\n".join(texts)
        return joined if chomp == "-" else f"{joined}\n"

    def _next(self) -> _Line | None:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text and not line.text.startswith("#"):
                return line
            self._at += 1
        return None


def _folded(texts: list[str]) -> str:
    """Lines of one paragraph joined by blanks; an indented line keeps its own."""
    made = texts[0]
    for before, text in itertools.pairwise(texts):
        straight = bool(before and text) and not before.startswith(" ") and not text.startswith(" ")
        made += (" " if straight else "\n") + text
    return re.sub(r"(?<=[^\n])\n(\n+)(?=[^ \n])", r"\1", made)


def _flow(rest: str, number: int) -> tuple[str, ...]:
    if not rest.endswith("]"):
        raise _fault(number, "a list in brackets has to end on its line")
    items: list[str] = []
    left = rest[1:-1].strip(" ")
    while left:
        found = _DOUBLE.match(left) or _SINGLE.match(left)
        piece = found.group() if found else left.partition(",")[0].strip(" ")
        items.append(_quoted(piece, number) if found else _checked(piece, number, flow=True))
        after = left[len(found.group()) :].strip(" ") if found else left.partition(",")[1] + left.partition(",")[2]
        if after and not after.startswith(","):
            raise _fault(number, "two items of a list have no comma between them")
        left = after[1:].strip(" ")
    return tuple(items)


def _quoted(rest: str, number: int) -> str:
    double, single = _DOUBLE.fullmatch(rest), _SINGLE.fullmatch(rest)
    if double:
        return re.sub(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", lambda found: _escape(found[1], number), double[1])
    if single:
        return single[1].replace("''", "'")
    raise _fault(number, "a quoted value has to end on its line")


def _escape(sign: str, number: int) -> str:
    made = _ESCAPES.get(sign) if len(sign) == 1 else chr(int(sign[1:], 16))
    if made is None or visible(made) != made:
        raise _fault(number, f"the escape \\{sign} is not understood here")
    return made


def _checked(text: str, number: int, *, flow: bool = False, first: bool = True) -> str:
    if not text:
        raise _fault(number, "an item is empty") if flow else _fault(number, "a value is empty")
    if first and (text[0] in NOT_UNDERSTOOD or text[0] in "\"'" or (text[0] in "-?:" and text[1:2] in ("", " "))):
        what = NOT_UNDERSTOOD.get(text[0], "a sign of its own")
        raise _fault(number, f"a value begins with {text[0]}, {what}; put it in quotes")
    if ": " in text or text.endswith(":"):
        raise _fault(number, "a value holds a colon; put it in quotes")
    if flow and any(sign in text for sign in "[]{}"):
        raise _fault(number, "a list within a list is not understood here")
    return text


def _uncommented(text: str) -> str:
    """A value without the comment after it; what is in quotes is no comment."""
    found = _DOUBLE.match(text) or _SINGLE.match(text)
    if found:
        after = text[found.end() :]
        return found.group() if not after.strip(" ") or re.match(r"[ ]+#", after) else text
    if text.startswith("["):
        return re.sub(r"\][ ]+#[^\"'\]]*$", "]", text)
    return _COMMENT.sub("", text).rstrip(" ")


def _fault(number: int, what: str) -> WhetError:
    return WhetError(
        f"The front matter cannot be read: line {number}: {what}.",
        advice="Write `---`, lines of `key: value`, and `---` again; a value with signs in it goes in double quotes.",
    )
