"""Foreign text shown as data: between marks that it cannot forge, nothing hidden, and not too long."""

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from whet.text import words
from whet.text.characters import INVISIBLE, NEEDED
from whet.text.words import on_demand

MARK_BYTES = 8
HEAD_SHARE = 0.7
NAME_CHARACTERS = 200
CUT_TOKENS = 20  # what the line costs that says how much was left out
_LINE_BREAKS = "\v\f\x1c-\x1e\x85\u2028\u2029"
# Controls, and the invisible characters in which orders are hidden; what an emoji or a script needs stays.
_HIDDEN = f"\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f{INVISIBLE}"
_ODD = on_demand(f"({NEEDED})|(\r\n?|[{_LINE_BREAKS}])|([{_HIDDEN}])|[\ud800-\udfff]")
_ANY_ODD = on_demand(f"[\r{_LINE_BREAKS}{_HIDDEN}\ud800-\udfff]")
_ORDINARY = b"\t\n" + bytes(range(0x20, 0x7F))


class Shortened(NamedTuple):
    """A text that keeps to its limit, and how many characters were left out of its middle."""

    text: str
    left_out: int


def visible(text: str) -> str:
    """The text as a reader sees it: plain line breaks, nothing hidden, nothing that cannot be encoded."""
    return text if _is_ordinary(text) else _ODD().sub(_seen, text)


def hidden(text: str) -> int:
    """How many characters of a text no reader would see, beside a mark of byte order at its beginning."""
    if _is_ordinary(text):
        return 0
    return sum(bool(found[3]) for found in _ODD().finditer(text.removeprefix("\ufeff")))


def _is_ordinary(text: str) -> bool:
    """Whether there is nothing to replace, told fast of the texts that are nearly all there are."""
    if text.isascii():
        return not text.encode().translate(None, _ORDINARY)
    return not _ANY_ODD().search(text)


def _seen(odd: re.Match[str]) -> str:
    if odd[1]:
        return odd[1]
    return "\n" if odd[2] else "" if odd[3] else "\ufffd"


def one_line(text: str) -> str:
    """A name that a stranger chose, fit to stand in a line of ours."""
    return " ".join(visible(text).split())[:NAME_CHARACTERS]


def mark_for(texts: Iterable[str]) -> str:
    """A mark that stands in none of the texts. It comes from what they hold, so the same texts give the same mark."""
    whole = "\0".join(texts)
    seen = whole.lower()
    attempt = 0
    while True:
        body = f"{attempt}\0{whole}".encode("utf-8", "surrogatepass")
        mark = hashlib.blake2b(body, digest_size=MARK_BYTES).hexdigest()
        if mark not in seen:
            return mark
        attempt += 1


def quoted(name: str, text: str, *, mark: str) -> str:
    """The text between two lines that bear the mark."""
    return f"[{mark} begins: {one_line(name)}]\n{text}\n[{mark} ends]"


def shortened(text: str, limit_tokens: int, *, mark: str = "", unread: int = 0) -> Shortened:
    """The head and the tail of a text that is too long, and between them a line that says so.

    `unread` is what is missing from its middle already.
    """
    if words.estimate(text) <= limit_tokens:
        return Shortened(text, unread)
    room = max(limit_tokens - CUT_TOKENS, 0)
    begin = words.head(text, int(room * HEAD_SHARE))
    end = words.tail(text, room - int(room * HEAD_SHARE))
    left_out = len(text) - len(begin) - len(end) + unread
    note = f"[{mark + ': ' if mark else ''}{left_out:,} characters left out here]"
    return Shortened(f"{begin}\n{note}\n{end}", left_out)
