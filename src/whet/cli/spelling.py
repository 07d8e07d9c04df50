"""What stands for a character that the terminal's encoding lacks."""

import codecs
import io
import sys
import unicodedata

HANDLER = "whet-spelling"
# One column each, so that tables stay in line.
SPELLED = dict(zip("…–—·•│↪↳×✓✗⊘“”„‘’→←≥≤", '~---*|>>x+x/"""\'\'><><', strict=True))


def spell_out() -> None:
    """Have output say in ASCII what an old terminal cannot show, instead of failing."""
    codecs.register_error(HANDLER, _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors=HANDLER)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_letter, error.object[error.start : error.end])), error.end


def _letter(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return SPELLED.get(character) or plain or "?"
