"""One short example for a rule, from the record's own words: the call that failed and the one that worked."""

import re
from collections.abc import Iterable

from whet.lessons.contrasts import differing
from whet.lessons.drafts import LessonDraft
from whet.lessons.pieces import LessonPiece

MOST_LETTERS = 80  # of each of the two calls
_PASSING = re.compile(r"[\n$<]|/tmp/|[0-9a-f]{12,}|…")


def example_for(draft: LessonDraft, pieces: Iterable[LessonPiece]) -> str:
    """The shortest example that shows what a draft recommends; none where no call of its evidence is short enough."""
    found = (_example(draft, piece) for piece in pieces if (piece.fix or piece.did) and piece.error)
    return min(filter(None, found), key=lambda text: (len(text), text), default="")


def _example(draft: LessonDraft, piece: LessonPiece) -> str:
    fails, works = differing(piece.call, piece.fix or piece.did)
    is_short = max(len(fails), len(works)) <= MOST_LETTERS and not _PASSING.search(f"{fails} {works}")
    shows = bool(works) and works.split()[:1] == draft.fix.split()[:1]
    return f"`{fails}` fails, `{works}` works." if is_short and shows and fails != works else ""
