"""Characters that people cannot see; those that an emoji or a script needs are not among them."""

import unicodedata

from whet.text.words import on_demand

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u24c2\u25aa\u25ab\u25b6"
    "\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_PICTURE = f"[{_EMOJI}](?:[\ufe0e\ufe0f]|[\U0001f3fb-\U0001f3ff])?"
_FLAGS = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("gbeng", "gbsct", "gbwls"))
_ARABIC = (
    "\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06de-\u06ef\u06fa-\u070d\u0710-\u077f\u07c0-\u07ff\u0860-\u086a"
    "\u0870-\u088e\u0898-\u08e1\u08e3-\u08ff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
)
_INDIC = "\u0900-\u0dff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"  # Thai, Lao, Burmese, Khmer
_MONGOLIAN = "\u1800-\u180a\u1810-\u18aa"
# What carries an invisible character by right: an emoji, and a letter of a script that is not written without it.
NEEDED = (
    f"\U0001f3f4(?:{_FLAGS})\U000e007f|{_PICTURE}(?:\u200d{_PICTURE})*|[0-9#*]\ufe0f?\u20e3"
    f"|[{_ARABIC}{_INDIC}{_UNSPACED}][\u200c\u200d]|[{_UNSPACED}]\u200b(?=[{_UNSPACED}])"
    f"|[{_MONGOLIAN}](?:[\u180b-\u180d\u180f]|\u180e(?=[{_MONGOLIAN}]))"
)
# Invisible, though Unicode counts them among letters, marks and signs: fillers, blanks, selectors.
_BLANK = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\U00016fe4\U0001d159"
    "\U000e0100-\U000e01ef"
)
_FORMAT = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# Every character that is invisible or turns text round. Controls and line breaks are not among them.
INVISIBLE = f"{_BLANK}{_FORMAT}"
# What a terminal would obey and not show, but for a line's end and a tab.
_OBEYED = on_demand("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_SEEN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_IS_INVISIBLE = on_demand(f"[{INVISIBLE}]")
_PIECE = on_demand(f"(?P<needed>{NEEDED})|[^\n\t -~]")


def first_hidden(text: str) -> str:
    """The first character that people cannot see, as `U+200B ZERO WIDTH SPACE`; nothing where there is none."""
    # A line may end as on Windows; a lone carriage return hides what stands before it.
    for found in _PIECE().finditer(text.replace("\r\n", "\n")):
        if not found["needed"] and is_hidden(found.group()):
            return described(found.group())
    return ""


def is_hidden(character: str) -> bool:
    """Whether a character, standing for itself, cannot be seen. Spaces, line ends and tabs are seen by their effect."""
    if character in "\n\t" or character in _SEEN:
        return False
    return _IS_INVISIBLE().match(character) is not None or unicodedata.category(character) in _UNSEEN


def described(character: str) -> str:
    """A character for people: its code point and its name."""
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def safe(text: str) -> str:
    """Text that a terminal shows and does not obey: no control, nothing that turns its direction."""
    return _OBEYED().sub("\ufffd", text.replace("\r\n", "\n"))
