"""A text as a person must see it before they approve it: nothing hidden, and no line that is not one of its own."""

import re
import unicodedata
from collections.abc import Iterator

from whet.text.characters import NEEDED, is_hidden
from whet.text.look_alikes import look_alikes

# In the gutter, where no text can stand: a line begins, a line goes on.
BEGINS, GOES_ON = "│ ", "↪ "
GUTTER_CELLS = 2
NARROWEST = 20
TAB_CELLS = 4
LONGEST_CODE_POINT = len("<U+10FFFF>")
MARKS_SHOWN = 3
_COMBINING = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_OVERLAY = "\u034f\u0334-\u0338\u0488\u0489\u1ab7\u20d2\u20d3\u20d8-\u20da\u20dd-\u20e0\u20e2\u20e4-\u20ea\u20eb"
# A few marks stand over one letter; a heap of them covers the lines around it, and an overlay strikes letters out.
_PIECE = re.compile(
    f"(?P<needed>{NEEDED})|(?P<marks>(?<![{_COMBINING}])(?:(?![{_OVERLAY}])[{_COMBINING}]){{1,{MARKS_SHOWN}}})|[^\n -~]"
)
_IS_MARK = re.compile(f"[{_COMBINING}{_OVERLAY}]")


def shown(text: str) -> str:
    """The text with the code point, as `<U+200B>`, in the place of every character that is not plain."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    pieces: list[str] = []
    done = 0
    for one in look_alikes(text):
        pieces += (text[done : one.place], _code_point(one.character))
        done = one.place + 1
    pieces.append(text[done:])
    # Look-alikes are letters and signs; no needed sequence holds one, so that each piece can be seen to by itself.
    return "".join(_PIECE.sub(_seen, piece) for piece in pieces)


def framed(text: str, width: int, *, begins: str = BEGINS, goes_on: str = GOES_ON) -> Iterator[str]:
    """The lines of a shown text within a width, each with a mark in the gutter that says whether it begins there."""
    room = max(width, NARROWEST) - GUTTER_CELLS - 1  # the last column is left free: some terminals wrap on it
    for line in shown(text).split("\n"):
        for index, row in enumerate(_rows(line, room)):
            yield f"{goes_on if index else begins}{row}"


def one_row(text: str, width: int) -> str:
    """The beginning of a shown text on one line."""
    flat = " ".join(shown(text).split())
    first = next(_rows(flat, max(width - 1, 1)))
    return flat if len(first) == len(flat) else f"{first}…"


def _rows(line: str, room: int) -> Iterator[str]:
    """A line in rows that no terminal shows wider than `room`; broken at a blank where one is near."""
    start = used = blank = 0
    for place, character in enumerate(line):
        size = cells(character)
        if used + size > room:
            end = blank if blank > start + (place - start) // 2 else _before_code_point(line, start, place)
            yield line[start:end]
            start, used = end, sum(map(cells, line[end:place]))
        used += size
        if character == " ":
            blank = place + 1
    yield line[start:]


def _before_code_point(line: str, start: int, end: int) -> int:
    """Where a row ends so that no code point is torn apart."""
    opened = line.rfind("<U+", start, end)
    torn = start < opened and end - opened < LONGEST_CODE_POINT and ">" not in line[opened:end]
    return opened if torn else end


def cells(character: str) -> int:
    """How many columns a character takes at the most, on any terminal."""
    if " " <= character <= "~":
        return 1
    if unicodedata.combining(character):
        return 1  # where it does not combine
    # Where terminals differ, the wider one counts: ambiguous letters in East Asia, emoji, what is new.
    narrow = unicodedata.east_asian_width(character) in ("N", "Na", "H") and character.isalpha()
    return 1 if narrow else 2


def _seen(found: re.Match[str]) -> str:
    piece = found.group()
    if found["needed"] or found["marks"]:
        return piece
    if piece == "\t":
        return " " * TAB_CELLS
    odd_space = not piece.isprintable()
    return _code_point(piece) if odd_space or is_hidden(piece) or _IS_MARK.match(piece) else piece


def _code_point(character: str) -> str:
    return f"<U+{ord(character):04X}>"
