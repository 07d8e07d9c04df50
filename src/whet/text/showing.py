"""A text as a person must see it before they approve it: nothing hidden, and no line that is not one of its own."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from whet.text.characters import NEEDED, described, is_hidden
from whet.text.words import many, names, on_demand

_WORD = re.compile(r"\w+")
_EAST_ASIAN = on_demand("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uff66-\uffdc\U00020000-\U0003ffff]")
_LATIN = re.compile("[A-Za-z]")
# Scripts whose letters look like Latin ones. Others, such as Hangul or kana, are mixed with Latin in ordinary words.
RESEMBLING = names(
    "CYRILLIC GREEK COPTIC ARMENIAN CHEROKEE LISU GEORGIAN DESERET OSAGE TIFINAGH CANADIAN CARIAN LYCIAN LYDIAN GOTHIC"
    " OLD WARANG"
)
# The letters of Cyrillic and Greek that hardly differ from a Latin one. "Δt" and "μs" are ordinary, "ο" for "o" is not.
_TWINS = frozenset("асеоріјѕхуԁԛԝһӏѵоАВЕКМНОРСТХІЈЅҮԌԚԜӀαινορυγκτχΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳօոսհցԼՏՍႽᎠᎡᎢᎥᎪᎬᎳᎷᎻᏀᏃᏆᏒᏔᏚᏞᏟᏢᏦᏧ")
# Latin letters in the shapes of phonetics and of Roman numerals; then signs that pass for those of an address.
_SHAPES = frozenset("ɑɡɩɪʀʟɴʜʙɢᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢⅼⅰⅴⅹⅽⅾⅿ")
_SIGN = on_demand(
    "(?<=[A-Za-z0-9])[\u01c3\u02d0\u037e\u2024\u2044\u2215\u2236\u29f8\ua789\uff0e\uff0f\uff1a](?=[A-Za-z0-9])"
)

GUTTER_CELLS = 2
NARROWEST = 20
TAB_CELLS = 4
LONGEST_CODE_POINT = len("<U+10FFFF>")
MARKS_SHOWN = 3
_COMBINING = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_OVERLAY = "\u034f\u0334-\u0338\u0488\u0489\u1ab7\u20d2\u20d3\u20d8-\u20da\u20dd-\u20e0\u20e2\u20e4-\u20ea\u20eb"
# A few marks stand over one letter; a heap of them covers the lines around it, and an overlay strikes letters out.
_PIECE = on_demand(
    f"(?P<needed>{NEEDED})|(?P<marks>(?<![{_COMBINING}])(?:(?![{_OVERLAY}])[{_COMBINING}]){{1,{MARKS_SHOWN}}})|[^\n -~]"
)
_IS_MARK = on_demand(f"[{_COMBINING}{_OVERLAY}]")


class LookAlike(NamedTuple):
    """A character at a place of the text that passes for another, and the word that it stands in."""

    place: int
    character: str
    word: str


def look_alikes(text: str) -> tuple[LookAlike, ...]:
    """Every character that a reader would take for another, in order."""
    if text.isascii():
        return ()
    words = [(found.start(), found.group()) for found in _WORD.finditer(text) if not found.group().isascii()]
    is_east_asian = _EAST_ASIAN().search(text) is not None
    lone = _twin_scripts(text, (word for _, word in words))
    found = {
        LookAlike(start + index, letter, word)
        for start, word in words
        for index, letter in enumerate(word)
        if letter > "\x7f" and _passes(letter, word, lone=lone, is_east_asian=is_east_asian)
    }
    found |= {LookAlike(sign.start(), sign.group(), _around(text, sign.start())) for sign in _SIGN().finditer(text)}
    return tuple(sorted(found))


def warnings(text: str) -> tuple[str, ...]:
    """A sentence for each word with look-alikes, once."""
    words: dict[str, list[str]] = {}
    for one in look_alikes(text):
        names = words.setdefault(one.word, [])
        if described(one.character) not in names:
            names.append(described(one.character))
    return tuple(f"“{word}” is not what it seems: it contains {', '.join(names)}." for word, names in words.items())


def _passes(letter: str, word: str, *, lone: frozenset[str], is_east_asian: bool) -> bool:
    kind = unicodedata.decomposition(letter).partition(" ")[0]
    has_latin = _LATIN.search(word) is not None
    if kind == "<font>":  # letters of mathematics
        return True
    if kind == "<wide>":
        return has_latin or not is_east_asian
    if letter in _SHAPES:
        return has_latin
    script = script_of(letter)
    if script not in RESEMBLING:
        return False
    if script in lone and len(_resembling(word)) > 1:
        return True
    mixed = has_latin or any(script_of(other) in RESEMBLING - {script} for other in word if other > "\x7f")
    return mixed and (letter in _TWINS or script != "GREEK")


def _twin_scripts(text: str, words: Iterable[str]) -> frozenset[str]:
    """The scripts that a Latin text has only in words all of whose letters look Latin: nobody writes them so.

    A single letter is the name of something: α, or χ².
    """
    if not _LATIN.search(text):
        return frozenset()
    twins: set[str] = set()
    real: set[str] = set()
    for letters in map(_resembling, words):
        if len(letters) > 1:
            twins.update(script_of(letter) for letter in letters if letter in _TWINS)
        real.update(script_of(letter) for letter in letters if letter not in _TWINS)
    return frozenset(twins - real)


def _resembling(word: str) -> tuple[str, ...]:
    return tuple(letter for letter in word if letter > "\x7f" and script_of(letter) in RESEMBLING)


@lru_cache(maxsize=4096)
def script_of(letter: str) -> str:
    """The script of a letter, as the first word of its name."""
    return unicodedata.name(letter, "").partition(" ")[0]


def _around(text: str, place: int) -> str:
    """The characters around a place up to the nearest blanks, and not very many."""
    before, after = text[max(0, place - 40) : place].split(), text[place : place + 40].split()
    return f"{before[-1] if before else ''}{after[0] if after else ''}"


# In the gutter, where no text can stand: a line begins, a line goes on.
BEGINS, GOES_ON = "│ ", "↪ "


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
    return "".join(_PIECE().sub(_seen, piece) for piece in pieces)


def framed(text: str, width: int, *, begins: str = BEGINS, goes_on: str = GOES_ON) -> Iterator[str]:
    """The lines of a shown text within a width, each with a mark in the gutter that says whether it begins there."""
    room = max(width, NARROWEST) - GUTTER_CELLS - 1  # the last column is left free: some terminals wrap on it
    for line in shown(text).split("\n"):
        for index, row in enumerate(_rows(line, room)):
            yield f"{goes_on if index else begins}{row}"


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
    return _code_point(piece) if odd_space or is_hidden(piece) or _IS_MARK().match(piece) else piece


def _code_point(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def size_of(text: str) -> str:
    """How much there is to read, so that nobody takes the last screen for the whole."""
    return f"{many(text.count(chr(10)) + 1, 'line')}, {len(text):,} characters"
