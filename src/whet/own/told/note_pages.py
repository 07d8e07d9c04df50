"""The page that notes stand on, in two forms: a list that people edit, and the entries of Hermes' memory files.

A change replaces the lines of one note and leaves every other byte as a person wrote it.
"""

import re
from enum import StrEnum
from typing import NamedTuple

SEPARATOR = "§"
JOINT = f"\n{SEPARATOR}\n"
INDENT = "  "

_MARKER = re.compile(r"\ufeff?(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_HEADING = re.compile(r"\ufeff?#{1,6}(?:[ \t]|$)")
_TITLE = re.compile(r"\ufeff?#(?:[ \t]|$)")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,})[ \t]*$")
_COMMENT, _COMMENT_END = "<!--", re.compile(r"-->\s*$", re.MULTILINE)


class PageForm(StrEnum):
    """How notes are written down."""

    LIST = "list"  # a Markdown list, with headings and comments where a person wants them
    HERMES = "hermes"  # entries with a line of § between them, and no newline at the end


class PlacedNote(NamedTuple):
    """A note where it stands: its characters from `start` to `end`, and the marker before its words."""

    text: str
    start: int
    end: int
    marker: str


def is_mistakable(line: str) -> bool:
    """Whether a line of a note would be taken for the form of a page: a separator, or the end of a comment."""
    return line.strip() == SEPARATOR or _COMMENT_END.search(line) is not None


def placed(page: str, form: PageForm = PageForm.LIST) -> tuple[PlacedNote, ...]:
    """The notes of a page, in their order."""
    return _entries(page) if form is PageForm.HERMES else _items(page)


def added(page: str, text: str, form: PageForm = PageForm.LIST) -> str:
    """The page with one more note: the last, but under no heading of a person's, which would change its sense."""
    if form is PageForm.HERMES:
        return JOINT.join([*(note.text for note in _entries(page)), text])
    newline = _newline(page)
    place = _end_of_preface(page)
    before, after = page[:place], page[place:]
    if before and not before.endswith("\n"):
        before += newline
    gap = newline if after.strip() and not after.startswith(("\n", "\r\n")) else ""
    return f"{before}{_rendered(text, '- ', newline)}{newline}{gap}{after}"


def replaced(page: str, note: PlacedNote, text: str, form: PageForm = PageForm.LIST) -> str:
    """The page with other words in one note's place."""
    if form is PageForm.HERMES:
        return JOINT.join(text if other == note else other.text for other in _entries(page))
    newline = _newline(page)
    ending = newline if page[note.start : note.end].endswith("\n") else ""
    return f"{page[: note.start]}{_rendered(text, note.marker or '- ', newline)}{ending}{page[note.end :]}"


def removed(page: str, note: PlacedNote, form: PageForm = PageForm.LIST) -> str:
    """The page without one note."""
    if form is PageForm.HERMES:
        return JOINT.join(other.text for other in _entries(page) if other != note)
    return page[: note.start] + page[note.end :]


def shown(page: str, limit: int, form: PageForm = PageForm.LIST) -> str:
    """What an agent is told of a page: no comments, and whole notes only, as many from the top as the limit allows."""
    if form is PageForm.HERMES:
        page = "".join(f"{_rendered(note.text, '- ', chr(10))}\n" for note in _entries(page))
    plain = page.replace("\r\n", "\n").removeprefix("\ufeff")
    kept = "".join(plain[line.start : line.end] for line in _lines(plain) if line.kind != "comment")
    page = re.sub(r"\n{3,}", "\n\n", kept)
    if len(page.strip()) <= limit:
        return page.strip()
    ends = [note.end for note in _items(page) if len(page[: note.end].strip()) <= limit]
    return page[: max(ends, default=0)].strip()


def size(page: str, form: PageForm = PageForm.LIST) -> int:
    """How many characters of a page count: what an agent is told, or all of a page of Hermes'."""
    return len(page) if form is PageForm.HERMES else len(shown(page, len(page)))


def _entries(page: str) -> tuple[PlacedNote, ...]:
    found, start = [], 0
    for piece in page.split(JOINT):
        text = piece.strip()
        if text:
            found.append(PlacedNote(text, start, start + len(piece), ""))
        start += len(piece) + len(JOINT)
    return tuple(found)


class _Line(NamedTuple):
    kind: str  # blank, note, more, heading, comment
    text: str
    start: int
    end: int
    marker: str = ""


def _items(page: str) -> tuple[PlacedNote, ...]:
    lines, found = _lines(page), list[PlacedNote]()
    for first, line in enumerate(lines):
        if line.kind == "note":
            later = range(first + 1, len(lines))
            held = lines[first : next((each for each in later if lines[each].kind not in ("blank", "more")), None)]
            while held[-1].kind == "blank":
                held.pop()
            text = "\n".join(each.text for each in held).strip()
            found.append(PlacedNote(text, line.start, held[-1].end, line.marker))
    return tuple(found)


def _lines(page: str) -> list[_Line]:
    """Each line with its place. It belongs to the note above if it is indented, or if no blank line is between."""
    found: list[_Line] = []
    start, commented = 0, False
    for raw in page.split("\n"):
        end = min(start + len(raw) + 1, len(page))
        if commented or (raw.startswith(_COMMENT) and _COMMENT_END.search(page, start)):
            commented = not _COMMENT_END.search(raw)
            found.append(_Line("comment", "", start, end))
        else:
            before = found[-1].kind if found else "blank"
            said = next((line.kind for line in reversed(found) if line.kind != "blank"), "")
            in_note = before in ("note", "more", "blank") and said in ("note", "more")
            found.append(_classified(raw.rstrip(), start, end, (in_note, before)))
        start = end
    return found


def _classified(line: str, start: int, end: int, context: tuple[bool, str]) -> _Line:
    in_note, before = context
    indented = line.startswith((INDENT, "\t"))
    marker = _MARKER.match(line)
    if not line.removeprefix("\ufeff"):
        return _Line("blank", "", start, end)
    if indented and in_note:
        text = line.removeprefix("\t") if line.startswith("\t") else line.removeprefix(INDENT)
        return _Line("more", text, start, end)
    if _HEADING.match(line) or _RULE.match(line) or line in ("-", "*", "+"):
        return _Line("heading", line, start, end)
    if marker:
        return _Line("note", line[marker.end() :], start, end, marker.group())
    if before in ("note", "more"):
        return _Line("more", line, start, end)
    return _Line("note", line, start, end)


def _end_of_preface(page: str) -> int:
    """Where the last line before the first heading ends; the title of the page is no such heading."""
    lines = [line for line in _lines(page) if line.kind != "blank"]
    titled = bool(lines) and _TITLE.match(lines[0].text) is not None
    later = (index for index, line in enumerate(lines) if index >= titled and _HEADING.match(line.text))
    first = next((index for index in later if lines[index].kind == "heading"), len(lines))
    return lines[first - 1].end if first else 0


def _rendered(text: str, marker: str, newline: str) -> str:
    first, *rest = text.split("\n")
    return newline.join([f"{marker}{first}", *(f"{INDENT}{line}" if line else "" for line in rest)])


def _newline(page: str) -> str:
    return "\r\n" if "\r\n" in page else "\n"
